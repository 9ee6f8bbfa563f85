import { type CallOptions, createWorkerClient, startThread, type WorkerClient } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { CallMethods } from './call-worker.ts';
import { type CheckedRequest, readCheckedRequest } from './check-prompt.ts';
import { maxOwnCallBytes, mayBeOwnCall, type OwnCall, type OwnCallInput, readOwnCall } from './own-call.ts';
import { type ReadRequest, readPassedRequest, type RequestInput } from './read-call.ts';
import { readPassedResponse, type ResponseForm, type ResponseInput } from './recorded-response.ts';
import { ArrivingBody, type ResponseBody, type StreamReader } from './response-body.ts';

/** Longer bodies are read in a thread: a megabyte takes tens of milliseconds. */
const maxBytesHere = 131_072;
/** Rules are searched for in every text. */
const maxRedactedBytesHere = 8192;

/** The guard reads every text. */
const maxCheckedBytesHere = 32_768;

const maxThreads = 3;
/** A thread doesn't give back the memory that a longer body took. The next call starts it again. */
const maxReusableBytes = 8 * 1_048_576;
/** The longest body that a program may send takes a few seconds. */
const timeLimitMs = 30_000;

interface ReadingThread {
  readonly client: WorkerClient<CallMethods>;
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

/** Reads requests and responses for the record. */
export interface CallReader {
  request(input: RequestInput): ReadRequest | Promise<ReadRequest>;
  /** What the guard checks of a request. */
  checked(input: RequestInput): CheckedRequest | Promise<CheckedRequest>;
  /** A call of a model that Touchstone runs; null for others. Throws as `readOwnCall` does. */
  ownCall(input: OwnCallInput): OwnCall | null | Promise<OwnCall | null>;
  /** The body of a response that begins to arrive. */
  response(form: ResponseForm): ResponseBody;
  /** Ends the threads. What they read, and every later call with a long body, rejects. */
  close(): Promise<void>;
}

const closing = () => new Error('The host is closing.');

export function createCallReader(): CallReader {
  const threads: ReadingThread[] = [];
  let isClosed = false;
  let lastStream = 0;

  /** A thread that reads nothing else if there is one: a long body takes seconds, and a hostile one ends its thread. */
  function reserve(bytes: number): ReadingThread {
    let thread = threads.find((each) => each.bytes === 0);
    if (!thread && threads.length < maxThreads) threads.push((thread = startReading()));
    thread ??= threads.toSorted((one, other) => one.bytes - other.bytes)[0]!;
    thread.bytes += bytes + 1;
    return thread;
  }

  async function inThread<Result>(bytes: number, read: (client: ReadingThread['client']) => Promise<Result>) {
    // A call of a terminated thread would start it again.
    if (isClosed) throw closing();
    const thread = reserve(bytes);
    try {
      return await read(thread.client);
    } finally {
      thread.bytes -= bytes + 1;
      if (bytes > maxReusableBytes && thread.bytes === 0)
        void thread.client.terminate(new Error('It had a large body.'));
    }
  }

  /** Sends a stream to one thread, in parts. After a failure nothing more is sent, because that would start the thread again. */
  function openStream(form: ResponseForm): StreamReader {
    const stream = (lastStream += 1);
    const thread = reserve(0);
    const { client } = thread;
    let bytes = 1;
    let failure: Error | null = null;
    const send = (start: () => Promise<void>) => {
      if (failure === null && !isClosed) start().catch((error: Error) => (failure = error));
    };
    send(() => client.call('openStream', { stream, form }, { timeLimitMs }));
    return {
      add(part) {
        bytes += part.bytes.length;
        thread.bytes += part.bytes.length;
        const transfer = [part.bytes.buffer as ArrayBuffer];
        send(() => client.call('addToStream', { stream, ...part }, { transfer, timeLimitMs }));
      },
      async end(part, isCut) {
        try {
          if (failure !== null || isClosed) throw failure ?? closing();
          const transfer = [part.bytes.buffer as ArrayBuffer];
          return await client.call('endStream', { stream, ...part, isCut }, { transfer, timeLimitMs });
        } finally {
          thread.bytes -= bytes;
        }
      },
    };
  }

  const isShort = ({ body, rules }: RequestInput | ResponseInput, isPlain: boolean) =>
    isPlain &&
    body.length <= (rules.length === 0 ? maxBytesHere : maxRedactedBytesHere) &&
    // Some patterns take a hundred times as long as the rules of our own.
    rules.every(({ kind }) => kind !== 'pattern');
  type Client = ReadingThread['client'];
  const readWhole = (input: ResponseInput) =>
    isShort(input, input.encoding === '' && (!input.isJudged || input.body.length <= maxCheckedBytesHere))
      ? readPassedResponse(input)
      : inThread(input.body.length, (client) => {
          const [whole, options] = handedOver(input);
          return client.call('readPassedResponse', whole, { ...options, timeLimitMs });
        });
  const inThreadCopied = <Input extends { readonly body: Uint8Array }, Result>(
    input: Input,
    read: (client: Client, input: Input, options: CallOptions) => Promise<Result>,
  ) =>
    inThread(input.body.length, (client) => {
      // The original goes to the provider.
      const body = new Uint8Array(input.body);
      return read(client, { ...input, body }, { transfer: [body.buffer], timeLimitMs });
    });
  return {
    request: (input) =>
      isShort(input, true)
        ? readPassedRequest(input)
        : inThreadCopied(input, (client, ...call) => client.call('readPassedRequest', ...call)),
    checked: (input) =>
      isShort(input, input.body.length <= maxCheckedBytesHere)
        ? readCheckedRequest(input)
        : inThreadCopied(input, (client, ...call) => client.call('readCheckedRequest', ...call)),
    ownCall(input) {
      if (!mayBeOwnCall(input)) return null;
      return input.encoding === '' && input.body.length <= maxOwnCallBytes
        ? readOwnCall(input)
        : inThreadCopied(input, (client, ...call) => client.call('readOwnCall', ...call));
    },
    response: (form) => new ArrivingBody(form, { readWhole, openStream }),
    async close() {
      isClosed = true;
      await Promise.all(threads.map(({ client }) => client.terminate(closing())));
    },
  };
}

/** A long body has a buffer of its own, which needs no copy. */
function handedOver(input: ResponseInput): [ResponseInput, CallOptions] {
  if (input.body.length <= maxBytesHere) return [{ ...input, body: copyOf(input.body) }, {}];
  return [input, { transfer: [input.body.buffer as ArrayBuffer] }];
}

/** Cloning a slice of a pool would clone the whole pool. */
function copyOf(body: Uint8Array): Uint8Array {
  return body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
}
