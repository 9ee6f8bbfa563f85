import { initialCredit } from '../../shared/port-frames.ts';

/** A request's body that comes over the port in pieces. */
export interface IncomingBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  push(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
}

/** `onTaken` gets the bytes that the reader has taken, so that the window may send as many more; nothing after the reader left. */
export function createIncomingBody(onTaken: (bytes: number) => void): IncomingBody {
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  let isOpen = true;
  let [received, told] = [0, 0];

  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(given) {
        controller = given;
      },
      // Called after every read: what is no longer in the queue was taken.
      pull() {
        const taken = received - (initialCredit - controller.desiredSize!);
        if (taken > told) onTaken(taken - told);
        told = Math.max(told, taken);
      },
      cancel() {
        isOpen = false;
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: initialCredit }),
  );

  return {
    stream,
    push(bytes) {
      if (!isOpen) return;
      received += bytes.byteLength;
      controller.enqueue(bytes as Uint8Array<ArrayBuffer>);
    },
    end() {
      if (isOpen) controller.close();
      isOpen = false;
    },
    fail(error) {
      if (isOpen) controller.error(error);
      isOpen = false;
    },
  };
}
