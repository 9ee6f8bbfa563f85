/** A syntax error with its position, counted from 1. */
export interface JsonMistake {
  message: string;
  line: number;
  column: number;
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** The engine's message without the position and without the quoted text. */
function sentenceOf(message: string): string {
  if (/end of JSON|Unterminated string/.test(message))
    return message.includes('Unterminated') ? 'a quote is not closed' : 'the text ends too early';
  const token = /Unexpected token '?(.)'?/u.exec(message)?.[1];
  if (token !== undefined) return `unexpected "${token}"`;
  return message
    .replace(/ in JSON.*$/s, '')
    .replace(/,? ?".*is not valid JSON$/s, '')
    .replace(/^E/, 'e');
}

export type ParsedJson = { value: unknown } | { mistake: JsonMistake };

/** Parses JSON or returns its first syntax error. */
export function parseJson(text: string): ParsedJson {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (cause) {
    const message = (cause as Error).message;
    const position = /position (\d+)/.exec(message)?.[1];
    const offset = position === undefined ? offsetOf(text, message) : Number(position);
    return { mistake: { message: sentenceOf(message), ...positionOf(text, offset) } };
  }
}

/** For a short text the engine's message has no position. The shortest invalid beginning gives it. */
function offsetOf(text: string, message: string): number {
  const token = /Unexpected token '?(.)'?/u.exec(message)?.[1];
  if (token === undefined) return text.length;
  for (let end = text.indexOf(token); end >= 0; end = text.indexOf(token, end + 1)) {
    if (isWrongBefore(text.slice(0, end + 1))) return end;
  }
  return text.length;
}

/** Whether no continuation of a beginning is valid JSON. */
function isWrongBefore(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return false;
  } catch (cause) {
    return !/end of JSON|Unterminated|Expected/.test((cause as Error).message);
  }
}

export function describeMistake({ line, column, message }: JsonMistake): string {
  return `Invalid JSON at line ${line}, column ${column}: ${message}`;
}
