import { setImmediate as nextTurn } from 'node:timers/promises';
import { AwaitedList, LazyList } from '../storage/list-page.ts';
import { LazyResponse } from './lazy-response.ts';

/** The parts of a response on the wire. */
export interface ResponseText {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The text in UTF-8, if it is already encoded. */
  readonly bytes?: Uint8Array | undefined;
}

/** A document that many responses send. Its text is created once. */
export class SharedJson {
  readonly text: string;
  readonly bytes: Uint8Array;

  constructor(value: object) {
    this.text = JSON.stringify(value);
    this.bytes = Buffer.from(this.text);
  }
}

/** A complete JSON response as text. */
export class JsonResponse extends LazyResponse<ResponseText> {
  readonly #text: string;
  readonly #bytes: Uint8Array | undefined;

  /** The names of the headers must be in lower case. */
  constructor(value: object, { status = 200, headers }: { status?: number; headers?: Record<string, string> } = {}) {
    super(status, { 'content-type': 'application/json', ...headers });
    const shared = value instanceof SharedJson ? value : null;
    this.#text = shared?.text ?? JSON.stringify(value);
    this.#bytes = shared?.bytes;
  }

  protected override content(headers: Record<string, string>): ResponseText {
    return { headers, text: this.#text, bytes: this.#bytes };
  }

  protected override toResponse(init: ResponseInit): Response {
    return new Response(this.#text, init);
  }
}

/** Up to this many characters, a response is sent at once, with its length. */
const wholeLength = 524_288;

/** Characters of one chunk of a longer response. */
const chunkLength = 65_536;

/** Part of a text, or what must be awaited before the next part. */
type Chunk = string | Promise<void>;

/** The JSON of a text in chunks. The characters of a surrogate pair stay together: apart, they would be escaped. */
function* textChunks(text: string): Generator<string, void, void> {
  yield '"';
  for (let start = 0; start < text.length;) {
    let end = start + chunkLength;
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc_00) === 0xd8_00) end += 1;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
    start = end;
  }
  yield '"';
}

function* listChunks(items: Iterable<unknown>): Generator<Chunk, void, void> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* jsonChunks(item);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

function* awaitedChunks(items: AsyncIterable<unknown>): Generator<Chunk, void, void> {
  const iterator = items[Symbol.asyncIterator]();
  const found: IteratorResult<unknown>[] = [];
  let before = '[';
  try {
    for (;;) {
      const reading = iterator.next().then((result) => void found.push(result));
      // The caller of the response may be slow to await it.
      reading.catch(() => undefined);
      while (found.length === 0) yield reading;
      const { done, value } = found.pop()!;
      if (done) return yield before === '[' ? '[]' : ']';
      yield before;
      yield* jsonChunks(value);
      before = ',';
    }
  } finally {
    void iterator.return?.();
  }
}

/** Levels of a value that are searched for lists and long texts. */
const maxSearchDepth = 3;

/** Whether a value has a list that is read lazily among its own values, or such a list or a long text a few levels below. */
function isChunked(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length > chunkLength;
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof LazyList || value instanceof AwaitedList) return true;
  return depth < maxSearchDepth && Object.values(value).some((part) => isChunked(part, depth + 1));
}

/** The text of `JSON.stringify` in chunks. A `LazyList` is read as the consumer proceeds, and so is a long text. */
function* jsonChunks(value: unknown): Generator<Chunk, void, void> {
  if (typeof value === 'string' && value.length > chunkLength) return yield* textChunks(value);
  if (value instanceof LazyList) return yield* listChunks(value);
  if (value instanceof AwaitedList) return yield* awaitedChunks(value);
  const isWhole = typeof value !== 'object' || value === null || 'toJSON' in value || !isChunked(value);
  if (isWhole) return yield JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return yield* listChunks(value);
  let before = '{';
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonChunks(part);
    before = ',';
  }
  yield '}';
}

interface TakenChunks {
  readonly text: string;
  readonly isDone: boolean;
  /** What comes before the next part. */
  readonly reading?: Promise<void>;
}

/** Joins chunks to at least `length` characters, unless the text ends before, or its next part must be awaited. */
function takeChunks(chunks: Iterator<Chunk, void, void>, length: number): TakenChunks {
  let text = '';
  while (text.length < length) {
    const next = chunks.next();
    if (next.done) return { text, isDone: true };
    if (typeof next.value !== 'string') return { text, isDone: false, reading: next.value };
    text += next.value;
  }
  return { text, isDone: false };
}

/**
 * A JSON response that can be too long for memory, for a string, or for one turn of the event loop. Its lists and long texts are read as
 * the caller reads the response. A failure in the middle closes the connection without completing the text. The names of the headers must
 * be in lower case.
 */
export function longJsonResponse(
  value: object,
  { status = 200, headers: added }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const init = { status, headers: { 'content-type': 'application/json', ...added } };
  const chunks = jsonChunks(value);
  const beginning = takeChunks(chunks, wholeLength);
  if (beginning.isDone) return new Response(beginning.text, init);
  const encoder = new TextEncoder();
  let first: TakenChunks | null = beginning;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Other callers must not wait for a caller that reads as fast as the response is written.
        await nextTurn();
        let taken = first ?? takeChunks(chunks, chunkLength);
        first = null;
        while (taken.text === '' && taken.reading !== undefined) {
          await taken.reading;
          taken = takeChunks(chunks, chunkLength);
        }
        if (taken.text !== '') controller.enqueue(encoder.encode(taken.text));
        if (taken.isDone) controller.close();
      },
      cancel: () => void chunks.return(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, init);
}
