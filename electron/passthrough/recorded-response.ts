import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import type { FrameTiming } from '../../shared/contract/conversations.ts';
import type { Redactor } from '../audit/evidence/redaction.ts';
import { redactText } from '../provider-exchanges/redact.ts';
import { decompressed, UnreadableBody } from './decompressed.ts';
import { EventReading } from './event-reading.ts';
import { hasTooManyValues, readObject } from './fields.ts';
import { arrayTiming, type ChunkArrivals } from './frame-times.ts';
import { readGeminiArray } from './gemini-response.ts';
import { JudgedTexts } from './judged-texts.ts';
import { redactedCall, redactorOf, tooManyValues } from './read-call.ts';
import type { CallApi } from './read-request.ts';
import { type ReadItem, Reading } from './reading.ts';
import { bodyOf, isAmbiguous, type ReadBody, readers } from './read-response.ts';
import { limitAnswer, limitText } from './record-limits.ts';

/** Bytes of a response that are recorded: more than any model writes. */
export const maxRecordedBytes = 32 * 1_048_576;

/** How a response is read. */
export interface ResponseForm {
  readonly api: CallApi;
  /** Whether the guard checks all of its text, not only what is recorded. */
  readonly isJudged: boolean;
  readonly encoding: string;
  /** Whether the provider sends events. */
  readonly isStream: boolean;
  readonly rules: readonly RedactionRule[];
}

export interface ResponseInput extends ResponseForm {
  readonly body: Uint8Array;
  /** Whether the response has more bytes than are recorded. */
  readonly isCut: boolean;
  readonly arrivals: ChunkArrivals;
}

const decoder = new TextDecoder();

/** A response before its frames are counted and the rules of redaction apply. */
type ResponseText = Omit<RecordedResponse, 'frames' | 'hidden'>;

/** What is recorded of a response whose text can't be. */
function unreadResponse(error: unknown): ResponseText {
  const reason = error instanceof UnreadableBody ? error.message : null;
  if (reason === null)
    return { ...noResponse, isUnread: true, error: "The provider's response could not be decompressed." };
  return { ...noResponse, isUnread: true, isComplete: true, content: `[The response is not recorded: ${reason}]` };
}

/** A response as it is recorded. */
export interface RecordedResponse extends ReadBody {
  /** Whether its text could not be read, which the content or the error says. */
  readonly isUnread: boolean;
  /** What is recorded of the judged text if the guard withholds it. */
  readonly withheld: string | null;
  /** Null for a response that isn't a stream, or is compressed. */
  readonly frames: FrameTiming | null;
  /** How often each rule replaced something. */
  readonly hidden: readonly number[];
}

export const noResponse: RecordedResponse = {
  id: null,
  content: '',
  reasoning: '',
  toolCalls: [],
  items: [],
  finishReason: 'Stop',
  usage: null,
  rawUsage: null,
  error: null,
  isComplete: false,
  isPartial: false,
  isUnread: false,
  judged: null,
  withheld: null,
  frames: null,
  hidden: [],
};

interface ResponseKind {
  readonly isStream: boolean;
  readonly isJudged: boolean;
}

/** Reads a whole response without ever failing. `isStream` is whether the provider sent events. */
export function readResponse(api: CallApi, text: string, { isStream, isJudged }: ResponseKind): ReadBody {
  if (isStream) return new EventReading(api, isJudged).end(text);
  const reading = new Reading();
  const judged = isJudged ? new JudgedTexts(api) : null;
  if (text === '') return bodyOf(api, reading, false, judged);
  if (api === 'gemini-content' && text.startsWith('['))
    return bodyOf(api, reading, !readGeminiArray(reading, text, judged && ((value) => judged.add(value))), judged);
  const found = readObject(text);
  if (found) {
    readers[api](reading, found.value);
    judged?.add(found.value);
  } else reading.error = text.slice(0, 1000);
  return bodyOf(api, reading, judged ? isAmbiguous(text, found) : !found || found.isCut, judged);
}

/** The text of a body. Throws `UnreadableBody` if nothing can be read of it. */
function textOf({ body, encoding, isStream, isCut }: ResponseInput): string {
  const text = decoder.decode(decompressed(body, encoding));
  if (isStream) return text;
  if (isCut) throw new UnreadableBody(`it is larger than ${maxRecordedBytes / 1_048_576} MB`);
  if (hasTooManyValues(text)) throw new UnreadableBody(`it ${tooManyValues}`);
  return text;
}

/** Those that a change of the text leaves where they are. */
export const itemsWithoutText = (items: readonly ReadItem[]): ReadItem[] => items.filter(({ text }) => text === null);

/** What is recorded of what has been read. */
function limitedResponse(read: ReadBody, isCut: boolean): ResponseText {
  const withheld = read.judged === null ? null : limitText(read.judged);
  const limited = limitAnswer(read);
  const items = limited.content === read.content ? read.items : itemsWithoutText(read.items);
  const response = { ...limited, items, isUnread: false, withheld };
  if (!isCut) return response;
  const mark = `[The rest of the response is not recorded: it is larger than ${maxRecordedBytes / 1_048_576} MB]`;
  return { ...response, content: `${response.content} ${mark}` };
}

function readText(input: ResponseInput): ResponseText {
  let text: string;
  try {
    text = textOf(input);
  } catch (error) {
    return unreadResponse(error);
  }
  return limitedResponse(readResponse(input.api, text, input), input.isCut);
}

/** Where the items are in the redacted text, unless a match spans two of them. */
function redactedItems({ content, items }: ResponseText, redacted: string, redactor: Redactor): readonly ReadItem[] {
  const known = items.filter(({ id }) => redactor.text(id) === id);
  if (redacted === content) return known;
  let text = '';
  let end = 0;
  const moved = known.map((item) => {
    if (item.text === null) return item;
    text += redactor.text(content.slice(end, item.text[0]));
    const start = text.length;
    text += redactor.text(content.slice(...item.text));
    end = item.text[1];
    return { ...item, text: [start, text.length] as const };
  });
  return text + redactor.text(content.slice(end)) === redacted ? moved : itemsWithoutText(known);
}

function redactedResponse(
  text: ResponseText,
  frames: FrameTiming | null,
  rules: readonly RedactionRule[],
): RecordedResponse {
  const response = { ...text, frames, hidden: [] };
  if (rules.length === 0) return response;
  const redactor = redactorOf(rules);
  const before = [...redactor.counts];
  const redacted = {
    ...response,
    content: redactor.text(response.content),
    reasoning: redactor.text(response.reasoning),
    // What a provider calls an id may be a text, by which no later call would be found.
    id: response.id !== null && redactor.text(response.id) !== response.id ? null : response.id,
    toolCalls: response.toolCalls.map((call) => redactedCall(call, redactor)),
    error: response.error === null ? null : redactor.text(response.error),
  };
  const hidden = redactor.counts.map((count, rule) => count - before[rule]!);
  const items = redactedItems(response, redacted.content, redactor);
  // The guard judges what the program gets.
  return { ...redacted, items, hidden, withheld: response.withheld === null ? null : redactor.text(response.withheld) };
}

/** A response without the keys of its call, which a provider may repeat. `secrets` are all of their forms, longest first. */
export function withoutSecrets(response: RecordedResponse, secrets: readonly string[]): RecordedResponse {
  if (secrets.length === 0) return response;
  const clean = (text: string) => redactText(text, secrets);
  const isClean = (id: string) => clean(id) === id;
  const content = clean(response.content);
  const items = response.items.filter(({ id }) => isClean(id));
  return {
    ...response,
    content,
    items: content === response.content ? items : itemsWithoutText(items),
    id: response.id !== null && isClean(response.id) ? response.id : null,
    withheld: response.withheld && clean(response.withheld),
    reasoning: clean(response.reasoning),
    toolCalls: response.toolCalls.map((call) => ({
      ...call,
      id: clean(call.id),
      name: clean(call.name),
      arguments: clean(call.arguments),
    })),
    rawUsage: isClean(JSON.stringify(response.rawUsage)) ? response.rawUsage : null,
    error: response.error && clean(response.error),
  };
}

/** Whether a response can be read while it arrives. */
export const isPlainStream = ({ isStream, encoding }: ResponseForm): boolean => isStream && encoding === '';

/** A stream of events that isn't compressed, read in parts. */
export class StreamedResponse {
  readonly #form: ResponseForm;
  readonly #events: EventReading;
  /** A part may end within a character. */
  readonly #decoder = new TextDecoder();

  constructor(form: ResponseForm) {
    this.#form = form;
    this.#events = new EventReading(form.api, form.isJudged);
  }

  add(bytes: Uint8Array, { atMs, ends }: ChunkArrivals): void {
    let start = 0;
    for (const [index, end] of ends.entries()) {
      this.#events.add(this.#decoder.decode(bytes.subarray(start, end), { stream: true }), atMs[index]!);
      start = end;
    }
  }

  /** `isCut` is whether the response has more than was added. */
  end(isCut: boolean): RecordedResponse {
    const read = this.#events.end(this.#decoder.decode());
    return redactedResponse(limitedResponse(read, isCut), this.#events.times.timing, this.#form.rules);
  }
}

/** A response that is there. */
export function readPassedResponse(input: ResponseInput): RecordedResponse {
  const { api, body, encoding, arrivals, rules, isCut } = input;
  if (isPlainStream(input)) {
    const stream = new StreamedResponse(input);
    stream.add(body, arrivals);
    return stream.end(isCut);
  }
  const isArray = api === 'gemini-content' && encoding === '' && body[0] === 91;
  return redactedResponse(readText(input), isArray ? arrayTiming(body, arrivals) : null, rules);
}
