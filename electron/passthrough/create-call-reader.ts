import type { CallOptions } from '../common/worker-client.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import { type CheckedRequest, readCheckedRequest } from './check-prompt.ts';
import { maxOwnCallBytes, mayBeOwnCall, type OwnCall, type OwnCallInput, readOwnCall } from './own-call.ts';
import { type ReadRequest, readPassedRequest, type RequestInput } from './read-call.ts';
import { readPassedResponse, type ResponseForm, type ResponseInput } from './recorded-response.ts';
import { type ReadingClient, ReadingThreads, timeLimitMs } from './reading-threads.ts';
import { ArrivingBody, type ResponseBody } from './response-body.ts';
import type { Redacted, redactOutcome, redactSentTexts, SentTexts } from './redact-run.ts';

/** Longer bodies are read in a thread: a megabyte takes tens of milliseconds. */
const maxBytesHere = 131_072;
/** Rules are searched for in every text. */
const maxRedactedBytesHere = 8192;

/** The guard reads every text. */
const maxCheckedBytesHere = 32_768;

/** Reads requests and responses for the record. */
export interface CallReader {
  request(input: RequestInput): ReadRequest | Promise<ReadRequest>;
  /** What the guard checks of a request. */
  checked(input: RequestInput): CheckedRequest | Promise<CheckedRequest>;
  /** A call of a model that Touchstone runs; null for others. Throws as `readOwnCall` does. */
  ownCall(input: OwnCallInput): OwnCall | null | Promise<OwnCall | null>;
  /** What is recorded of a run, in a thread. */
  redactSentTexts(input: Parameters<typeof redactSentTexts>[0]): Promise<Redacted<SentTexts>>;
  redactOutcome(input: Parameters<typeof redactOutcome>[0]): Promise<Redacted<RunOutcome>>;
  /** The body of a response that begins to arrive. */
  response(form: ResponseForm): ResponseBody;
  /** Ends the threads. What they read, and every later call with a long body, rejects. */
  close(): Promise<void>;
}

export function createCallReader(): CallReader {
  const threads = new ReadingThreads();

  const isShort = ({ body, rules }: RequestInput | ResponseInput, isPlain: boolean) =>
    isPlain &&
    body.length <= (rules.length === 0 ? maxBytesHere : maxRedactedBytesHere) &&
    // Some patterns take a hundred times as long as the rules of our own.
    rules.every(({ kind }) => kind !== 'pattern');
  const readWhole = (input: ResponseInput) =>
    isShort(input, input.encoding === '' && (!input.isJudged || input.body.length <= maxCheckedBytesHere))
      ? readPassedResponse(input)
      : threads.call(input.body.length, (client) => {
          const [whole, options] = handedOver(input);
          return client.call('readPassedResponse', whole, { ...options, timeLimitMs });
        });
  const inThreadCopied = <Input extends { readonly body: Uint8Array }, Result>(
    input: Input,
    read: (client: ReadingClient, input: Input, options: CallOptions) => Promise<Result>,
  ) =>
    threads.call(input.body.length, (client) => {
      // The original goes to the provider.
      const body = new Uint8Array(input.body);
      return read(client, { ...input, body }, { transfer: [body.buffer], timeLimitMs });
    });
  return {
    request: (input) =>
      isShort(input, input.encoding === '')
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
    redactSentTexts: (input) => threads.call(0, (client) => client.call('redactSentTexts', input, { timeLimitMs })),
    redactOutcome: (input) => threads.call(0, (client) => client.call('redactOutcome', input, { timeLimitMs })),
    response: (form) => new ArrivingBody(form, { readWhole, openStream: (each) => threads.openStream(each) }),
    close: () => threads.close(),
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
