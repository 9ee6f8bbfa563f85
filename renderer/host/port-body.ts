/** The body of one answer that comes over the port in pieces. */
export interface PortBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  push(bytes: Uint8Array): void;
  end(): void;
  /** Pieces that came before are read first. */
  fail(error: unknown): void;
}

/**
 * A readable stream with a queue of its own: the stream's own queue counts what it has asked for as taken, while credit may
 * only go back for what a reader really took. `onTaken` gets these bytes; `onCancel` is called when the reader leaves.
 */
export function createPortBody(observer: { onTaken(bytes: number): void; onCancel(): void }): PortBody {
  const queue: Uint8Array<ArrayBuffer>[] = [];
  let ending: { readonly error?: unknown } | null = null;
  let wake: (() => void) | null = null;
  let isCancelled = false;

  function settle(change: { readonly error?: unknown }): void {
    ending ??= change;
    wake?.();
  }

  async function deliver(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    while (queue.length === 0 && !ending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
    if (isCancelled) return;
    const bytes = queue.shift();
    if (bytes) {
      controller.enqueue(bytes);
      observer.onTaken(bytes.byteLength);
    } else if (ending && 'error' in ending) controller.error(ending.error);
    else controller.close();
  }

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: deliver,
      cancel() {
        isCancelled = true;
        queue.length = 0;
        settle({});
        observer.onCancel();
      },
    },
    { highWaterMark: 0 },
  );

  return {
    stream,
    push(bytes) {
      if (ending) return;
      queue.push(bytes as Uint8Array<ArrayBuffer>);
      wake?.();
    },
    end: () => settle({}),
    fail: (error) => settle({ error }),
  };
}
