import { type CallOptions, createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { CallMethods } from './call-worker.ts';
import {
  type ReadRequest,
  readPassedRequest,
  readPassedResponse,
  type RecordedResponse,
  type RequestInput,
  type ResponseInput,
} from './read-call.ts';

/** Longer bodies are read in a thread: a megabyte takes tens of milliseconds. */
const maxBytesHere = 131_072;
/** Rules are searched for in every text. */
const maxRedactedBytesHere = 8192;

/** Reads requests and responses for the record. */
export interface CallReader {
  request(input: RequestInput): ReadRequest | Promise<ReadRequest>;
  /** Takes the buffer of a long body. */
  response(input: ResponseInput): RecordedResponse | Promise<RecordedResponse>;
  close(): Promise<void>;
}

export function createCallReader(): CallReader {
  const worker = createWorkerClient<CallMethods>({
    name: 'Reading a recorded call',
    start: () => startThread(workerUrl(import.meta.url, 'call-worker'), { maxHeapMegabytes: 1024 }),
  });
  const isShort = ({ body, rules }: RequestInput | ResponseInput, isPlain: boolean) =>
    isPlain &&
    body.length <= (rules.length === 0 ? maxBytesHere : maxRedactedBytesHere) &&
    // Some patterns take a hundred times as long as the rules of our own.
    rules.every(({ kind }) => kind !== 'pattern');
  return {
    request: (input) =>
      isShort(input, true)
        ? readPassedRequest(input)
        : worker.call('readPassedRequest', { ...input, body: copyOf(input.body) }),
    response: (input) =>
      isShort(input, input.encoding === '')
        ? readPassedResponse(input)
        : worker.call('readPassedResponse', ...handedOver(input)),
    close: () => worker.terminate(new Error('The host is closing.')),
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
