import { AppError } from '../../../shared/app-error.ts';
import type { PromptInput } from '../../../shared/contract/prompts.ts';
import {
  maxImportedBytes,
  maxTransferredPrompts,
  type ImportFormat,
  type PreviewedSource,
  type VariableStyle,
} from '../../../shared/contract/prompt-transfer.ts';
import { withModel, type SystemOf } from './model-names.ts';
import type { PromptReader } from './create-prompt-reader.ts';
import type { ReadPrompts, ReadTask } from './read-prompts.ts';
import type { ReferencedFile } from './referenced-files.ts';

type Source = Pick<ReadTask, 'name' | 'content'>;

export interface ImportRequest {
  readonly sources: readonly Source[];
  readonly format?: ImportFormat | null | undefined;
  readonly variableStyle?: VariableStyle | null | undefined;
  readonly folder?: string | null | undefined;
}

export interface ImportOptions {
  readonly reader: Pick<PromptReader, 'read' | 'find'>;
  readonly systemOf: SystemOf;
  readonly signal: AbortSignal;
}

/** Max depth of files that name other files. */
const maxReferenceDepth = 4;
/** Max bytes of other files that all sources of an import may read; a file counts each time it is named. */
const maxReferencedBytes = 5 * maxImportedBytes;

const tooMany = () =>
  new AppError(
    'payload_too_large',
    `The files contain more than ${maxTransferredPrompts} prompts. Import fewer at a time.`,
  );

interface Found {
  readonly read: ReadPrompts;
  /** Names of the files that it was read with. */
  readonly used: ReadonlySet<string>;
}

/** Reads sources one by one, each together with the imported files that it names. */
class SourceReader {
  private referencedBytes = 0;
  private readonly request: ImportRequest;
  private readonly options: ImportOptions;
  private readonly contents: ReadonlyMap<string, Source>;

  constructor(request: ImportRequest, options: ImportOptions) {
    this.request = request;
    this.options = options;
    this.contents = new Map(request.sources.map((source) => [source.name, source]));
  }

  async read({ name, content }: Source): Promise<Found> {
    const { reader, signal } = this.options;
    const { format = null, variableStyle = null, folder = null } = this.request;
    let files: readonly ReferencedFile[] = [];
    for (let depth = 0; ; depth += 1) {
      const read = await reader.read({ name, content, format, variableStyle, folder, files }, { signal });
      const found = depth < maxReferenceDepth ? await this.find(name, read.references) : [];
      if (found.length <= files.length) return { read, used: new Set(files.map((file) => file.name)) };
      files = found;
    }
  }

  private async find(source: string, references: readonly string[]): Promise<readonly ReferencedFile[]> {
    if (references.length === 0) return [];
    const names = [...this.contents.keys()].filter((name) => name !== source);
    const found = await this.options.reader.find({ references, names }, { signal: this.options.signal });
    const files = found.map((file) => ({ ...file, content: this.contents.get(file.name)!.content }));
    this.referencedBytes += files.reduce((sum, { content }) => sum + content.length, 0);
    if (this.referencedBytes <= maxReferencedBytes) return files;
    throw new AppError('payload_too_large', 'The files refer to too much data in other files. Import fewer at a time.');
  }
}

/** Files that may name other files come first: the named files aren't prompts then. */
const mayNameFiles = ({ name }: Source) => /\.(?:ya?ml|json)$/i.test(name);

function usedBy(name: string): ReadPrompts {
  const message = `Used by ${name.slice(0, 200)}`;
  return {
    format: null,
    prompts: [],
    entries: [{ outcome: 'taken', field: 'file', message, line: null }],
    references: [],
  };
}

/** The preview of an import. Throws `payload_too_large` for too many prompts; unreadable files are reported. */
export async function previewImport(request: ImportRequest, options: ImportOptions): Promise<PreviewedSource[]> {
  const reader = new SourceReader(request, options);
  const results = new Map<Source, ReadPrompts>();
  const users = new Map<string, string>();
  let count = 0;
  for (const source of request.sources.toSorted(
    (one, other) => Number(mayNameFiles(other)) - Number(mayNameFiles(one)),
  )) {
    if (users.has(source.name)) continue;
    const { read, used } = await reader.read(source);
    for (const name of used) users.set(name, source.name);
    count += read.prompts.length;
    if (count > maxTransferredPrompts) throw tooMany();
    results.set(source, read);
  }
  let index = 0;
  return request.sources.map((source) => {
    const user = users.get(source.name);
    const { format, prompts, entries } = user === undefined ? results.get(source)! : usedBy(user);
    return {
      name: source.name,
      format,
      prompts: prompts.map((prompt) => ({ index: index++, ...withModel(prompt, options.systemOf) })),
      entries: [...entries],
    };
  });
}

/** The selected prompts of a preview. Throws `invalid_request` for a missing one. */
export function chosenPrompts(sources: readonly PreviewedSource[], chosen: readonly number[] | null): PromptInput[] {
  const prompts = sources.flatMap((source) => source.prompts.map(({ prompt }) => prompt));
  const indexes = chosen === null ? prompts.keys() : new Set(chosen);
  const selected = [...indexes].map((index) => {
    const prompt = prompts[index];
    if (prompt !== undefined) return prompt;
    throw new AppError('invalid_request', "The files don't contain this prompt.", {
      details: [{ field: 'chosen', issue: `${index} isn't the index of a prompt in these files` }],
    });
  });
  if (selected.length > 0) return selected;
  throw new AppError('invalid_request', 'No prompts to import. Every file was rejected.', {
    details: [{ field: 'sources', issue: 'contain no prompt that can be imported' }],
  });
}
