import { Readable } from 'node:stream';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import {
  type FileForm,
  fileForms,
  maxFileBytes,
  maxRequestFileBytes,
  pagePixels,
  pageResolutions,
  type StoredFile,
} from '../../shared/contract/files.ts';
import type { Message, MessagePart } from '../../shared/contract/messages.ts';
import { choosePages } from '../../shared/page-range.ts';
import type { Files, NewFile } from '../files/create-files.ts';
import { isTextType } from '../../shared/contract/files.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { RunContext, RunOrigin } from './completions.ts';
import { type FileReplacement, fileReplacement, type PromptFile, type PromptFiles } from './prompt-file.ts';

/** The stored original of a source; null for an unknown source. */
export type OpenSource = (sourceId: string) => (NewFile & { readonly bytes: number }) | null;

export interface PromptFilesOptions {
  readonly files: Pick<Files, 'incoming' | 'find' | 'read' | 'textOf' | 'pagesOf'>;
  readonly openSource: OpenSource;
  /** Stores the files of requests that the window makes. */
  readonly windowCallerId: string;
}

type FileOrigin = Pick<RunOrigin, 'callerId' | 'key'>;
type Cancellable = Pick<RunContext, 'signal'>;

/** Files in replacements and in lists that are replacements, under the field that an error names. */
function* fileReplacements(replacements: Readonly<Record<string, unknown>>) {
  for (const [name, value] of Object.entries(replacements)) {
    const file = fileReplacement(value);
    if (file) yield { field: `replacements.${name}`, file };
    if (!Array.isArray(value)) continue;
    for (const [index, item] of value.entries()) {
      const listed = fileReplacement(item);
      if (listed) yield { field: `replacements.${name}[${index}]`, file: listed };
    }
  }
}

function tooManyBytes(): AppError {
  return new AppError('payload_too_large', 'The files of this request are larger than 50 MB in all. Send fewer.');
}

function fileOfData(field: string, { mediaType, data }: { mediaType: string; data: string }): NewFile {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    throw invalidField(`${field}.data`, 'is not base64', `${field}.data is not valid base64.`);
  return { content: Readable.from([Buffer.from(data, 'base64')]), fileName: '', mediaType };
}

function fileOfSource(field: string, sourceId: string, openSource: OpenSource): NewFile {
  const source = openSource(sourceId);
  if (!source) throw invalidField(`${field}.sourceId`, 'is not a source', 'No source has this ID.');
  if (source.bytes > maxFileBytes)
    throw new AppError('payload_too_large', `The source "${source.fileName}" is larger than 20 MB.`);
  return source;
}

/** What a replacement is sent as. Throws `invalid_request` for an unknown form, and for options of pages beside another form. */
function formOf(field: string, file: FileReplacement): FileForm {
  const { as = 'file' } = file;
  const form = fileForms.find((one) => one === as);
  if (!form) throw invalidField(`${field}.as`, `must be ${fileForms.join(', ').replace(/, (\w+)$/, ' or $1')}`);
  const option = (['pages', 'resolution'] as const).find((name) => form !== 'pages' && file[name] !== undefined);
  if (option) throw invalidField(`${field}.${option}`, 'needs "as": "pages"');
  return form;
}

/** Which pages of a PDF are sent, and how sharp. Throws `invalid_request`. */
function pageOptionsOf(field: string, { pages = '', resolution = 'medium' }: FileReplacement, pdf: StoredFile) {
  const known = pageResolutions.find((one) => one === resolution);
  if (!known) throw invalidField(`${field}.resolution`, 'must be low, medium or high');
  const chosen = choosePages(pages, pdf.pages ?? 1);
  if ('pages' in chosen) return { pages: chosen.pages, pixels: pagePixels[known] };
  throw invalidField(`${field}.pages`, chosen.issue, `${field}.pages ${chosen.issue}.`);
}

/** Moves the error of a file in a replacement to the field of the request. */
function underField(error: unknown, field: string): unknown {
  const isFileError = error instanceof AppError && ['invalid_request', 'unsupported_media_type'].includes(error.code);
  if (!isFileError || error.details[0]?.field.startsWith(field)) return error;
  return invalidField(field, error.details[0]?.issue ?? 'is not a usable file', error.message);
}

function fileReaderOf({ callerId, key }: FileOrigin): FileReader {
  return { callerId, canReadAll: key === null || key.scopes.includes('audit') };
}

/** The name `media` with arguments, in every spelling. */
const mediaName = /(?:media|\[media\]|"media"|'media')\s/g;
/** What Handlebars allows between the two braces that open a tag and its name. */
const tagOpening = /[{~&\s]/;

/** Whether a text has a `{{media}}` tag with arguments. Linear: a regular expression from the braces on would be quadratic. */
function hasMediaTag(text: string): boolean {
  for (const { index } of text.matchAll(mediaName)) {
    let start = index;
    while (start > 0 && tagOpening.test(text[start - 1]!)) start--;
    if (text.slice(start, index).includes('{{')) return true;
  }
  return false;
}

/** Stores the files of requests and loads their contents. */
export class PromptFileLoader {
  readonly #options: PromptFilesOptions;
  readonly #window: FileOrigin;

  constructor(options: PromptFilesOptions) {
    this.#options = options;
    this.#window = { callerId: options.windowCallerId, key: null };
  }

  /**
   * The request with file ids in place of files, and their contents. Null for a request without files, which most are. Throws
   * `invalid_request` with the field of a file that isn't readable or acceptable, and `payload_too_large`.
   */
  load(
    request: CompletionRequest,
    origin: FileOrigin | null,
    { signal }: Cancellable,
  ): Promise<{ request: CompletionRequest; files: PromptFiles }> | null {
    const replacements = request.replacements ?? {};
    // Only a template with a media tag can put a file into a message.
    if (!hasMediaTag(request.promptText)) return null;
    const found = [...fileReplacements(replacements)];
    return found.length === 0 ? null : this.#loadAll(request, found, origin ?? this.#window, signal);
  }

  /** The contents of the stored files that messages refer to, with known ones. Throws `conflict` for a file that was deleted. */
  async loadStored(messages: readonly Message[], known: PromptFiles = new Map()): Promise<PromptFiles> {
    const contents = new Map<string, PromptFile>(known);
    for (const part of messages.flatMap(({ content }) => content)) {
      if (part.type !== 'file' || contents.has(part.fileId)) continue;
      const file = this.#options.files.find(part.fileId, { callerId: this.#options.windowCallerId, canReadAll: true });
      if (!file) throw new AppError('conflict', `The file "${part.name}" of this run was deleted.`);
      contents.set(file.id, { ...file, data: await this.#options.files.read(file) });
    }
    return contents;
  }

  async #loadAll(
    request: CompletionRequest,
    found: readonly { field: string; file: FileReplacement }[],
    origin: FileOrigin,
    signal: AbortSignal,
  ): Promise<{ request: CompletionRequest; files: PromptFiles }> {
    const stored = new Map<FileReplacement, Sent>();
    const files = new Map<string, StoredFile>();
    for (const { field, file } of found) {
      const form = formOf(field, file);
      const sent = await this.#storeAs(form, { field, file }, origin, signal);
      stored.set(file, { files: sent, isList: form === 'pages' });
      for (const one of sent) files.set(one.id, one);
    }
    const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes, 0);
    if (bytes > maxRequestFileBytes) throw tooManyBytes();
    const contents = new Map<string, PromptFile>();
    for (const file of files.values()) {
      contents.set(file.id, { ...file, data: await this.#options.files.read(file) });
    }
    return { request: { ...request, replacements: withFileIds(request.replacements ?? {}, stored) }, files: contents };
  }

  /** What is sent for a replacement: the file, or the text or the pages of a PDF as files. */
  async #storeAs(
    form: FileForm,
    { field, file }: { readonly field: string; readonly file: FileReplacement },
    origin: FileOrigin,
    signal: AbortSignal,
  ): Promise<StoredFile[]> {
    const stored = await this.#store(field, file, origin, signal);
    if (form === 'file' || (form === 'text' && isTextType(stored.mediaType))) return [stored];
    if (stored.mediaType !== 'application/pdf') {
      const reason = form === 'text' ? 'contains no text' : 'has no pages';
      const message = `${field}.as is ${form}, but ${stored.mediaType} ${reason}. Only a PDF can be sent as ${form}.`;
      throw invalidField(`${field}.as`, 'must be file', message);
    }
    const options = { signal, callerId: origin.callerId };
    try {
      if (form === 'text') return [await this.#options.files.textOf(stored, options)];
      return await this.#options.files.pagesOf(stored, { ...options, ...pageOptionsOf(field, file, stored) });
    } catch (error) {
      throw underField(error, field);
    }
  }

  async #store(field: string, file: FileReplacement, origin: FileOrigin, signal: AbortSignal): Promise<StoredFile> {
    if ('fileId' in file) {
      const found = this.#options.files.find(file.fileId, fileReaderOf(origin));
      if (found) return found;
      throw invalidField(`${field}.fileId`, 'is not a file', 'No file has this ID. Send it with POST /files first.');
    }
    const received =
      'data' in file ? fileOfData(field, file) : fileOfSource(field, file.sourceId, this.#options.openSource);
    await using incoming = await this.#options.files.incoming();
    try {
      await incoming.receive(received);
      return (await incoming.store({ signal, callerId: origin.callerId, keepLocation: false })).file;
    } catch (error) {
      throw underField(error, field);
    }
  }
}

/** Calls `start` with the request and its files. A promise only for a request with files. A null origin is the window. */
export function withFiles<Result>(
  request: CompletionRequest,
  origin: FileOrigin | null,
  context: RunContext,
  loader: PromptFileLoader,
  start: (request: CompletionRequest, context: RunContext) => Result | Promise<Result>,
): Result | Promise<Result> {
  const loading = loader.load(request, origin, context);
  const continued = context.continuation?.messages ?? [];
  const isMissing = (part: MessagePart) => part.type === 'file' && !context.files?.has(part.fileId);
  if (loading === null && continued.some(({ content }) => content.some(isMissing)))
    return loader.loadStored(continued, context.files).then((files) => start(request, { ...context, files }));
  if (loading === null) return start(request, context);
  return loading.then((loaded) => start(loaded.request, { ...context, files: loaded.files }));
}

/** The stored files that a replacement is sent as. */
interface Sent {
  readonly files: readonly StoredFile[];
  /** Whether the replacement becomes a list, as the pages of a PDF do. */
  readonly isList: boolean;
}

function withFileIds(
  replacements: Readonly<Record<string, unknown>>,
  stored: ReadonlyMap<unknown, Sent>,
): Record<string, unknown> {
  const idsOf = ({ files }: Sent) => files.map(({ id }) => ({ fileId: id }));
  const replaced = (value: unknown) => {
    const sent = stored.get(value);
    if (!sent) return value;
    return sent.isList ? idsOf(sent) : idsOf(sent)[0];
  };
  // The pages of a listed PDF are further items of the list.
  const replacedItems = (items: readonly unknown[]) =>
    items.flatMap((item) => {
      const sent = stored.get(item);
      return sent ? idsOf(sent) : [item];
    });
  return Object.fromEntries(
    Object.entries(replacements).map(([name, value]) => [
      name,
      Array.isArray(value) ? replacedItems(value) : replaced(value),
    ]),
  );
}
