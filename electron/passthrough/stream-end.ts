import type { CallApi } from './read-request.ts';

interface LastLine {
  readonly field: 'data' | 'event';
  /** How the value of the field begins. */
  readonly values: readonly string[];
}

/** The lines in which programs see the end of a stream. Some servers leave `event` out: the JSON of `data` has the same value as its type. */
const lastLines: Partial<Record<CallApi, LastLine>> = {
  'openai-chat': { field: 'data', values: ['[DONE]'] },
  'openai-responses': { field: 'event', values: ['response.completed', 'response.incomplete', 'response.failed'] },
  'anthropic-messages': { field: 'event', values: ['message_stop'] },
};

/** Longer than what comes before the type of an event that has it before its other objects, and than its end if it comes last. */
const maxLineEnds = 128;

const lineFeed = 10;
const carriageReturn = 13;

/** Searching a string takes a tenth of the time that searching the bytes of a frame does. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

const isLineEnd = (code: number): boolean => code === lineFeed || code === carriageReturn;

/** Where the line starts that has the field with its value at an index; -1 if none does. The space after the colon may be missing. */
function lineStart(text: string, field: string, index: number): number {
  for (const name of [`${field}: `, `${field}:`]) {
    const start = index - name.length;
    if (start < 0 || !text.startsWith(name, start)) continue;
    if (start === 0 || isLineEnd(text.charCodeAt(start - 1))) return start;
  }
  return -1;
}

const typeBefore = /"type"[ \t]*:[ \t]*"$/;
/** No other object begins before the type, so it can't be that of metadata or a tool, which are the program's own. */
const onlyScalarsBefore = /[\r\n]data:[ \t]*\{[^{\0\r\n]*$/;
const lineEndAfter = /^"[ \t]*\}[ \t]*[\r\n]/;

/** Whether the value at an index is the type of an event: before other objects, or at the end of the JSON. `text` starts with a line. */
function isType(text: string, index: number, value: string): boolean {
  const start = Math.max(0, index - maxLineEnds);
  const before = (start === 0 ? '\n' : '') + text.slice(start, index);
  if (!typeBefore.test(before)) return false;
  const end = index + value.length;
  if (onlyScalarsBefore.test(before)) return text[end] === '"';
  if (!lineEndAfter.test(text.slice(end, end + maxLineEnds))) return false;
  let first = index;
  while (first > 0 && !isLineEnd(text.charCodeAt(first - 1))) first -= 1;
  return /^data:[ \t]*\{/.test(text.slice(first, first + maxLineEnds));
}

/** Finds the event that ends a stream, in parts that may end anywhere. */
export class LastEvent {
  readonly #line: LastLine | null;
  /** Of the line that isn't complete yet: the start and, after a zero, the end. */
  #openLine = '';

  constructor(api: CallApi | null) {
    this.#line = (api && lastLines[api]) ?? null;
  }

  /** Where the last event, or a part of it without which it can't be read, begins in the next chunk. The chunk's length if it doesn't. */
  startIn(chunk: Uint8Array): number {
    if (this.#line === null) return chunk.length;
    const { field, values } = this.#line;
    const text = this.#openLine + latin1(chunk);
    for (const value of values) {
      for (let index = text.indexOf(value); index !== -1; index = text.indexOf(value, index + 1)) {
        let start = lineStart(text, field, index);
        if (start === -1 && field === 'event' && isType(text, index, value)) start = index;
        if (start !== -1) return Math.max(start - this.#openLine.length, 0);
      }
    }
    this.#noteOpenLine(chunk);
    return chunk.length;
  }

  #noteOpenLine(chunk: Uint8Array): void {
    const feed = chunk.lastIndexOf(lineFeed);
    const start = feed + 2 + chunk.subarray(feed + 1).lastIndexOf(carriageReturn);
    const rest = chunk.subarray(start);
    const isShort = rest.length <= 2 * maxLineEnds;
    const ends = isShort
      ? latin1(rest)
      : `${latin1(rest.subarray(0, maxLineEnds))}\0${latin1(rest.subarray(-maxLineEnds))}`;
    const line = start > 0 ? ends : this.#openLine + ends;
    this.#openLine =
      line.length <= 3 * maxLineEnds ? line : `${line.slice(0, maxLineEnds)}\0${line.slice(-maxLineEnds)}`;
  }
}

/** Finds the empty line that ends an event. A line ends with a line feed, a carriage return, or both. */
export class EventEnd {
  #isLineEmpty = true;
  #isAfterReturn = false;

  /** Whether the event ends in the next part of its bytes. */
  isIn(bytes: Uint8Array): boolean {
    const indexOf = (byte: number, from: number) => {
      const index = bytes.indexOf(byte, from);
      return index === -1 ? bytes.length : index;
    };
    let start = 0;
    let feed = indexOf(lineFeed, 0);
    let carriage = indexOf(carriageReturn, 0);
    for (let end = Math.min(feed, carriage); end < bytes.length; end = Math.min(feed, carriage)) {
      const isSecondOfTwo = end === feed && (end === 0 ? this.#isAfterReturn : bytes[end - 1] === carriageReturn);
      if (!isSecondOfTwo && this.#isLineEmpty && start === end) return true;
      this.#isLineEmpty = true;
      start = end + 1;
      if (end === feed) feed = indexOf(lineFeed, start);
      else carriage = indexOf(carriageReturn, start);
    }
    this.#isLineEmpty &&= start === bytes.length;
    this.#isAfterReturn = bytes.at(-1) === carriageReturn;
    return false;
  }
}
