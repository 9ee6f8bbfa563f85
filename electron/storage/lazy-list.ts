/** A list that may be too long to be held: its items are read while somebody goes through it, and anew for everybody who does. */
export class LazyList<Item> implements Iterable<Item> {
  readonly #items: () => Iterator<Item>;

  constructor(items: () => Iterator<Item>) {
    this.#items = items;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items();
  }
}
