import { z } from 'zod';
import { uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { prompt, promptInput } from './prompts.ts';

const tag = 'Window: prompts';

/** Max prompts of one import or export. */
export const maxTransferredPrompts = 1000;
/** Max files of one import. */
export const maxImportedFiles = 1000;
/** Max bytes of all files of one import. */
export const maxImportedBytes = 20_000_000;
/** Max bytes of files in one request: a body of 4 MB less base64. Larger imports are uploaded in parts. */
export const maxRequestBytes = 2_800_000;

/** Formats of a text. `text` is any other file or pasted text: it becomes one prompt. */
export const importFormats = ['dotprompt', 'promptfoo', 'langfuse', 'openai-jsonl', 'csv', 'text'] as const;
export const importFormat = z.enum(importFormats);
export type ImportFormat = z.infer<typeof importFormat>;

/** Variable syntax of texts whose format has none. */
export const variableStyles = ['handlebars', 'single-brace', 'jinja', 'none'] as const;
export const variableStyle = z.enum(variableStyles);
export type VariableStyle = z.infer<typeof variableStyle>;

const importSource = z.strictObject({
  /** File name, with its folders below the selected one: `support/greeting.prompt`. Pasted text has any name. */
  name: z.string().min(1, 'must not be empty').max(1000),
  /** The bytes of a file in base64, so that the host detects the encoding. */
  base64: z.base64().optional(),
  /** Pasted text, instead of bytes. */
  text: z.string().optional(),
  /** In an upload: whether the bytes continue the previous source's file. */
  isContinued: z.boolean().optional(),
});
export type ImportSource = z.infer<typeof importSource>;

const importSources = z.array(importSource).min(1, 'must not be empty').max(maxImportedFiles);

const importFields = {
  sources: importSources.optional(),
  /** Uploaded files, instead of sources. */
  uploadId: uuid.optional(),
  /** For all sources; detected from name and content by default. */
  format: importFormat.nullish(),
  /** For `text`; detected from the content by default. */
  variableStyle: variableStyle.nullish(),
  /** The folder for the prompts; the files' own folders become subfolders. */
  folder: z.string().min(1, 'must not be empty').max(500).nullish(),
};

function requireContent(
  input: { sources?: ImportSource[] | undefined; uploadId?: string | undefined },
  context: z.RefinementCtx,
): void {
  if ((input.sources === undefined) === (input.uploadId === undefined)) {
    context.addIssue({ code: 'custom', path: ['sources'], message: 'must be given, or an uploadId in their place' });
  }
  input.sources?.forEach((source, index) => {
    if ((source.base64 === undefined) === (source.text === undefined)) {
      context.addIssue({ code: 'custom', path: ['sources', index], message: 'must have either base64 or text' });
    }
  });
}

/** One finding: imported unchanged, translated, rejected, or imported with a warning because it may work differently. */
export const transferEntry = z.object({
  outcome: z.enum(['taken', 'translated', 'refused', 'warning']),
  /** Its path in the source format, such as `config.safetySettings` or `template`. */
  field: z.string(),
  message: z.string(),
  /** Counts from 1, in the file; null if unknown. */
  line: z.int().nullable(),
});
export type TransferEntry = z.infer<typeof transferEntry>;

const previewedPrompt = z.object({
  /** Identifies it in `importPrompts`; counts from 0 over all sources. */
  index: z.int(),
  prompt: promptInput,
  entries: z.array(transferEntry),
});

export const previewedSource = z.object({
  name: z.string(),
  /** Null if none was detected. */
  format: importFormat.nullable(),
  prompts: z.array(previewedPrompt),
  /** Issues of the whole file, and its rejected prompts. */
  entries: z.array(transferEntry),
});
export type PreviewedSource = z.infer<typeof previewedSource>;

export const uploadPromptFiles = defineEndpoint({
  id: 'uploadPromptFiles',
  method: 'post',
  path: '/window/prompts/import/uploads',
  access: 'window',
  tag,
  summary: 'Bring files for an import that are too large for one request; they wait in memory for a quarter of an hour',
  body: z
    .strictObject({ uploadId: uuid.nullish().describe('Goes on with this upload'), sources: importSources })
    .superRefine(({ sources }, context) => requireContent({ sources }, context)),
  status: 201,
  response: z.object({ uploadId: uuid, files: z.int(), bytes: z.int() }),
  errors: [404],
});

export const previewPromptImport = defineEndpoint({
  id: 'previewPromptImport',
  method: 'post',
  path: '/window/prompts/import/preview',
  access: 'window',
  tag,
  summary: 'What an import would bring, and what of it is translated or refused and why. Nothing is stored',
  body: z.strictObject(importFields).superRefine(requireContent),
  response: z.object({ sources: z.array(previewedSource) }),
});

export const importPrompts = defineEndpoint({
  id: 'importPrompts',
  method: 'post',
  path: '/window/prompts/import',
  access: 'window',
  tag,
  summary: 'Keep the prompts of the same sources, all of them or none',
  status: 201,
  body: z
    .strictObject({
      ...importFields,
      /** Indexes of the preview; all of its prompts by default. */
      chosen: z.array(z.int().min(0)).min(1, 'must not be empty').max(maxTransferredPrompts).nullish(),
    })
    .superRefine(requireContent),
  response: z.object({ prompts: z.array(prompt) }),
});

export const exportFormats = ['dotprompt', 'promptfoo', 'jsonl', 'markdown'] as const;
export const exportFormat = z.enum(exportFormats);
export type ExportFormat = z.infer<typeof exportFormat>;

const exportedFile = z.object({
  /** Safe for every common file system and unique in its response, ignoring case; folders are separated by `/`. */
  name: z.string(),
  content: z.string(),
});
export type ExportedFile = z.infer<typeof exportedFile>;

export const exportPrompts = defineEndpoint({
  id: 'exportPrompts',
  method: 'post',
  path: '/window/prompts/export',
  access: 'window',
  tag,
  summary: 'Prompts as files for the window to save: one for each prompt, and a single one for JSONL',
  body: z.strictObject({
    prompts: z
      .array(z.strictObject({ id: uuid, versionId: uuid.nullish().describe('The newest version, unless given') }))
      .min(1, 'must not be empty')
      .max(maxTransferredPrompts),
    format: exportFormat,
    /** Whether the files come as one zip archive. */
    isZipped: z.boolean().optional(),
  }),
  response: z.object({
    /** Empty if they are in the archive. */
    files: z.array(exportedFile),
    archive: z.object({ name: z.string(), base64: z.string() }).nullable(),
    /** What the format can't express; a prompt that it can't express at all has no file. */
    entries: z.array(transferEntry.extend({ promptId: uuid, promptName: z.string() })),
  }),
  errors: [404],
});
