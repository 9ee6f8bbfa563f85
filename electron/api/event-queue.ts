/** What came and was not read yet, as one value, so that a slow reader costs no memory. */
export interface EventQueue<Value> extends AsyncIterable<Value> {
  push: (value: Value) => void;
  end: () => void;
}

/**
 * Turns callbacks into an async iterable. What comes while the reader is busy is merged into one value. Ends when told, or when
 * the signal aborts.
 */
export function eventQueue<Value>(options: {
  signal: AbortSignal;
  merge: (pending: Value, next: Value) => Value;
}): EventQueue<Value> {
  let pending: { value: Value } | null = null;
  let isEnded = options.signal.aborted;
  let wake: () => void = () => undefined;

  const end = () => {
    isEnded = true;
    wake();
  };
  options.signal.addEventListener('abort', end, { once: true });

  async function* read(): AsyncGenerator<Value, void, void> {
    for (;;) {
      if (pending !== null) {
        const { value } = pending;
        pending = null;
        yield value;
      } else if (isEnded) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  return {
    push: (value) => {
      pending = { value: pending === null ? value : options.merge(pending.value, value) };
      wake();
    },
    end,
    [Symbol.asyncIterator]: read,
  };
}
