/** The smallest part that a passage is put together from: a heading, a sentence or a line, or a whole block that fits. */
export interface Unit {
  readonly kind: 'heading' | 'prose' | 'lines';
  /** Place in the whole text. */
  readonly start: number;
  readonly text: string;
  readonly tokens: number;
  /** The headings above it. */
  readonly heading: string | null;
  readonly headingTokens: number;
}

export interface PassageLimit {
  readonly characters: number;
  /** Of the passage together with the headings above it. */
  readonly tokens: number;
}

/**
 * Most passages end near this: long enough to say something, short enough to be cited, and whole for the embeddings in languages that
 * have a token for every three letters, such as German. Sources that were cut otherwise stay as they are until they are indexed again.
 */
export const target: PassageLimit = { characters: 700, tokens: 190 };

/** What belongs together (a table, code, a short end) may go this far; the embeddings read 256 tokens, two of them their own. */
export const most: PassageLimit = { characters: 950, tokens: 252 };

/** Which part of a passage so much text takes, above 1 when it is too much. */
export function fillOf(characters: number, tokens: number, headingTokens: number, limit: PassageLimit): number {
  return Math.max(characters / limit.characters, tokens / (limit.tokens - headingTokens));
}

export function endOf(unit: Unit): number {
  return unit.start + unit.text.length;
}

export function tokensOf(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.tokens, 0);
}
