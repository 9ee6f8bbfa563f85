import { isUtf8 } from 'node:buffer';
import { isTextType } from '../../shared/contract/files.ts';
import { type Fields, isObject, listOf, objectOf, textOf } from './fields.ts';
import type { CallApi } from './read-request.ts';

/** A file that can't be checked. */
export interface UncheckedFile {
  readonly name: string;
  /** Its media type, or where it is. */
  readonly mediaType: string;
}

/** All texts of one turn of a request. */
export interface SentTurn {
  readonly text: string;
  readonly isSystem: boolean;
  readonly isAnswer: boolean;
}

/** Words of the APIs themselves. Anything else in their place may be read by a model. */
const plainWords = new Set(
  (
    'user assistant system developer tool function model role parts content type text input_text output_text message ' +
    'image image_url input_image input_audio audio file input_file document source base64 url detail auto low high media_type ' +
    'mime_type mimeType data format file_data file_url file_id filename title context tool_calls tool_call_id id call_id name ' +
    'arguments custom input refusal function_call function_call_output custom_tool_call custom_tool_call_output output status ' +
    'in_progress completed incomplete summary summary_text reasoning reasoning_text encrypted_content annotations citations ' +
    'cache_control ephemeral ttl tool_use tool_result server_tool_use tool_use_id is_error thinking redacted_thinking signature ' +
    'thought thoughtSignature thought_signature functionCall functionResponse args response inlineData inline_data displayName ' +
    'fileData fileUri file_uri logprobs phase'
  ).split(' '),
);

const idKeys = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id']);
/** Ids as providers write them. Others may have words. */
const plainId = /^(?:[a-z]{1,16}[_-])?[\dA-Za-z]{1,128}$|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What the provider signed or encrypted, and only it can read. */
const sealedKeys = new Set(['signature', 'encrypted_content', 'thoughtSignature', 'thought_signature']);
const sealed = /^[\w+/=-]*$/;

const mediaTypeKeys = new Set(['media_type', 'mimeType', 'mime_type']);
const plainMediaType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

/** Values of tools: their fields are theirs, and never files. */
const payloadKeys = new Set(['arguments', 'args', 'response', 'annotations', 'citations']);
/** Fields with a file, or with its address. */
const fileKeys = new Set([
  'image_url',
  'file_url',
  'video_url',
  'audio_url',
  'file_data',
  'file_id',
  'fileUri',
  'file_uri',
]);
const addressParents = new Set(['image_url', 'video_url', 'audio_url', 'file_url', 'source']);

/** Characters of a file's address in an error. */
const maxNameCharacters = 200;

/** Whether it is a `data:` URL in base64, and not a text that begins so. */
function isDataUrl(text: string): boolean {
  const head = text.slice(0, 1000).trimStart().toLowerCase();
  return (
    head.startsWith('data:') &&
    head
      .slice(0, head.indexOf(',') + 1)
      .replaceAll(' ', '')
      .endsWith(';base64,')
  );
}

const baseType = (mediaType: string) => mediaType.split(';', 1)[0]!.trim().toLowerCase();
export const charsetOf = (mediaType: string) =>
  /;\s*charset=["']?([^"';]*)/i.exec(mediaType)?.[1]?.trim().toLowerCase();

/** Whether text in this character set is read as UTF-8 is. */
export const isPlainCharset = (charset: string | undefined) =>
  charset === undefined || ['utf-8', 'utf8', 'us-ascii', 'ascii', ''].includes(charset);

/** The bytes of base64; null for text that decoders read differently. */
function bytesOf(base64: string): Buffer | null {
  const plain = base64.replaceAll(/[\n\r]/g, '');
  const bytes = Buffer.from(plain, 'base64');
  const form = plain.replaceAll('-', '+').replaceAll('_', '/');
  return bytes.toString('base64').replace(/={0,2}$/, '') === form.replace(/={0,2}$/, '') ? bytes : null;
}

/** Collects everything that a model may read of a request, whole, and whatever of it can't be checked. */
class SentTexts {
  readonly fileTexts: string[] = [];
  unchecked: UncheckedFile | null = null;
  reason: string | undefined;
  #texts: string[] = [];
  /** Whether the next text part continues the last text, as it does for a model. */
  #isOpen = false;
  /** Of the part that is read. */
  #fileName = '';

  /** The texts since the last call. */
  take(): string {
    const text = this.#texts.join('\n');
    this.#texts = [];
    this.#isOpen = false;
    this.#fileName = '';
    return text;
  }

  visit(value: unknown, key: string, parent = ''): void {
    if (typeof value === 'string') this.#visitText(value, key, parent);
    else if (Array.isArray(value)) for (const item of value) this.visit(item, key, parent);
    else if (isObject(value)) this.#visitObject(value, key);
  }

  #visitObject(value: Fields, key: string): void {
    const name = textOf(value['filename']) || textOf(value['title']) || textOf(value['displayName']);
    if (name !== '' || (value['type'] !== undefined && key !== 'source')) this.#fileName = name;
    const mediaType = textOf(value['media_type'] ?? value['mimeType'] ?? value['mime_type'] ?? value['format']);
    const isFile = typeof value['data'] === 'string' && mediaType !== '' && value['type'] !== 'text';
    if (isFile) this.#addBase64(textOf(value['data']), mediaType);
    const isSealed = value['type'] === 'redacted_thinking' && sealed.test(textOf(value['data']));
    const isCall = value['type'] === 'tool_use' || value['type'] === 'server_tool_use';
    for (const [field, child] of Object.entries(value)) {
      if ((isFile || isSealed) && field === 'data') continue;
      this.#add(field);
      if (payloadKeys.has(field) || (isCall && field === 'input')) this.#visitPayload(child);
      else this.visit(child, field, key);
    }
  }

  #visitPayload(value: unknown): void {
    if (typeof value === 'string') this.#add(value);
    else if (Array.isArray(value)) for (const item of value) this.#visitPayload(item);
    else if (isObject(value))
      for (const [name, child] of Object.entries(value)) {
        this.#add(name);
        this.#visitPayload(child);
      }
  }

  #visitText(text: string, key: string, parent: string): void {
    if (plainWords.has(text) || (idKeys.has(key) && plainId.test(text))) return;
    if ((sealedKeys.has(key) && sealed.test(text)) || (mediaTypeKeys.has(key) && plainMediaType.test(text))) return;
    const isFile = fileKeys.has(key) || (key === 'url' && addressParents.has(parent));
    const isProse = key === 'text' || key === 'content';
    if (!isProse && (isFile || isDataUrl(text))) this.#addAddress(text, key);
    else if (key !== 'text') this.#add(text);
    else {
      if (this.#isOpen) this.#texts[this.#texts.length - 1] += text;
      else this.#texts.push(text);
      this.#isOpen = true;
    }
  }

  #add(text: string): void {
    if (plainWords.has(text)) return;
    this.#isOpen = false;
    this.#texts.push(text);
  }

  #addAddress(url: string, key: string): void {
    const [, head, rest] = /^\s*data:([^,]{0,1000}),([^]*)$/i.exec(url) ?? [];
    if (head === undefined || rest === undefined) {
      const where = key === 'file_id' ? 'stored at the provider' : key === 'file_data' ? 'unknown' : 'by its address';
      if (url !== '') this.#addUnchecked(key === 'file_data' ? this.#fileName || 'file' : url, where);
      return;
    }
    if (/;\s*base64\s*$/i.test(head)) return this.#addBase64(rest, head.slice(0, head.lastIndexOf(';')));
    // Some readers decode it, and some don't.
    this.#addFile(Buffer.from(`${rest}\n${unescaped(rest)}`), head);
  }

  #addBase64(base64: string, mediaType: string): void {
    if (base64 === '') return;
    const bytes = bytesOf(base64);
    if (bytes) this.#addFile(bytes, mediaType);
    else this.#addUnchecked(this.#fileName || 'file', `${baseType(mediaType)}, not valid base64`);
  }

  #addFile(bytes: Buffer, mediaType: string): void {
    const type = baseType(mediaType) || 'text/plain';
    const isText = isTextType(type) && isPlainCharset(charsetOf(mediaType)) && isUtf8(bytes) && !bytes.includes(0);
    if (isText) this.fileTexts.push(bytes.toString());
    else this.#addUnchecked(this.#fileName || 'file', type);
  }

  #addUnchecked(name: string, mediaType: string): void {
    this.unchecked ??= { name: name.slice(0, maxNameCharacters), mediaType: mediaType.slice(0, maxNameCharacters) };
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The fields of each API whose texts are turns and system messages. */
const turnFields: Record<CallApi, readonly string[]> = {
  'openai-chat': ['messages'],
  'openai-responses': ['input'],
  'openai-embeddings': ['input'],
  'anthropic-messages': ['messages'],
  'gemini-content': ['contents'],
};
const systemFields: Partial<Record<CallApi, readonly string[]>> = {
  'openai-responses': ['instructions'],
  'anthropic-messages': ['system'],
  'gemini-content': ['systemInstruction', 'system_instruction'],
};

/** Whether a turn is of the model, by its role, or for an item of responses by its type. */
function isAnswer({ role, type }: Fields): boolean {
  if (role !== undefined) return role === 'assistant' || role === 'model';
  return typeof type === 'string' && type !== 'message' && !type.endsWith('_output');
}

/** Items of a response that the provider has stored may be named by their id alone. */
const isReference = ({ type, id, role, content }: Fields) =>
  type === 'item_reference' || (type == null && role === undefined && content === undefined && textOf(id) !== '');

function turnOf(value: unknown, api: CallApi, texts: SentTexts): SentTurn {
  const turn = objectOf(value);
  if (typeof value === 'number' || (Array.isArray(value) && value.some((item) => typeof item === 'number')))
    texts.reason ??= 'It has tokens instead of text.';
  if (api === 'openai-responses' && isReference(turn))
    texts.reason ??= 'It names text that is stored at the provider (item_reference).';
  texts.visit(value, 'text');
  return {
    text: texts.take(),
    isSystem: turn['role'] === 'system' || turn['role'] === 'developer',
    isAnswer: isAnswer(turn),
  };
}

/** Everything textual of a request. */
export interface SentRequest {
  readonly turns: readonly SentTurn[];
  readonly system: string;
  /** All other fields, as they were sent. */
  readonly configuration: Record<string, unknown>;
  readonly fileTexts: readonly string[];
  /** The first file that can't be checked. */
  readonly unchecked: UncheckedFile | null;
  /** Why another part can't be checked. */
  readonly reason: string | undefined;
}

/** Reads everything that a model may read of a request, in linear time and without any limit. */
export function sentTextsOf(api: CallApi, body: Fields): SentRequest {
  const texts = new SentTexts();
  const named = new Set(['model', 'stream', ...turnFields[api], ...(systemFields[api] ?? [])]);
  const turns = turnFields[api].flatMap((name) => {
    const value = body[name];
    return (Array.isArray(value) ? listOf(value) : value == null ? [] : [value]).map((each) =>
      turnOf(each, api, texts),
    );
  });
  for (const name of systemFields[api] ?? []) texts.visit(body[name], 'text');
  const system = texts.take();
  const configuration = Object.fromEntries(Object.entries(body).filter(([name]) => !named.has(name)));
  const { fileTexts, unchecked, reason } = texts;
  return { turns, system, configuration, fileTexts, unchecked, reason };
}
