import { AppError } from '../../../shared/app-error.ts';
import type { PromptInput } from '../../../shared/contract/prompts.ts';
import {
  mostImportedBytes,
  mostTransferredPrompts,
  type ImportFormat,
  type ImportSource,
  type PreviewedSource,
  type VariableStyle,
} from '../../../shared/contract/prompt-transfer.ts';
import { finishDraft, type FinishOptions } from './finish-draft.ts';
import { readSource } from './read-source.ts';

export interface ImportRequest {
  readonly sources: readonly ImportSource[];
  readonly format?: ImportFormat | null | undefined;
  readonly variableStyle?: VariableStyle | null | undefined;
  readonly folder?: string | null | undefined;
}

/** Most findings that are told of one prompt or file; an answer should not be much larger than its question. */
const mostEntries = 50;

function contentOf(source: ImportSource): string | Uint8Array {
  return source.text?.replace(/^\uFEFF/, '') ?? Buffer.from(source.base64 ?? '', 'base64');
}

/** The folders that a file stands in, below the one that the person chose. */
function folderOf(name: string, folder: string | null): string | null {
  const parts = name
    .split(/[\\/]/)
    .slice(0, -1)
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  const path = [...(folder === null ? [] : [folder]), ...parts].join('/');
  return path === '' ? null : path;
}

function within(folder: string | null, own: string | null): string | null {
  return own === null || folder === null ? own : `${folder}/${own}`;
}

/** Throws `payload_too_large` for more than an import may bring. */
function contentsOf(sources: readonly ImportSource[]): (string | Uint8Array)[] {
  const contents = sources.map(contentOf);
  const bytes = contents.reduce((sum, content) => sum + Buffer.byteLength(content), 0);
  if (bytes <= mostImportedBytes) return contents;
  throw new AppError(
    'payload_too_large',
    `The files are larger than ${mostImportedBytes.toLocaleString('en')} bytes together. Import fewer at once.`,
  );
}

/** What an import would bring. Throws `payload_too_large` for too many bytes or prompts; files that cannot be read are reported. */
export function previewImport(request: ImportRequest, systemOf: FinishOptions['systemOf']): PreviewedSource[] {
  const base = request.folder ?? null;
  let index = 0;
  return contentsOf(request.sources).map((content, place) => {
    const { name } = request.sources[place]!;
    const read = readSource({ name, content }, request.format ?? null);
    const prompts: PreviewedSource['prompts'] = [];
    for (const draft of read.drafts) {
      draft.folder = within(base, draft.folder);
      const options = { systemOf, folder: folderOf(name, base), style: request.variableStyle ?? null };
      const prompt = finishDraft(draft, options);
      if (prompt === null) read.entries.push(...draft.entries.filter(({ field }) => field === 'prompt'));
      else prompts.push({ index: index++, prompt, entries: draft.entries.slice(0, mostEntries) });
      if (index > mostTransferredPrompts) throw tooMany();
    }
    return { name, format: read.format, prompts, entries: read.entries.slice(0, mostEntries) };
  });
}

const tooMany = () =>
  new AppError(
    'payload_too_large',
    `The files hold more than ${mostTransferredPrompts} prompts. Import fewer at once.`,
  );

/** The prompts of a preview that were chosen. Throws `invalid_request` for one that is not there. */
export function chosenPrompts(sources: readonly PreviewedSource[], chosen: readonly number[] | null): PromptInput[] {
  const prompts = sources.flatMap((source) => source.prompts.map(({ prompt }) => prompt));
  const indexes = chosen === null ? prompts.keys() : new Set(chosen);
  const kept = [...indexes].map((index) => {
    const prompt = prompts[index];
    if (prompt !== undefined) return prompt;
    throw new AppError('invalid_request', 'The files do not hold this prompt.', {
      details: [{ field: 'chosen', issue: `has ${index}, which no prompt of the files is` }],
    });
  });
  if (kept.length > 0) return kept;
  throw new AppError('invalid_request', 'There is no prompt to import: every file is refused.', {
    details: [{ field: 'sources', issue: 'hold no prompt that can be imported' }],
  });
}
