/** Why a file cannot be read: its message is a sentence for the person who gave it, and says what to do where something can be done. */
export class SourceFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceFailure';
  }
}

/** Characters of extracted text: twice the largest file that is taken, as tables repeat the names of their columns. */
export const mostTextCharacters = 100 * 1024 * 1024;

export function tooMuchText(): SourceFailure {
  const millions = Math.round(mostTextCharacters / 1e6);
  return new SourceFailure(
    `The file unpacks to more than ${millions} million characters of text. Split it into smaller files.`,
  );
}
