import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

/** Only a desktop host has these: the window asks for the capability `updates` before it calls them. */
const tag = 'Window: desktop';

export const updateState = z.object({
  /** The only host that is contacted for updates; null where this copy was built without an update server. */
  host: z.string().nullable(),
  /** `off` until the person turns on the check. `ready` means downloaded and verified, not installed. */
  status: z.enum(['off', 'checking', 'current', 'available', 'downloading', 'ready', 'failed']),
  /** The newer version, once one was found. */
  version: z.string().nullable(),
  /** How much of it is downloaded, 0 to 100. */
  percent: z.int(),
  /** Why the last check or download failed. */
  failure: z.string().nullable(),
  /** When the server last answered; null if it never did since the start. */
  checkedAt: z.string().nullable(),
});
export type UpdateState = z.infer<typeof updateState>;

export const readUpdates = defineEndpoint({
  id: 'readUpdates',
  method: 'get',
  path: '/window/desktop/updates',
  access: 'window',
  tag,
  summary: 'Whether there is a newer version. Contacts nobody',
  response: updateState,
});

export const checkForUpdates = defineEndpoint({
  id: 'checkForUpdates',
  method: 'post',
  path: '/window/desktop/updates/check',
  access: 'window',
  tag,
  summary: 'Ask the update server for the newest version. Fails while the check is turned off',
  response: updateState,
  errors: [409],
});

export const downloadUpdate = defineEndpoint({
  id: 'downloadUpdate',
  method: 'post',
  path: '/window/desktop/updates/download',
  access: 'window',
  tag,
  summary: 'Start to download the version that was found. It is not installed',
  status: 202,
  response: updateState,
  errors: [409],
});

export const installUpdate = defineEndpoint({
  id: 'installUpdate',
  method: 'post',
  path: '/window/desktop/updates/install',
  access: 'window',
  tag,
  summary: 'Quit and install the downloaded version',
  status: 204,
  kinds: ['empty'],
  errors: [409],
});
