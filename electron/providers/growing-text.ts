/** Pieces that are joined at once. */
const maxPieces = 32;

/**
 * A text that grows by short pieces. Added one by one, each piece would stay an object of the heap as long as the text, beside one that joins it to those before.
 * V8 copies both twice, and frames of other streams wait meanwhile.
 */
export class GrowingText {
  #text: string;
  #length: number;
  /** Its room is used again: V8 keeps arrays that grow longer than it needs to. */
  #pieces: string[] | null = null;
  #count = 0;

  constructor(text = '') {
    this.#text = text;
    this.#length = text.length;
  }

  /** In UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    this.#pieces ??= Array.from({ length: maxPieces }, () => '');
    this.#pieces[this.#count] = piece;
    this.#count += 1;
    this.#length += piece.length;
    if (this.#count === maxPieces) this.read();
  }

  read(): string {
    if (this.#count === 0) return this.#text;
    this.#text += this.#pieces!.slice(0, this.#count).join('');
    this.#count = 0;
    return this.#text;
  }
}
