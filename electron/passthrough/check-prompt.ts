import { type Message, textMessage } from '../../shared/contract/messages.ts';
import { type Guard, type RunGuard, storedTexts, textsIn } from '../completions/guard.ts';
import type { PromptFiles } from '../completions/prompt-file.ts';
import { hasRepeatedFields, hasTooManyValues, readObject } from './fields.ts';
import type { CallApi } from './read-request.ts';
import { promptFiles, type SentFile } from './sent-files.ts';
import { charsetOf, isPlainCharset, sentTextsOf, type UncheckedFile } from './sent-texts.ts';

/** What the guard checks of a request. */
export interface CheckedRequest {
  /** What the turns before the program's new ones contain. */
  readonly history: readonly string[];
  readonly added: string;
  readonly systemMessage: string | null;
  readonly configuration: Record<string, unknown>;
  /** Of text files. */
  readonly fileTexts: readonly string[];
  /** The first file that can't be checked. */
  readonly unchecked: UncheckedFile | null;
  /** Why a part of it can't be checked; absent if all of it can. */
  readonly uncheckable?: string | undefined;
}

export const nothingToCheck: CheckedRequest = {
  history: [],
  added: '',
  systemMessage: null,
  configuration: {},
  fileTexts: [],
  unchecked: null,
};

/** What a provider may read in another way than as JSON in UTF-8; undefined if nothing is. `headers` are names and values in turn. */
function otherEncoding(headers: readonly string[]): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value] = [headers[index]!.toLowerCase(), headers[index + 1]!.toLowerCase()];
    if (name === 'content-encoding' && value.trim() !== '' && value.trim() !== 'identity')
      return 'Its body is compressed.';
    if (name === 'content-type' && !isPlainCharset(charsetOf(value))) return 'Its characters are not in UTF-8.';
  }
  return undefined;
}

/** Fields, files and earlier messages that are checked one by one; more of them are checked as one text. */
const maxTexts = 512;

const joined = (texts: readonly string[]): readonly string[] =>
  texts.length <= maxTexts ? texts : [texts.join('\n\n')];

/** The texts of each field, under its name if there are few. */
function textFields(configuration: CheckedRequest['configuration']): Record<string, unknown> {
  const fields = Object.entries(configuration);
  if (fields.length <= maxTexts)
    return Object.fromEntries(fields.map(([name, value]) => [name, value && textsIn(value).join('\n')]));
  const stored = storedTexts.filter((name) => configuration[name] != null);
  return {
    ...Object.fromEntries(stored.map((name) => [name, name])),
    other: textsIn(configuration).join('\n'),
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decoded(body: Uint8Array): string | null {
  try {
    return decoder.decode(body);
  } catch {
    return null;
  }
}

/** Where the newest turns of the program begin. An answer at the end is a start of the next one, and nothing shows who wrote it. */
function startOfNew(turns: readonly { readonly isAnswer: boolean }[]): number {
  const lastOwn = turns.findLastIndex(({ isAnswer }) => !isAnswer);
  return turns.findLastIndex(({ isAnswer }, index) => isAnswer && index < lastOwn) + 1;
}

/**
 * All that the guard checks of a request, in so few values that a thread can hand it over: a request with hundreds of thousands of
 * messages would stop the host while they are copied.
 */
export function readCheckedRequest({
  api,
  body,
}: {
  readonly api: CallApi;
  readonly body: Uint8Array;
}): CheckedRequest {
  const text = decoded(body);
  if (text === null) return { ...nothingToCheck, uncheckable: 'It is not in UTF-8.' };
  const json = readObject(text);
  if (json === null) {
    const uncheckable = hasTooManyValues(text) ? 'It has more than four million values.' : 'It is no JSON object.';
    return { ...nothingToCheck, uncheckable };
  }
  const { turns, system, configuration, fileTexts, unchecked, reason } = sentTextsOf(api, json.value);
  const firstTurn = turns.findIndex(({ isSystem }) => !isSystem);
  const [instructions, rest] = firstTurn === -1 ? [turns, []] : [turns.slice(0, firstTurn), turns.slice(firstTurn)];
  const systemTexts = [system, ...instructions.map((turn) => turn.text)].filter((each) => each !== '');
  const firstNew = startOfNew(rest);
  const textOf = (part: readonly { readonly text: string }[]) =>
    part.map((turn) => turn.text).filter((each) => each !== '');
  const uncheckable = json.isCut
    ? 'Its JSON is nested more than 256 levels deep.'
    : hasRepeatedFields(text, json.value)
      ? 'It has a field twice, of which a provider may read either.'
      : reason;
  return {
    history: joined(textOf(rest.slice(0, firstNew))),
    added: textOf(rest.slice(firstNew)).join('\n\n'),
    systemMessage: systemTexts.length === 0 ? null : systemTexts.join('\n\n'),
    configuration: textFields(configuration),
    fileTexts: joined(fileTexts),
    unchecked,
    ...(uncheckable !== undefined && { uncheckable }),
  };
}

/** As the guard takes files. */
function filesOf({ fileTexts, unchecked }: CheckedRequest): PromptFiles {
  const fileOf = (fileId: string, name: string, mediaType: string, text = ''): SentFile => {
    const content = Buffer.from(text);
    return { part: { type: 'file', fileId, name, mediaType, bytes: content.length }, content };
  };
  return promptFiles([
    ...(unchecked ? [fileOf('unchecked', unchecked.name, unchecked.mediaType)] : []),
    ...fileTexts.map((text, index) => fileOf(String(index), 'text', 'text/plain', text)),
  ]);
}

/**
 * What the guard checks: what is new in this call, and everything if a flagged earlier message blocks it. `isKnown` is whether an earlier
 * call had the history. Otherwise it is new: the program may have written the answers itself.
 */
export async function checkPrompt(
  request: CheckedRequest,
  headers: readonly string[],
  guard: Guard,
  { signal, isKnown }: { readonly signal: AbortSignal; readonly isKnown: boolean },
): Promise<RunGuard | null> {
  const texts = isKnown ? [request.added] : [...request.history, request.added];
  return guard.begin(
    {
      renderedPrompt: texts.filter((text) => text !== '').join('\n\n'),
      systemMessage: request.systemMessage,
      configuration: request.configuration,
      history: (isKnown ? request.history : []).map((text): Message => textMessage('user', text)),
      files: filesOf(request),
      uncheckable: otherEncoding(headers) ?? request.uncheckable,
    },
    { signal },
  );
}
