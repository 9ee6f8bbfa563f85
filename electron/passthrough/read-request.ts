import type { Message, MessagePart } from '../../shared/contract/messages.ts';
import { type Fields, isObject, jsonOf, listOf, objectOf, textOf } from './fields.ts';
import { readGeminiRequest } from './gemini-request.ts';
import { blockText, isServerCall } from './provider-items.ts';
import { callIn, itemText } from './responses-response.ts';
import { SentFiles, type SentFile } from './sent-files.ts';

/** The APIs whose calls are recorded. */
export type CallApi =
  'openai-chat' | 'openai-responses' | 'openai-embeddings' | 'anthropic-messages' | 'gemini-content';

/** Those that have the model and the parameters in the body itself. */
type BodyApi = Exclude<CallApi, 'gemini-content'>;

/** A program's request as it is recorded. */
export interface RecordedRequest {
  readonly model: string;
  readonly systemMessage: string | null;
  readonly messages: readonly Message[];
  readonly files: readonly SentFile[];
  /** What names the first file whose content isn't in the request, such as its address; null for none. */
  readonly missingFile: string | null;
  /** Everything else, with tools in the format of completions. */
  readonly configuration: Record<string, unknown>;
  /** The response that the request continues; null for none. */
  readonly previousResponseId: string | null;
  /** Whether the system message has instructions that hold for this call only. */
  readonly hasInstructions: boolean;
}

function text(value: string): MessagePart {
  return { type: 'text', text: value };
}

/** What a part of an unknown type is recorded as. */
function unknownPart(part: Fields, files: SentFiles): MessagePart {
  return text(`[${textOf(part['type']) || 'part'}] ${files.startOf(jsonOf(part))}`);
}

/** A part of a user's or a system's message in either of OpenAI's formats. */
function openAiPart(value: unknown, files: SentFiles): MessagePart {
  if (typeof value === 'string') return text(value);
  const part = objectOf(value);
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return text(textOf(part['text']));
    case 'refusal':
      return text(textOf(part['refusal']));
    case 'image_url':
      return files.addUrl(textOf(objectOf(part['image_url'])['url']));
    case 'input_image':
      return files.addUrl(textOf(part['image_url']) || textOf(part['file_id']));
    case 'input_audio': {
      const audio = objectOf(part['input_audio']);
      const format = textOf(audio['format']) || 'wav';
      return files.add(`audio/${format === 'mp3' ? 'mpeg' : format}`, textOf(audio['data']), `audio.${format}`);
    }
    case 'file':
    case 'input_file': {
      const file = part['type'] === 'file' ? objectOf(part['file']) : part;
      const url = textOf(file['file_data']) || textOf(file['file_url']) || textOf(file['file_id']);
      return files.addUrl(url, textOf(file['filename']));
    }
    default:
      return unknownPart(part, files);
  }
}

function openAiParts(content: unknown, files: SentFiles): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [text(content)];
  return listOf(content).map((part) => openAiPart(part, files));
}

const joinedText = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The result of a tool, and its files, which `withFilesAfter` moves. */
function toolResult(toolCallId: string, parts: readonly MessagePart[], isError = false): MessagePart[] {
  const named = parts.map((part) => (part.type === 'file' ? `[${part.name}]` : part.type === 'text' ? part.text : ''));
  const files = parts.filter(({ type }) => type === 'file');
  return [{ type: 'toolResult', toolCallId, content: named.join(''), isError }, ...files];
}

/** Completions have no files in the results of tools, so the files of a turn's results come after all of them, as a user's. */
function withFilesAfter(messages: readonly Message[]): Message[] {
  const moved: Message[] = [];
  let files: MessagePart[] = [];
  for (const message of messages) {
    const { role, content } = message;
    if (role !== 'tool' && files.length > 0) {
      moved.push({ role: 'user', content: role === 'user' ? [...files, ...content] : files });
      files = [];
      if (role === 'user') continue;
    }
    const isMoved = ({ type }: MessagePart) => role === 'tool' && type === 'file';
    if (content.some(isMoved)) {
      files.push(...content.filter(isMoved));
      moved.push({ role, content: content.filter((part) => !isMoved(part)) });
    } else moved.push(message);
  }
  if (files.length > 0) moved.push({ role: 'user', content: files });
  return moved;
}

/** The call of an assistant's message in the first form of calls. Its result has the name only. */
function functionCall(value: unknown): MessagePart[] {
  if (!isObject(value)) return [];
  const name = textOf(value['name']);
  return [{ type: 'toolCall', id: name, name, arguments: jsonOf(value['arguments'] ?? '') }];
}

function chatMessage(value: unknown, files: SentFiles): Message {
  const message = objectOf(value);
  const parts = openAiParts(message['content'], files);
  if (message['role'] === 'tool' || message['role'] === 'function') {
    const toolCallId = textOf(message['tool_call_id']) || textOf(message['name']);
    return { role: 'tool', content: toolResult(toolCallId, parts) };
  }
  if (message['role'] !== 'assistant') {
    const isSystem = message['role'] === 'system' || message['role'] === 'developer';
    return { role: isSystem ? 'system' : 'user', content: parts };
  }
  const calls = listOf(message['tool_calls']).map((call): MessagePart => {
    const { id, function: called, custom } = objectOf(call);
    const { name, arguments: given, input } = objectOf(called ?? custom);
    return { type: 'toolCall', id: textOf(id), name: textOf(name), arguments: jsonOf(given ?? input ?? '') };
  });
  const declined = textOf(message['refusal']);
  const said = declined === '' ? parts : [...parts, text(declined)];
  return { role: 'assistant', content: [...said, ...calls, ...functionCall(message['function_call'])] };
}

/** A message that may still get parts. */
interface OpenMessage extends Message {
  readonly content: MessagePart[];
}

/** Adds what belongs to one turn of the model to one message, as chat completions do. */
function append(messages: OpenMessage[], { role, content }: Message): void {
  const last = messages.at(-1);
  if (last?.role !== role || (role !== 'assistant' && role !== 'tool')) messages.push({ role, content: [...content] });
  else for (const part of content) last.content.push(part);
}

/** An item of an earlier response, in the place of which the record puts what it was. */
export interface ItemReference extends Extract<MessagePart, { type: 'text' }> {
  readonly itemId: string;
}

function itemReference(itemId: string): ItemReference {
  return { type: 'text', text: `[item_reference] ${itemId}`, itemId };
}

function responsesItem(value: unknown, files: SentFiles): Message | null {
  const item = objectOf(value);
  switch (item['type']) {
    case undefined:
    case 'message':
      return chatMessage({ role: item['role'], content: item['content'] }, files);
    // Encrypted, and only for the provider.
    case 'reasoning':
    // Recorded with the tools of the request.
    case 'additional_tools':
      return null;
    case 'item_reference':
      return { role: 'assistant', content: [itemReference(textOf(item['id']))] };
    default:
      return otherItem(item, files);
  }
}

/** A picture of a screen, or another one. */
const isImage = (output: unknown): output is Fields => isObject(output) && typeof output['image_url'] === 'string';

/** Who wrote an item that is no message: the provider, unless its role or its type says that the program did. */
function authorOf({ type, role }: Fields): Message['role'] {
  if (role === 'user') return role;
  return role === 'developer' || role === 'system' || type === 'compaction_trigger' ? 'system' : 'assistant';
}

/** A call, its result, or what the provider ran or made itself. */
function otherItem(item: Fields, files: SentFiles): Message {
  const call = callIn(item);
  if (call) return { role: 'assistant', content: [{ type: 'toolCall', ...call }] };
  const { type, call_id: id, output, tools } = item;
  const isResult = textOf(type).endsWith('_call_output') || (type === 'tool_search_output' && typeof id === 'string');
  if (!isResult) return { role: authorOf(item), content: [text(itemText(item))] };
  const listed = Array.isArray(output) ? output : isImage(output) ? [{ ...output, type: 'input_image' }] : null;
  const parts = listed === null ? [text(jsonOf(output ?? tools ?? ''))] : openAiParts(listed, files);
  return { role: 'tool', content: toolResult(textOf(id), parts) };
}

function anthropicPart(value: unknown, files: SentFiles): MessagePart[] {
  const part = objectOf(value);
  switch (part['type']) {
    case 'text':
      return [text(textOf(part['text']))];
    case 'image':
    case 'document': {
      const { type, media_type, data, url, file_id, content } = objectOf(part['source']);
      if (type === 'content') return anthropicParts(content, files);
      if (type === 'base64') return [files.add(textOf(media_type), textOf(data), textOf(part['title']))];
      return [text(type === 'text' ? textOf(data) : `[${textOf(url) || textOf(file_id)}]`)];
    }
    case 'tool_use': {
      const given = jsonOf(part['input'] ?? {});
      return [{ type: 'toolCall', id: textOf(part['id']), name: textOf(part['name']), arguments: given }];
    }
    // Signed, and only for the provider.
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return [
        isServerCall(part) || textOf(part['type']).endsWith('_tool_result')
          ? text(blockText(part))
          : unknownPart(part, files),
      ];
  }
}

function anthropicParts(content: unknown, files: SentFiles): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [text(content)];
  return listOf(content).flatMap((part) => anthropicPart(part, files));
}

/** The results of tools in a user's message become a message of their own, before the rest. */
function anthropicMessages(value: unknown, files: SentFiles): Message[] {
  const { role, content } = objectOf(value);
  if (role === 'assistant') return [{ role, content: anthropicParts(content, files) }];
  const isResult = (part: unknown) => isObject(part) && part['type'] === 'tool_result';
  const results = listOf(content)
    .filter(isResult)
    .flatMap((part) => {
      const { tool_use_id, content: given, is_error } = objectOf(part);
      return toolResult(textOf(tool_use_id), anthropicParts(given, files), is_error === true);
    });
  const rest = Array.isArray(content) ? content.filter((part) => !isResult(part)) : content;
  const parts = anthropicParts(rest, files);
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(parts.length > 0 || results.length === 0
      ? [{ role: role === 'system' ? 'system' : 'user', content: parts } as const]
      : []),
  ];
}

/** Anthropic's tools in the format of completions; the provider's own ones stay as they are. */
function anthropicTool(value: unknown): unknown {
  const { name, description, input_schema, type, ...rest } = objectOf(value);
  if (!isObject(input_schema)) return value;
  if (type !== undefined && type !== 'custom') return value;
  const { strict } = rest;
  const definition = { name, ...(description !== undefined && { description }), parameters: input_schema };
  return { type: 'function', function: { ...definition, ...(strict !== undefined && { strict }) } };
}

/** Its blocks are instructions of their own, such as who the model is, and what it may do. */
function anthropicSystem(system: unknown, files: SentFiles): string {
  return anthropicParts(system, files)
    .flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : []))
    .join('\n\n');
}

/** The system messages at the start, as one text. */
function takeSystem(messages: Message[], first: string): string | null {
  const index = messages.findIndex(({ role }) => role !== 'system');
  const system = messages.splice(0, index === -1 ? messages.length : index);
  const texts = [...(first === '' ? [] : [first]), ...system.map(({ content }) => joinedText(content))];
  return texts.length === 0 ? null : texts.join('\n\n');
}

function without(body: Fields, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

function messagesOf(api: BodyApi, body: Fields, files: SentFiles): { messages: Message[]; system: string } {
  const messages: OpenMessage[] = [];
  switch (api) {
    case 'openai-chat':
      for (const message of listOf(body['messages'])) append(messages, chatMessage(message, files));
      return { messages, system: '' };
    case 'openai-responses': {
      const { input } = body;
      for (const item of typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)) {
        const message = responsesItem(item, files);
        if (message) append(messages, message);
      }
      return { messages, system: textOf(body['instructions']) };
    }
    case 'openai-embeddings': {
      const { input } = body;
      const texts = typeof input === 'string' ? [input] : listOf(input).filter((item) => typeof item === 'string');
      return { messages: texts.map((item) => ({ role: 'user', content: [text(item)] })), system: '' };
    }
    case 'anthropic-messages':
      for (const message of listOf(body['messages']))
        for (const { role, content } of anthropicMessages(message, files))
          messages.push({ role, content: [...content] });
      return { messages, system: anthropicSystem(body['system'], files) };
  }
}

const namedFields: Record<BodyApi, readonly string[]> = {
  'openai-chat': ['messages'],
  'openai-responses': ['input', 'instructions'],
  'openai-embeddings': ['input'],
  'anthropic-messages': ['messages', 'system'],
};

function readBody(api: BodyApi, body: Fields, files: SentFiles) {
  const { messages, system } = messagesOf(api, body, files);
  const configuration = without(body, 'model', 'stream', ...namedFields[api]);
  if (api === 'anthropic-messages' && Array.isArray(body['tools'])) {
    configuration['tools'] = body['tools'].map(anthropicTool);
  }
  const items = api === 'openai-responses' ? listOf(body['input']).filter(isObject) : [];
  const references = items.filter(({ type }) => type === 'item_reference');
  if (references.length > 0) configuration['item_reference'] = references.map(({ id }) => textOf(id));
  const tools = items.flatMap((item) => (item['type'] === 'additional_tools' ? listOf(item['tools']) : []));
  if (tools.length > 0) configuration['tools'] = [...listOf(body['tools']), ...tools];
  return { messages, system, configuration };
}

/**
 * Reads a request without ever failing: what it doesn't know, it records as text, of which the start is enough unless it `keepsWhole`.
 * `pathModel` is null if the body names the model.
 */
export function readRequest(
  api: CallApi,
  body: Fields,
  pathModel: string | null,
  { keepsWhole = false }: { readonly keepsWhole?: boolean } = {},
): RecordedRequest {
  const files = new SentFiles(keepsWhole);
  const read = api === 'gemini-content' ? readGeminiRequest(body, files) : readBody(api, body, files);
  const { system, configuration } = read;
  const messages = withFilesAfter(read.messages);
  const systemMessage = takeSystem(messages, system);
  const previous = body['previous_response_id'];
  return {
    model: (pathModel ?? textOf(body['model'])).slice(0, 500),
    systemMessage,
    messages,
    files: files.list,
    missingFile: files.missing,
    configuration,
    previousResponseId: typeof previous === 'string' && previous !== '' ? previous : null,
    hasInstructions: textOf(body['instructions']) !== '',
  };
}
