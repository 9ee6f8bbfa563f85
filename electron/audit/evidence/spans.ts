/** A part of a text, as JavaScript counts characters. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds matches from left to right that don't overlap. The time is linear in the length of any text. */
export type Finder = (text: string) => Span[];

/**
 * Finds the matches of an expression. `accept` returns the part that counts, or null to reject a match. Then the search continues one
 * character further, because a match may start inside a rejected one.
 */
export function findWith(expression: RegExp, accept: (match: RegExpExecArray) => Span | null): Finder {
  return (text) => {
    const spans: Span[] = [];
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const span = accept(match);
      expression.lastIndex = span?.end ?? match.index + 1;
      if (span !== null) spans.push(span);
    }
    return spans;
  };
}

export function whole(match: RegExpExecArray): Span {
  return { start: match.index, end: match.index + match[0].length };
}

/** In order, with overlapping spans as one. */
export function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = result.at(-1);
    if (last && span.start < last.end) result[result.length - 1] = { ...last, end: Math.max(last.end, span.end) };
    else result.push(span);
  }
  return result;
}
