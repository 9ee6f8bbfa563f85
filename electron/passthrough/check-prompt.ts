import { isTextType } from '../../shared/contract/files.ts';
import { textMessage, textOfMessage, textOfMessages, textOfToolCalls } from '../../shared/contract/messages.ts';
import { type Guard, type RunGuard, storedTexts, textsIn } from '../completions/guard.ts';
import type { PromptFiles } from '../completions/prompt-file.ts';
import { hasTooManyValues, readObject } from './fields.ts';
import type { ReadRequest, RequestInput } from './read-call.ts';
import { readRequest, type RecordedRequest } from './read-request.ts';
import type { SentFile } from './sent-files.ts';

/** What the guard checks of a request. */
export interface CheckedRequest extends Pick<
  ReadRequest,
  'messages' | 'firstNew' | 'systemMessage' | 'configuration' | 'files'
> {
  /** Why a part of it can't be checked; absent if all of it can. */
  readonly uncheckable?: string | undefined;
}

/** Fields, files and earlier messages that are checked one by one; more of them are checked as one text. */
const maxTexts = 512;

const joined = (texts: readonly string[]): readonly string[] =>
  texts.length <= maxTexts ? texts : [texts.join('\n\n')];

const addedTexts = (added: CheckedRequest['messages']): string =>
  [textOfMessages(added), ...added.map(textOfToolCalls).filter((text) => text !== '')].join('\n\n');

/** The texts of each field, under its name if there are few. */
function textFields(configuration: RecordedRequest['configuration']): Record<string, unknown> {
  const fields = Object.entries(configuration);
  if (fields.length <= maxTexts)
    return Object.fromEntries(fields.map(([name, value]) => [name, value && textsIn(value).join('\n')]));
  const stored = storedTexts.filter((name) => configuration[name] != null);
  return {
    ...Object.fromEntries(stored.map((name) => [name, name])),
    other: textsIn(configuration).join('\n'),
  };
}

/** The texts of the files, and the first file that has none. */
function textsOfFiles(files: readonly SentFile[]): SentFile[] {
  const first = files.find(({ part }) => isTextType(part.mediaType));
  const other = files.find(({ part }) => !isTextType(part.mediaType));
  const texts = files.flatMap(({ part, content }) => (isTextType(part.mediaType) ? [content.toString()] : []));
  const sent = joined(texts).map((text, index) => ({
    part: { ...first!.part, fileId: String(index) },
    content: Buffer.from(text),
  }));
  return other ? [{ part: other.part, content: Buffer.alloc(0) }, ...sent] : sent;
}

/**
 * All that the guard checks of a request, in so few values that a thread can hand it over: a request with hundreds of thousands of
 * messages would stop the host while they are copied.
 */
export function readCheckedRequest({ api, body }: Pick<RequestInput, 'api' | 'body'>): CheckedRequest {
  const text = new TextDecoder().decode(body);
  const json = readObject(text);
  if (json === null) {
    const uncheckable = hasTooManyValues(text) ? 'It has more than four million values.' : 'It is no JSON object.';
    return { messages: [], firstNew: 0, systemMessage: null, configuration: {}, files: [], uncheckable };
  }
  const { messages, systemMessage, configuration, files } = readRequest(api, json.value, null);
  const firstNew = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const history = messages
    .slice(0, firstNew)
    .flatMap((message) => [message.role === 'assistant' ? '' : textOfMessage(message), textOfToolCalls(message)])
    .filter((each) => each !== '');
  const earlier = joined(history).map((each) => textMessage('user', each));
  return {
    messages: [...earlier, textMessage('user', addedTexts(messages.slice(firstNew)))],
    firstNew: earlier.length,
    systemMessage,
    configuration: textFields(configuration),
    files: textsOfFiles(files),
    ...(json.isCut && { uncheckable: 'Its JSON is nested more than 256 levels deep.' }),
  };
}

/** The contents of the files that messages refer to. */
export function promptFiles(files: readonly SentFile[]): PromptFiles {
  return new Map(
    files.map(({ part, content }) => {
      const stored = { id: part.fileId, name: part.name, bytes: part.bytes, width: null, height: null, pages: null };
      // A buffer from a thread is a plain array of bytes.
      const data = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
      return [part.fileId, { ...stored, mediaType: part.mediaType as never, data }];
    }),
  );
}

/** What the guard checks: what is new in this call, and everything if a flagged earlier message blocks it. */
export async function checkPrompt(
  request: CheckedRequest,
  guard: Guard,
  signal: AbortSignal,
): Promise<RunGuard | null> {
  return guard.begin(
    {
      renderedPrompt: addedTexts(request.messages.slice(request.firstNew)),
      systemMessage: request.systemMessage,
      configuration: request.configuration,
      history: request.messages.slice(0, request.firstNew),
      files: promptFiles(request.files),
      uncheckable: request.uncheckable,
    },
    { signal },
  );
}
