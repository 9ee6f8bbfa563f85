import { LazyList } from '../storage/lazy-list.ts';

/** Characters of an answer that are put together before any of it is sent; a shorter one goes out as one piece, with its length. */
const wholeLength = 1_048_576;

/** Characters that are handed to the connection at once. */
const pieceLength = 65_536;

function* listPieces(items: Iterable<unknown>): Generator<string, void, void> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* jsonPieces(item);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** How far a value is searched for what is written piece by piece. */
const maxSearchDepth = 3;

/** Whether a value has a `LazyList` among its own values, or a long text or a `LazyList` a few levels below. */
function isInPieces(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length > pieceLength;
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof LazyList) return true;
  return depth < maxSearchDepth && Object.values(value).some((part) => isInPieces(part, depth + 1));
}

/** The text of `JSON.stringify`. Every `LazyList` is read only as far as somebody asks, and every long text is a piece of its own. */
function* jsonPieces(value: unknown): Generator<string, void, void> {
  if (value instanceof LazyList) return yield* listPieces(value);
  const isWhole = typeof value !== 'object' || value === null || 'toJSON' in value || !isInPieces(value);
  if (isWhole) return yield JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return yield* listPieces(value);
  let before = '{';
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(part);
    before = ',';
  }
  yield '}';
}

/** At least so many characters, unless the text ends before. */
function take(pieces: Iterator<string, void, void>, length: number): { text: string; isDone: boolean } {
  let text = '';
  while (text.length < length) {
    const next = pieces.next();
    if (next.done) return { text, isDone: true };
    text += next.value;
  }
  return { text, isDone: false };
}

/**
 * A JSON answer that may be longer than memory, or a string, can hold. What its lists hold is read as the caller takes it; a failure
 * in the middle ends the connection without an end of the text.
 */
export function longJsonAnswer(value: object): Response {
  const headers = { 'content-type': 'application/json' };
  const pieces = jsonPieces(value);
  const beginning = take(pieces, wholeLength);
  if (beginning.isDone) return new Response(beginning.text, { headers });
  const encoder = new TextEncoder();
  let first: string | null = beginning.text;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A caller who reads as fast as it is written must not keep the others waiting.
        await new Promise(setImmediate);
        const { text, isDone } = first === null ? take(pieces, pieceLength) : { text: first, isDone: false };
        first = null;
        if (text !== '') controller.enqueue(encoder.encode(text));
        if (isDone) controller.close();
      },
      cancel: () => void pieces.return(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers });
}
