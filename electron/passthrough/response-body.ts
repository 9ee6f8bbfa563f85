import { CapturedBytes } from '../provider-exchanges/exchange-log.ts';
import { type ChunkArrivals, ChunkTimes } from './frame-times.ts';
import {
  isPlainStream,
  maxRecordedBytes,
  type RecordedResponse,
  type ResponseForm,
  type ResponseInput,
} from './recorded-response.ts';

/** The body of a response while it arrives. */
export interface ResponseBody {
  /** Copies the chunk. `atMs` is when it arrived. */
  append(chunk: Uint8Array, atMs: number): void;
  /** Whether more arrived than is recorded. */
  readonly isCut: boolean;
  /** What has arrived, if that is short and not compressed, and neither a stream nor the array that Gemini streams; null otherwise. */
  readonly short: Uint8Array | null;
  /** Reads what has arrived. Call it once, and append nothing more. */
  end(): RecordedResponse | Promise<RecordedResponse>;
}

/** A part of a body, with when its chunks arrived. */
export interface BodyPart {
  readonly bytes: Uint8Array;
  readonly arrivals: ChunkArrivals;
}

/** Reads a stream in a thread. */
export interface StreamReader {
  /** Takes the buffer of the part. */
  add(part: BodyPart): void;
  /** Takes the buffer of the last part. Rejects if a part could not be read. */
  end(part: BodyPart, isCut: boolean): Promise<RecordedResponse>;
}

export interface BodyReaders {
  /** Takes the buffer of a long body. */
  readonly readWhole: (input: ResponseInput) => RecordedResponse | Promise<RecordedResponse>;
  readonly openStream: (form: ResponseForm) => StreamReader;
}

/**
 * A longer stream is read while it arrives. At its end, the program waits for the record, which took
 * 70 ms of processor time for 12 MB. Shorter ones don't share a thread for as long as they last.
 */
const maxBytesAtEnd = 1_048_576;
const partBytes = 262_144;

/** Reading 32 of them takes some milliseconds. */
const maxShortBytes = 16_384;
const openingBracket = 91;

export class ArrivingBody implements ResponseBody {
  readonly #form: ResponseForm;
  readonly #readers: BodyReaders;
  #part = new CapturedBytes(maxRecordedBytes);
  #times = new ChunkTimes();
  #stream: StreamReader | null = null;
  #left = maxRecordedBytes;
  #isCut = false;

  constructor(form: ResponseForm, readers: BodyReaders) {
    this.#form = form;
    this.#readers = readers;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get short(): Uint8Array | null {
    const { api, isStream, encoding } = this.#form;
    if (isStream || encoding !== '' || this.#part.size > maxShortBytes) return null;
    const { bytes } = this.#part;
    return api === 'gemini-content' && bytes[0] === openingBracket ? null : bytes;
  }

  append(chunk: Uint8Array, atMs: number): void {
    this.#isCut ||= chunk.length > this.#left;
    let rest = chunk.subarray(0, this.#left);
    this.#left -= rest.length;
    while (rest.length > 0) {
      const taken = rest.subarray(0, this.#room);
      this.#part.append(taken);
      this.#times.add(taken.length, atMs);
      rest = rest.subarray(taken.length);
      if (this.#room === 0) this.#send();
    }
  }

  end(): RecordedResponse | Promise<RecordedResponse> {
    const { bytes, arrivals } = this.#taken();
    if (this.#stream) return this.#stream.end({ bytes, arrivals }, this.#isCut);
    return this.#readers.readWhole({ ...this.#form, body: bytes, arrivals, isCut: this.#isCut });
  }

  /** Bytes until the part is sent. */
  get #room(): number {
    if (!isPlainStream(this.#form)) return Number.POSITIVE_INFINITY;
    return (this.#stream ? partBytes : maxBytesAtEnd) - this.#part.size;
  }

  #send(): void {
    this.#stream ??= this.#readers.openStream(this.#form);
    this.#stream.add(this.#taken());
    this.#part = new CapturedBytes(partBytes, partBytes);
    this.#times = new ChunkTimes();
  }

  #taken(): BodyPart {
    return { bytes: this.#part.bytes, arrivals: this.#times.arrivals };
  }
}
