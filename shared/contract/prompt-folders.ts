import { z } from 'zod';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { promptInput } from './prompts.ts';

const tag = 'Window: prompts';
const notEmpty = 'must not be empty';

/** Max `.prompt` files of a linked folder. */
export const maxLinkedFiles = 2000;
/** Max bytes of one file. */
export const maxLinkedFileBytes = 1_048_576;

/**
 * Why a file and its prompt are out of sync. `conflict`: both were changed. `broken`: the file can't be read as a prompt.
 * `partial`: the file is a partial, which prompts here can't include. `file-missing`: the file is missing, for example after
 * switching branches. `prompt-deleted`: the prompt was deleted, but its file exists. `not-written`: the prompt was changed, and its
 * file can't express the change.
 */
export const folderIssueKinds = [
  'conflict',
  'broken',
  'partial',
  'file-missing',
  'prompt-deleted',
  'not-written',
] as const;

export const folderIssue = z.object({
  /** Below the folder, separated by `/`. */
  path: z.string(),
  kind: z.enum(folderIssueKinds),
  message: z.string(),
  /** Counts from 1, in the file. */
  line: z.int().nullable(),
  /** Null if the file never became a prompt. */
  promptId: uuid.nullable(),
  promptName: z.string().nullable(),
});
export type FolderIssue = z.infer<typeof folderIssue>;

export const promptFolder = z.object({
  id: uuid,
  /** On the disk of the host. */
  path: z.string(),
  /** The folder of the library with its prompts. */
  folder: z.string(),
  linkedAt: timestamp,
  /** The last scan; null before the first one. */
  lookedAt: timestamp.nullable(),
  state: z.enum(['reading', 'watching', 'unavailable']),
  /** Why it is unavailable: it is not read or written until it is available again. */
  failure: z.string().nullable(),
  /** The number of files that are prompts of the library. */
  files: z.int(),
  issues: z.array(folderIssue),
});
export type PromptFolder = z.infer<typeof promptFolder>;

const byId = z.object({ id: uuid });

export const listPromptFolders = defineEndpoint({
  id: 'listPromptFolders',
  method: 'get',
  path: '/window/prompt-folders',
  access: 'window',
  tag,
  summary: 'Folders of `.prompt` files that are linked with the library',
  response: z.object({ data: z.array(promptFolder) }),
});

export const followPromptFolders = defineEndpoint({
  id: 'followPromptFolders',
  method: 'get',
  path: '/window/prompt-folders/events',
  access: 'window',
  tag,
  summary: 'The folders now, and again whenever one of them or its prompts change',
  kinds: ['event-stream'],
  part: z.object({ data: z.array(promptFolder) }),
});

export const linkPromptFolder = defineEndpoint({
  id: 'linkPromptFolder',
  method: 'post',
  path: '/window/prompt-folders',
  access: 'window',
  tag,
  summary: 'Link a folder: its files become prompts, and versions that are saved are written into them',
  body: z.strictObject({
    path: z.string().min(1, notEmpty).max(4000).describe('A folder of the host, written from the root'),
    folder: z.string().min(1, notEmpty).max(500).nullish().describe("The library's folder; its own name unless given"),
  }),
  status: 201,
  response: promptFolder,
  errors: [409],
});

export const unlinkPromptFolder = defineEndpoint({
  id: 'unlinkPromptFolder',
  method: 'delete',
  path: '/window/prompt-folders/{id}',
  access: 'window',
  tag,
  summary: 'Leave a folder alone from now on; its files and the prompts stay',
  parameters: byId,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const readPromptFolder = defineEndpoint({
  id: 'readPromptFolder',
  method: 'post',
  path: '/window/prompt-folders/{id}/read',
  access: 'window',
  tag,
  summary: 'Look at the folder now, as for disks that do not tell of changes',
  parameters: byId,
  response: promptFolder,
  errors: [404],
});

/** Both sides of a file that is out of sync. */
export const folderFile = z.object({
  issue: folderIssue,
  /** The prompt of the library; null if it was deleted or never existed. */
  mine: promptInput.nullable(),
  /** The version of `mine`; null if `mine` is. */
  versionId: uuid.nullable(),
  /** Null if it is missing. */
  file: z
    .object({
      text: z.string(),
      /** SHA-256 of its bytes. */
      hash: z.string(),
      /** Null if it can't be read as a prompt. */
      prompt: promptInput.nullable(),
    })
    .nullable(),
});
export type FolderFile = z.infer<typeof folderFile>;

export const readFolderFile = defineEndpoint({
  id: 'readFolderFile',
  method: 'post',
  path: '/window/prompt-folders/{id}/file',
  access: 'window',
  tag,
  summary: 'Both sides of a file that is not in step with its prompt',
  parameters: byId,
  body: z.strictObject({ path: z.string().min(1, notEmpty).max(2000) }),
  response: folderFile,
  errors: [404],
});

export const resolveFolderFile = defineEndpoint({
  id: 'settleFolderFile',
  method: 'post',
  path: '/window/prompt-folders/{id}/settle',
  access: 'window',
  tag,
  summary: 'Say which side is right; refused when one of them changed since it was shown',
  parameters: byId,
  body: z
    .strictObject({
      path: z.string().min(1, notEmpty).max(2000),
      /**
       * `mine`: the library's prompt is written to the file, or the file of a deleted prompt is removed. `file`: the file becomes a
       * version, or the prompt of a missing file (issue `file-missing`) is deleted. `merged`: `prompt` becomes a version and is written to the file.
       */
      choice: z.enum(['mine', 'file', 'merged']),
      prompt: promptInput.nullish(),
      /** As shown; null if there was none. */
      versionId: uuid.nullable(),
      hash: z.string().nullable(),
    })
    .refine(({ choice, prompt }) => (choice === 'merged') === Boolean(prompt), {
      path: ['prompt'],
      message: 'belongs to the choice `merged`, and only to it',
    }),
  response: promptFolder,
  errors: [404, 409],
});
