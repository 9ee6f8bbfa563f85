/** A part of a text, as JavaScript counts characters. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Finds places from left to right that do not overlap. Takes time in proportion to the text, whatever is in it. */
export type Finder = (text: string) => Place[];

/**
 * Goes through what an expression finds; `accept` returns the part that counts, or null, and then the search goes on one
 * character further, because what was refused may hide something behind its beginning.
 */
export function findWith(expression: RegExp, accept: (match: RegExpExecArray) => Place | null): Finder {
  return (text) => {
    const places: Place[] = [];
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const place = accept(match);
      expression.lastIndex = place?.end ?? match.index + 1;
      if (place !== null) places.push(place);
    }
    return places;
  };
}

export function whole(match: RegExpExecArray): Place {
  return { start: match.index, end: match.index + match[0].length };
}
