/**
 * The two formats of a streamed response, with one JSON object per part: server-sent events with only `data:` lines, and the
 * elements of one JSON array. Both decoders accept text that is split anywhere.
 */

/** One part, and its text on the wire. */
export interface DecodedPart {
  /** The text on the wire, separators included. */
  readonly text: string;
  readonly value: unknown;
}

export interface PartDecoder {
  /** The parts that `text` completes. Throws `SyntaxError` for text in another format. */
  push(text: string): DecodedPart[];
  /** Whether the stream may end here, without an incomplete part. */
  isComplete(): boolean;
}

/** One server-sent event. `json` is the value's JSON, where that is known already. */
export function encodeEvent(value: unknown, json = JSON.stringify(value)): string {
  return `data: ${json}\n\n`;
}

const lineEnd = /\r\n|\n|\r/g;

function dataOf(line: string): string | null {
  if (line === 'data') return '';
  if (!line.startsWith('data:')) return null;
  return line.startsWith('data: ') ? line.slice(6) : line.slice(5);
}

/** Reads `text/event-stream`. Ignores comments and fields other than `data`. */
export function createEventDecoder(): PartDecoder {
  let pending = '';
  let frame = '';
  let data: string[] = [];
  let isFirst = true;
  let isAfterReturn = false;

  /** Removes a byte order mark at the start, and the `\n` of a `\r\n` that was split between two texts. */
  function withoutRemnant(text: string): string {
    const remnant = (isFirst && text.startsWith('\uFEFF')) || (isAfterReturn && text.startsWith('\n'));
    isFirst = false;
    isAfterReturn = text.endsWith('\r');
    return remnant ? text.slice(1) : text;
  }

  function endOfEvent(): DecodedPart[] {
    const part = data.length === 0 ? [] : [{ text: frame, value: JSON.parse(data.join('\n')) as unknown }];
    frame = '';
    data = [];
    return part;
  }

  function takeLine(line: string, raw: string): DecodedPart[] {
    frame += raw;
    if (line === '') return endOfEvent();
    const content = dataOf(line);
    if (content !== null) data.push(content);
    return [];
  }

  return {
    push(text) {
      if (text === '') return [];
      pending += withoutRemnant(text);
      const parts: DecodedPart[] = [];
      let start = 0;
      for (const match of pending.matchAll(lineEnd)) {
        const end = match.index + match[0].length;
        parts.push(...takeLine(pending.slice(start, match.index), pending.slice(start, end)));
        start = end;
      }
      pending = pending.slice(start);
      return parts;
    },
    isComplete: () => pending === '' && data.length === 0,
  };
}

const [openBrace, closeBrace, openBracket, closeBracket, quote, backslash] = [0x7b, 0x7d, 0x5b, 0x5d, 0x22, 0x5c];
const betweenElements = /^[\s,]*$/;

/** Reads one JSON array of objects, element by element. */
export function createArrayDecoder(): PartDecoder {
  let frame = '';
  let elementStart = -1;
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let state: 'before' | 'inside' | 'after' = 'before';

  function takeInString(code: number): void {
    if (isEscaped) isEscaped = false;
    else if (code === backslash) isEscaped = true;
    else if (code === quote) isInString = false;
  }

  function takeBetween(code: number, index: number): void {
    if (state === 'before' && code === openBracket) state = 'inside';
    else if (state === 'inside' && code === openBrace) [depth, elementStart] = [1, index];
    else if (state === 'inside' && code === closeBracket) state = 'after';
    else if (!betweenElements.test(String.fromCharCode(code))) throw new SyntaxError('not a JSON array of objects');
  }

  /** Returns whether the character ends an element. */
  function take(code: number, index: number): boolean {
    if (isInString) takeInString(code);
    else if (depth === 0) takeBetween(code, index);
    else if (code === quote) isInString = true;
    else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) return (depth -= 1) === 0;
    return false;
  }

  return {
    push(text) {
      const parts: DecodedPart[] = [];
      let index = frame.length;
      frame += text;
      while (index < frame.length) {
        const isEnd = take(frame.charCodeAt(index), index);
        index += 1;
        if (!isEnd) continue;
        parts.push({ text: frame.slice(0, index), value: JSON.parse(frame.slice(elementStart, index)) as unknown });
        frame = frame.slice(index);
        index = 0;
      }
      return parts;
    },
    isComplete: () => state === 'after',
  };
}
