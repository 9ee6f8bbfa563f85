/*
 * Collections of what comes and goes with each request. V8's `Map` and `Set` take a new table each time theirs is full, and every table refers to the next one.
 * Once one of them is among the old objects, all later ones stay until the whole heap is marked, with everything that was in them: each call's objects
 * were copied twice and collected late (docs/decisions/gateway-latency.md).
 */

/** Values in any order. */
export class ActiveSet<Value extends object> {
  readonly #values: (Value | null)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  /** Returns the function that removes the value again, which may be called twice. */
  add(value: Value): () => void {
    const index = this.#free.pop() ?? this.#values.length;
    this.#values[index] = value;
    return () => {
      if (this.#values[index] !== value) return;
      this.#values[index] = null;
      this.#free.push(index);
    };
  }

  *[Symbol.iterator](): Generator<Value, void, void> {
    for (const value of this.#values) if (value !== null) yield value;
  }
}

/** Values by their keys, in the order in which the keys were added, like those of a `Map`. A table that stays has the boxes of values that were deleted, empty. */
export class ActiveMap<Value> {
  readonly #boxes = new Map<string, { value: Value | null }>();

  get size(): number {
    return this.#boxes.size;
  }

  /** The key that was added first; null if there is none. */
  get oldest(): string | null {
    return this.#boxes.keys().next().value ?? null;
  }

  get(key: string): Value | undefined {
    return this.#boxes.get(key)?.value ?? undefined;
  }

  has(key: string): boolean {
    return this.#boxes.has(key);
  }

  set(key: string, value: Value): void {
    const present = this.#boxes.get(key);
    if (present) present.value = value;
    else this.#boxes.set(key, { value });
  }

  /** Returns whether there was one. */
  delete(key: string): boolean {
    const box = this.#boxes.get(key);
    if (box) box.value = null;
    return this.#boxes.delete(key);
  }

  /** The present one may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<[string, Value], void, void> {
    for (const [key, { value }] of this.#boxes) yield [key, value as Value];
  }
}
