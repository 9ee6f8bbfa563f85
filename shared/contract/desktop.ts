import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: desktop';

/**
 * What only a desktop host answers. A host offers each of these with the capability named beside it; the headless host
 * has none of them, and a window there does not show what would need them.
 */

/** Capability `native-dialogs`. Waits for the person; null when they cancelled. */
export const chooseFile = defineEndpoint({
  id: 'chooseFile',
  method: 'post',
  path: '/window/desktop/choose-file',
  access: 'window',
  tag,
  summary: "Ask for one file with the system's own dialog",
  body: z.strictObject({
    title: z.string().min(1).max(200),
    /** File name endings without the dot; none means every file. */
    extensions: z.array(z.string().regex(/^[A-Za-z0-9]{1,16}$/)).max(16),
  }),
  response: z.object({ path: z.string().nullable() }),
});

/** Capability `open-folder`. */
export const openDataFolder = defineEndpoint({
  id: 'openDataFolder',
  method: 'post',
  path: '/window/desktop/open-data-folder',
  access: 'window',
  tag,
  summary: "Show the data folder in the system's file manager",
  status: 204,
  kinds: ['empty'],
});

/** Capability `window-controls`: the window draws its own caption buttons. */
export const controlWindow = defineEndpoint({
  id: 'controlWindow',
  method: 'post',
  path: '/window/desktop/window',
  access: 'window',
  tag,
  summary: 'Minimise, maximise or restore, or close the window',
  body: z.strictObject({ action: z.enum(['minimize', 'toggle-maximize', 'close']) }),
  status: 204,
  kinds: ['empty'],
});
