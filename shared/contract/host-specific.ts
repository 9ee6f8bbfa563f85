import { z } from 'zod';
import { uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/** Only the host of a browser window has this endpoint, so it isn't in the contract's index. */
export const createExportDownload = defineEndpoint({
  id: 'createExportDownload',
  method: 'post',
  path: '/window/browser/exports/{id}',
  access: 'window',
  tag: 'Window: browser',
  summary: 'An address that downloads an evidence pack once, within a minute',
  parameters: z.object({ id: uuid }),
  response: z.object({ address: z.string() }),
});

/**
 * Endpoints that only a desktop host has. They aren't in the contract's index: the headless host doesn't have them, and a window
 * checks the capability (`native-dialogs`, `open-folder`) before it uses them.
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
    /** Why the others couldn't be read, a sentence for each. */
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

/** Only a desktop host has these: the window checks the capability `updates` before it calls them. */

const updateState = z.object({
  /** The only host that is contacted for updates; null if the build has no update server. */
  host: z.string().nullable(),
  /** `off` until the user enables the check. `ready` means downloaded and verified, not installed. */
  status: z.enum(['off', 'checking', 'current', 'available', 'downloading', 'ready', 'failed']),
  /** The newer version, if one was found. */
  version: z.string().nullable(),
  /** Downloaded share of it, 0 to 100. */
  percent: z.int(),
  /** Why the last check or download failed. */
  failure: z.string().nullable(),
  /** The time of the server's last response; null if there was none since the start. */
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
  summary: "Start to download the version that was found. This doesn't install it",
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
