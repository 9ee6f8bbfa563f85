import type { RawHeaders, ResponseFlow, ResponseHeaders, ResponseReceiver } from '../providers/response-receiver.ts';
import { maxRecordedBytes } from './recorded-response.ts';
import type { CallApi } from './read-request.ts';
import { EventEnd, LastEvent } from './stream-end.ts';

/** The head of a provider's response. */
export interface PassedHead {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: ResponseHeaders;
  /** Names and values in turn, as they came. */
  readonly raw: RawHeaders;
}

/** Gets the response for the program. */
export interface PassedSink {
  /** Returns whether there is room for more. */
  write(chunk: Uint8Array): boolean;
  end(): void;
  /** The provider's connection broke. */
  fail(error: Error): void;
  /** The call must be recorded and can't be. */
  reject(error: Error): void;
}

/** Reads a response beside the program. It never throws. */
export interface CallObserver {
  begin(head: PassedHead): void;
  /** The chunk is only valid during the call. */
  take(chunk: Uint8Array): void;
  /** Ends the call if that needs no waiting, as `end` does. Returns whether it did. */
  endAtOnce(): boolean;
  /** Resolves when the call is on disk. Rejects if the program must not get the end of a response that isn't. */
  end(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Bytes that may wait for the program, or for the record of the call. */
const maxWaitingBytes = 1_048_576;
/** More than a record reads, so that the guard sees that a response is longer. */
const maxCollectedBytes = maxRecordedBytes + 1;

const joined = (chunks: readonly Uint8Array[]): Uint8Array =>
  chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);

/**
 * One response on its way from the provider to the program. Every chunk is passed on as it comes; only the end waits until the call is
 * on disk, so that a program that has its response also finds it in the audit.
 */
export class PassedCall implements ResponseReceiver {
  readonly #head = Promise.withResolvers<PassedHead>();
  readonly #whole = Promise.withResolvers<void>();
  readonly #observer: CallObserver;
  readonly #lastEvent: LastEvent;
  readonly #maxWaitingBytes: number;
  #flow: ResponseFlow | null = null;
  #sink: PassedSink | null = null;
  /** Of the current read of the socket, which has one for each chunk of the provider's encoding: often one for each event. */
  #arrived: Uint8Array[] = [];
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #missingBytes = Number.POSITIVE_INFINITY;
  #isFull = false;
  /** The end of the response, from what programs take for it; null before. It waits for the record. */
  #end: Uint8Array[] | null = null;
  /** Of the last event, which the record needs whole; null if the record doesn't read it. */
  readonly #eventEnd: EventEnd | null;
  /** The record has all that it reads. */
  #isEnding = false;
  #isRecording = false;
  #isRecorded = false;
  #hasEnded = false;
  /** The program has the end, or the break. */
  #isClosed = false;
  #failure: Error | null = null;
  #rejection: Error | null = null;

  /** With `isCollected`, all of the response waits here before a program is connected. */
  constructor(api: CallApi | null, observer: CallObserver, isCollected = false) {
    this.#observer = observer;
    this.#maxWaitingBytes = isCollected ? maxCollectedBytes : maxWaitingBytes;
    this.#lastEvent = new LastEvent(api);
    this.#eventEnd = api === 'openai-chat' ? null : new EventEnd();
    this.#head.promise.catch(() => {});
    this.#whole.promise.catch(() => {});
  }

  /** Resolves at the provider's head. Rejects if there is none. */
  get head(): Promise<PassedHead> {
    return this.#head.promise;
  }

  /** Resolves when all of the response has arrived and is recorded. */
  get whole(): Promise<void> {
    return this.#whole.promise;
  }

  begin(status: number, statusText: string, headers: ResponseHeaders, flow: ResponseFlow, raw: RawHeaders): void {
    this.#flow = flow;
    const length = headers['content-length'];
    if (typeof length === 'string' && /^\d+$/.test(length)) this.#missingBytes = Number(length);
    const head = { status, statusText, headers, raw };
    this.#observer.begin(head);
    this.#head.resolve(head);
  }

  take(chunk: Uint8Array): boolean {
    if (this.#arrived.push(chunk) === 1) process.nextTick(() => this.#takeArrived());
    this.#waitingBytes += chunk.length;
    // The last event of a response with images has megabytes, and the record needs all of it.
    const max = this.#end && !this.#isEnding ? maxCollectedBytes : this.#maxWaitingBytes;
    return !this.#isFull && this.#waitingBytes < max;
  }

  /** Takes all chunks of one read of the socket together: the steps below cost more for each chunk than for its bytes. */
  #takeArrived(): void {
    if (this.#arrived.length === 0) return;
    const chunk = joined(this.#arrived.splice(0));
    this.#observer.take(chunk);
    this.#missingBytes -= chunk.length;
    if (this.#end && !this.#isRecorded) return this.#hold(chunk);
    const index = this.#end ? chunk.length : this.#endIn(chunk);
    if (index > 0) this.#waiting.push(index === chunk.length ? chunk : chunk.subarray(0, index));
    if (index < chunk.length) this.#hold(index === 0 ? chunk : chunk.subarray(index));
    this.#flush();
  }

  end(): void {
    this.#takeArrived();
    this.#hasEnded = true;
    if (!this.#isEnding) this.#record();
    else if (this.#isRecorded) this.#flush();
  }

  fail(reason: Error): void {
    this.#takeArrived();
    this.#head.reject(reason);
    void this.#break(reason);
  }

  /** Connects the program. What has arrived so far goes to it at once. */
  connect(sink: PassedSink): void {
    this.#sink = sink;
    this.#flush();
    this.#flow?.resume();
  }

  /** The program has read what it had. */
  resume(): void {
    this.#isFull = false;
    this.#flow?.resume();
  }

  /** The program left. */
  cancel(): void {
    this.#flow?.cancel();
  }

  /** What has arrived belongs to the program, and so does the break. */
  async #break(reason: Error): Promise<void> {
    this.#recordNow();
    await this.#observer.fail(reason);
    this.#failure = reason;
    this.#waiting.push(...(this.#end?.splice(0) ?? []));
    this.#flush();
    this.#whole.reject(reason);
  }

  /** Where the end of the response begins in a chunk; the chunk's length if it doesn't. */
  #endIn(chunk: Uint8Array): number {
    const start = this.#lastEvent.startIn(chunk);
    return start === chunk.length && this.#missingBytes <= 0 ? 0 : start;
  }

  #hold(chunk: Uint8Array): void {
    (this.#end ??= []).push(chunk);
    if (this.#isEnding) return;
    const isWhole = this.#missingBytes <= 0 || (this.#eventEnd?.isIn(chunk) ?? true);
    if (isWhole || this.#waitingBytes >= maxCollectedBytes) this.#record();
  }

  /** Passes on the end when the call is on disk. If that takes a while, what the program gets at once is written first, which it reads meanwhile. */
  #record(): void {
    this.#isEnding = true;
    this.#end ??= [];
    if (this.#observer.endAtOnce()) {
      this.#isRecording = true;
      this.#passEnd();
    } else queueMicrotask(() => process.nextTick(() => this.#recordNow()));
  }

  #recordNow(): void {
    if (!this.#isEnding || this.#isRecording) return;
    this.#isRecording = true;
    this.#observer.end().then(
      () => this.#passEnd(),
      (error: Error) => {
        this.#whole.reject(error);
        this.#rejection = error;
        this.#flush();
        this.#flow?.cancel();
      },
    );
  }

  #passEnd(): void {
    this.#isRecorded = true;
    this.#waiting.push(...this.#end!.splice(0));
    this.#flush();
    if (this.#hasEnded) this.#whole.resolve();
    else this.#flow?.resume();
  }

  #flush(): void {
    if (this.#sink === null || this.#isClosed) return;
    if (this.#rejection === null) this.#write(this.#waiting.splice(0));
    // A program that reads at once resumes the provider, whose end can come before `write` returns.
    if (this.#isClosed) return;
    this.#isClosed = this.#rejection !== null || this.#failure !== null || (this.#hasEnded && this.#isRecorded);
    if (this.#rejection) this.#sink.reject(this.#rejection);
    else if (this.#failure) this.#sink.fail(this.#failure);
    else if (this.#isClosed) {
      this.#sink.end();
      this.#whole.resolve();
    }
  }

  #write(chunks: readonly Uint8Array[]): void {
    if (chunks.length === 0) return;
    const bytes = joined(chunks);
    this.#waitingBytes -= bytes.length;
    if (!this.#sink!.write(bytes)) this.#isFull = true;
  }
}
