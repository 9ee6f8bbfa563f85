import type { WireFrame } from '../../../host/client.ts';
import type { WireLog } from '../../../stores/run-stream.ts';

/** One line of the table of frames. */
export interface FrameRow {
  /** From 1. */
  number: number;
  /** Milliseconds since the request was sent. */
  at: number;
  /** Milliseconds since the frame before; null for the first. */
  gap: number | null;
  bytes: number;
  /** The frame's text without the separators of its form. */
  data: string;
  /** Whether the gap is far above the usual one. */
  isLongGap: boolean;
}

/** The data of a frame, without the framing of its transport. */
export function frameData(text: string): string {
  return text
    .trim()
    .replace(/^data: ?/, '')
    .replace(/^[[,]\s*/, '')
    .replace(/\s*\]$/, (end) => (text.trim() === '[]' ? end : ''));
}

/**
 * What a row shows of a frame: the part that differs from frame to frame, with dots for the rest. A frame of another form is
 * unchanged.
 */
export function frameGist(data: string): string {
  if (data.length > 20_000) return data;
  try {
    const part = JSON.parse(data) as {
      choice?: { finish_reason?: string; message?: { content?: string } };
      usage?: unknown;
    };
    const content = part.choice?.message?.content;
    if (content !== undefined) return `{"choice": {… "content": ${JSON.stringify(content)} …}}`;
    if (part.choice?.finish_reason === undefined) return data;
    const usage = part.usage === undefined ? '' : `, "usage": ${JSON.stringify(part.usage)}`;
    return `{"choice": {… "finish_reason": "${part.choice.finish_reason}" …}${usage} …}`;
  } catch {
    return data;
  }
}

/** Six times the median, and at least 50 ms: shorter gaps measure the clock, not the model. */
export function longGapLimit(frames: readonly WireFrame[]): number {
  const gaps = frames.slice(1).map((frame, index) => frame.at - (frames[index]?.at ?? frame.at));
  const median = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 0;
  return Math.max(50, median * 6);
}

export function frameRow(
  frames: readonly WireFrame[],
  index: number,
  startedAt: number,
  limit: number,
): FrameRow | null {
  const frame = frames[index];
  if (!frame) return null;
  const before = frames[index - 1];
  const gap = before ? frame.at - before.at : null;
  return {
    number: index + 1,
    at: frame.at - startedAt,
    gap,
    bytes: frame.bytes,
    data: frameData(frame.text),
    isLongGap: gap !== null && gap > limit,
  };
}

/** Indexes of the frames whose text contains the query, ignoring case. */
export function findFrames(frames: readonly WireFrame[], count: number, query: string): number[] {
  const needle = query.toLowerCase();
  const matches: number[] = [];
  for (let index = 0; index < count; index += 1) {
    if (frames[index]?.text.toLowerCase().includes(needle)) matches.push(index);
  }
  return matches;
}

export function longestGap(frames: readonly WireFrame[], count: number): number {
  let longest = 0;
  for (let index = 1; index < count; index += 1) {
    longest = Math.max(longest, (frames[index]?.at ?? 0) - (frames[index - 1]?.at ?? 0));
  }
  return longest;
}

/** What an API client sends for the same run. The window's own endpoint for chosen passages isn't reachable with an API key. */
export function publicRequest(wire: WireLog): Pick<WireLog, 'method' | 'path' | 'headers' | 'body'> {
  if (!wire.path.startsWith('/window/')) return wire;
  return { ...wire, path: '/api/completions/sse', body: withoutChosenPassages(wire.body) };
}

function withoutChosenPassages(body: string): string {
  try {
    const { grounding: _grounding, ...request } = JSON.parse(body) as Record<string, unknown>;
    return JSON.stringify(request);
  } catch {
    return body;
  }
}

/** The request as text: its line, its headers, an empty line, its body with line breaks. */
export function requestText(
  { method, path, headers, body }: Pick<WireLog, 'method' | 'path' | 'headers' | 'body'>,
  address: string,
): { head: [name: string, value: string][]; line: string; body: string } {
  return {
    line: `${method} ${path}`,
    head: [['host', address.replace(/^https?:\/\//, '')], ...Object.entries(headers)],
    body: pretty(body),
  };
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** Positions of the frames on a line of the given width, at most one for each step. */
export function tickPositions(
  frames: readonly WireFrame[],
  count: number,
  startedAt: number,
  width: number,
  step = 2,
): number[] {
  const end = (frames[count - 1]?.at ?? startedAt) - startedAt;
  if (end <= 0) return [];
  const positions = new Set<number>();
  for (let index = 0; index < count; index += 1) {
    const at = ((frames[index]?.at ?? 0) - startedAt) / end;
    positions.add(Math.round((at * (width - 2)) / step) * step + 1);
  }
  return [...positions];
}

export type JsonTokenKind = 'var' | 'str' | 'num' | 'key' | 'punc';

export interface JsonToken {
  kind: JsonTokenKind | null;
  text: string;
}

const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)|([{}[\],:])/g;

/** The coloured parts of a JSON text. A colon distinguishes the name of a field from a string. */
export function jsonTokens(text: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let last = 0;
  const push = (kind: JsonToken['kind'], part: string): void => {
    if (part !== '') tokens.push({ kind, text: part });
  };
  for (const match of text.matchAll(pattern)) {
    push(null, text.slice(last, match.index));
    const [whole, string, colon, number, word] = match;
    if (string !== undefined) {
      push(colon === undefined ? 'str' : 'var', string);
      push('punc', colon ?? '');
    } else push(number !== undefined ? 'num' : word !== undefined ? 'key' : 'punc', whole);
    last = match.index + whole.length;
  }
  push(null, text.slice(last));
  return tokens;
}
