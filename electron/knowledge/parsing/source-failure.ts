/** Why a file can't be read. The message is shown to the user and says what to do, if anything can be done. */
export class SourceFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceFailure';
  }
}

/** Characters of extracted text: twice the largest accepted file, because tables repeat their column names. */
export const maxTextCharacters = 100 * 1024 * 1024;

export function tooMuchText(): SourceFailure {
  const millions = Math.round(maxTextCharacters / 1e6);
  return new SourceFailure(
    `The file unpacks to more than ${millions} million characters of text. Split it into smaller files.`,
  );
}

/**
 * The parser searches its stack of open elements at every closing tag, so time grows with depth. Old pages with unclosed
 * tags reach some thousands.
 */
const maxElementDepth = 15_000;

/** Call it with every start and end tag; throws when the elements are nested too deep. */
export function createDepthLimit(format: string): { open(): void; close(): void } {
  let depth = 0;
  return {
    open() {
      depth += 1;
      if (depth > maxElementDepth) {
        const levels = maxElementDepth.toLocaleString('en');
        throw new SourceFailure(`${format} is nested more than ${levels} levels deep. Simplify it and add it again.`);
      }
    },
    close() {
      depth -= 1;
    },
  };
}
