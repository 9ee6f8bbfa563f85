export type JsonTokenKind = 'var' | 'str' | 'num' | 'key' | 'punc';

export interface JsonToken {
  kind: JsonTokenKind | null;
  text: string;
}

const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)|([{}[\],:])/g;

/** The coloured pieces of a JSON text; names of fields are told from strings by their colon. */
export function jsonTokens(text: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let last = 0;
  const push = (kind: JsonToken['kind'], piece: string): void => {
    if (piece !== '') tokens.push({ kind, text: piece });
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
