import { createWorkerClient, startThread, type WorkerClient } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { CallMethods } from './call-worker.ts';
import type { ResponseForm } from './recorded-response.ts';
import type { BodyPart, StreamReader } from './response-body.ts';

const maxThreads = 3;
/** A thread doesn't give back the memory that a longer body took. The next call starts it again. */
const maxReusableBytes = 8 * 1_048_576;
/** The longest body that a program may send takes a few seconds. */
export const timeLimitMs = 30_000;

export type ReadingClient = WorkerClient<CallMethods>;

interface ReadingThread {
  readonly client: ReadingClient;
  /** Of the bodies that it has to read. */
  bytes: number;
}

function startReading(): ReadingThread {
  const client = createWorkerClient<CallMethods>({
    name: 'Reading a recorded call',
    start: () => startThread(workerUrl(import.meta.url, 'call-worker'), { maxHeapMegabytes: 1024 }),
  });
  return { client, bytes: 0 };
}

const closing = () => new Error('The host is closing.');

/** Threads that read long bodies. */
export class ReadingThreads {
  readonly #threads: ReadingThread[] = [];
  #isClosed = false;
  #lastStream = 0;

  /** Calls a thread for a body of so many bytes. Rejects when the threads are closed. */
  async call<Result>(bytes: number, read: (client: ReadingClient) => Promise<Result>): Promise<Result> {
    // A call of a terminated thread would start it again.
    if (this.#isClosed) throw closing();
    const thread = this.#reserve(bytes);
    try {
      return await read(thread.client);
    } finally {
      thread.bytes -= bytes + 1;
      if (bytes > maxReusableBytes && thread.bytes === 0)
        void thread.client.terminate(new Error('It had a large body.'));
    }
  }

  /** Sends a stream to one thread, in parts. After a failure nothing more is sent, because that would start the thread again. */
  openStream(form: ResponseForm): StreamReader {
    const stream = (this.#lastStream += 1);
    const thread = this.#reserve(0);
    const { client } = thread;
    let bytes = 1;
    let failure: Error | null = null;
    const failureNow = () => failure ?? (this.#isClosed ? closing() : null);
    const send = (start: () => Promise<void>) => {
      if (failureNow() === null) start().catch((error: Error) => (failure = error));
    };
    const optionsOf = (part: BodyPart) => ({ transfer: [part.bytes.buffer as ArrayBuffer], timeLimitMs });
    send(() => client.call('openStream', { stream, form }, { timeLimitMs }));
    return {
      add(part) {
        bytes += part.bytes.length;
        thread.bytes += part.bytes.length;
        send(() => client.call('addToStream', { stream, ...part }, optionsOf(part)));
      },
      async end(part, isCut) {
        try {
          const reason = failureNow();
          if (reason) throw reason;
          return await client.call('endStream', { stream, ...part, isCut }, optionsOf(part));
        } finally {
          thread.bytes -= bytes;
        }
      },
    };
  }

  /** Ends the threads. What they read rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map(({ client }) => client.terminate(closing())));
  }

  /** A thread that reads nothing else if there is one: a long body takes seconds, and a hostile one ends its thread. */
  #reserve(bytes: number): ReadingThread {
    let thread = this.#threads.find((each) => each.bytes === 0);
    if (!thread && this.#threads.length < maxThreads) this.#threads.push((thread = startReading()));
    thread ??= this.#threads.toSorted((one, other) => one.bytes - other.bytes)[0]!;
    thread.bytes += bytes + 1;
    return thread;
  }
}
