import { z } from 'zod';
import { uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/**
 * What only a desktop host can do. These are not in the index of the contract: the headless host does not have them, and a
 * window asks for the capability (`native-dialogs`, `open-folder`) before it offers them.
 */
const tag = 'Window: desktop';

export const chooseModelFile = defineEndpoint({
  id: 'chooseModelFile',
  method: 'post',
  path: '/window/desktop/model-file',
  access: 'window',
  tag,
  summary: "The system's dialog for a GGUF file; null when the person chose none",
  response: z.object({ path: z.string().nullable() }),
});

export const choosePromptFolder = defineEndpoint({
  id: 'choosePromptFolder',
  method: 'post',
  path: '/window/desktop/prompt-folder',
  access: 'window',
  tag,
  summary: "The system's dialog for a folder of prompt files; null when the person chose none",
  response: z.object({ path: z.string().nullable() }),
});

export const takeOpenedFiles = defineEndpoint({
  id: 'takeOpenedFiles',
  method: 'post',
  path: '/window/desktop/opened-files',
  access: 'window',
  tag,
  summary: 'The prompt files that a person opened with Touchstone since the last call, for the preview of an import',
  response: z.object({
    files: z.array(z.object({ name: z.string(), base64: z.string() })),
    /** Why the others could not be read, a sentence for each. */
    problems: z.array(z.string()),
  }),
});

export const openApplicationMenu = defineEndpoint({
  id: 'openApplicationMenu',
  method: 'post',
  path: '/window/desktop/menu',
  access: 'window',
  tag,
  summary: 'Open the application menu at a position in the window',
  body: z.strictObject({ x: z.int().min(0).max(100_000), y: z.int().min(0).max(100_000) }),
  status: 204,
  kinds: ['empty'],
});

export const openDataFolder = defineEndpoint({
  id: 'openDataFolder',
  method: 'post',
  path: '/window/desktop/data-folder',
  access: 'window',
  tag,
  summary: "Show the data folder in the system's file manager",
  status: 204,
  kinds: ['empty'],
});

export const openExportFolder = defineEndpoint({
  id: 'openExportFolder',
  method: 'post',
  path: '/window/desktop/exports/{id}',
  access: 'window',
  tag,
  summary: "Show a completed evidence pack in the system's file manager",
  parameters: z.object({ id: uuid }),
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
