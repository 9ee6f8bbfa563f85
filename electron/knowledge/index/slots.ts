/**
 * Which source the passage of each slot belongs to; 4 bytes for each. Slots that were freed are given again, so that a library that
 * is indexed over and over does not grow.
 */
export class Slots {
  #sources = new Int32Array(1024);
  /** Freed ones; slots are given from 1 on, as rows of SQLite are. */
  readonly #free: number[] = [];
  #end = 1;
  #count = 0;

  /** How many passages there are. */
  get count(): number {
    return this.#count;
  }

  /** Puts a passage that was stored before into its slot; passages come in the order of their slots. */
  set(slot: number, source: number): void {
    for (let free = this.#end; free < slot; free += 1) this.#free.push(free);
    this.#put(slot, source);
  }

  take(source: number): number {
    const slot = this.#free.pop() ?? this.#end;
    this.#put(slot, source);
    return slot;
  }

  free(slot: number): void {
    this.#sources[slot] = 0;
    this.#free.push(slot);
    this.#count -= 1;
  }

  /** 0 for a slot without a passage. */
  sourceOf(slot: number): number {
    return this.#sources[slot] ?? 0;
  }

  #put(slot: number, source: number): void {
    if (slot >= this.#sources.length) {
      const larger = new Int32Array(slot * 2);
      larger.set(this.#sources);
      this.#sources = larger;
    }
    this.#sources[slot] = source;
    this.#end = Math.max(this.#end, slot + 1);
    this.#count += 1;
  }
}
