import { AppError } from '../../shared/app-error.ts';
import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import type { RecordLevel } from '../../shared/contract/common.ts';
import type { Usage } from '../../shared/contract/completions.ts';
import type { RunModeration } from '../../shared/contract/moderation.ts';
import type { RunGuard } from '../completions/guard.ts';
import type { ExchangeLog } from '../provider-exchanges/exchange-log.ts';
import { hasSecret, redactText } from '../provider-exchanges/redact.ts';
import type { ModelPrices } from '../providers/model-prices.ts';
import type { RunOutcome, UnreadOutcome } from '../storage/run-rows.ts';
import {
  type CallFailure,
  creditsOf,
  failureIn,
  isSuccess,
  outcomeOf,
  readUnread,
  unreadableResponse,
} from './call-outcome.ts';
import type { CallReader } from './create-call-reader.ts';
import type { CallObserver, PassedHead } from './passed-call.ts';
import type { CallApi } from './read-request.ts';
import { noResponse, type RecordedResponse, withoutSecrets } from './recorded-response.ts';
import type { ResponseBody } from './response-body.ts';
import { charsetOf, isPlainCharset } from './sent-texts.ts';

/** How long the end of a response waits for the record, which usually takes milliseconds. A disk that hangs must not stop a program. */
const maxWaitMilliseconds = 5000;

/** What a call used. */
export interface CallUse {
  readonly credits: number;
  readonly usage: Usage | null;
}

export interface CallRecordOptions {
  readonly runId: string;
  /** When the call was sent, by the clock of `performance`. */
  readonly sentAt: number;
  readonly api: CallApi;
  readonly level: Exclude<RecordLevel, 'none'>;
  readonly rules: readonly RedactionRule[];
  /** The keys that went to the provider, which may repeat them. */
  readonly secrets: readonly string[];
  readonly reader: Pick<CallReader, 'response'>;
  /** Writes the outcome. */
  readonly finish: (outcome: RunOutcome) => Promise<void>;
  /** Puts a response into the journal that `read` reads a moment later. Returns false if it must be read first. */
  readonly finishUnread: (unread: UnreadOutcome, read: () => RunOutcome) => boolean;
  readonly guard: RunGuard | null;
  /** Whether the guard checks answers. */
  readonly isChecked: boolean;
  /** Whether the program gets the response only after the guard's verdict on all of it. */
  readonly isJudged: boolean;
  readonly exchanges: ExchangeLog | null;
  /** Aborts when the program leaves. */
  readonly signal: AbortSignal;
  /** Null if a price is unknown. */
  readonly prices: ModelPrices | null;
  readonly charge: (use: CallUse) => void;
  /** Called with a complete response when the program has all of it, even if the call could not be written. */
  readonly onResponse: (response: RecordedResponse) => void;
  /** Called with how often each rule replaced something. */
  readonly onHidden: (hidden: readonly number[]) => void;
  readonly onFailure: (error: unknown) => void;
  /** Whether the program must not get the end of a response that isn't recorded. */
  readonly mustRecord: boolean;
}

const unchecked = () =>
  new AppError(
    'invalid_request',
    'The guard blocked the response because it could not be checked: it is too large, its encoding is unknown, or it is no valid JSON.',
  );

const blocked = () =>
  new AppError(
    'invalid_request',
    'The guard blocked the response. Rephrase the prompt, or change the guard on the Moderation screen.',
  );

/** What remains of an answer that the program doesn't get. */
const nothing = { content: '', reasoning: '', toolCalls: [] };

/** Whether a body begins with a field or a comment of an event. */
const beginsAsEvents = (first: Uint8Array): boolean =>
  /^(?:event|data|id|retry)?:/.test(Buffer.from(first.subarray(0, 8)).toString('latin1'));

/** Records one call beside its program. */
export class CallRecord implements CallObserver {
  readonly #options: CallRecordOptions;
  #head: PassedHead | null = null;
  #body: ResponseBody | null = null;
  #firstByteMs: number | null = null;
  #ended: Promise<void> | null = null;
  readonly #verdict = Promise.withResolvers<void>();

  constructor(options: CallRecordOptions) {
    this.#options = options;
    this.#verdict.promise.catch(() => undefined);
  }

  begin(head: PassedHead): void {
    this.#head = { ...head, statusText: redactText(head.statusText, this.#options.secrets) };
  }

  /** Some servers send events under another type, such as `text/plain`. */
  #open(first: Uint8Array): ResponseBody {
    const { reader, api, rules, isChecked } = this.#options;
    const { headers = {} } = this.#head ?? {};
    const type = String(headers['content-type'] ?? '').toLowerCase();
    const isStream = type.startsWith('text/event-stream') || (!type.includes('json') && beginsAsEvents(first));
    const encoding = String(headers['content-encoding'] ?? '');
    return reader.response({ api, rules, isJudged: isChecked, encoding, isStream });
  }

  take(chunk: Uint8Array): void {
    // What comes after the end belongs to no frame, and the body may be in the thread that reads it.
    if (this.#ended !== null) return;
    const atMs = performance.now() - this.#options.sentAt;
    this.#firstByteMs ??= atMs;
    this.#body ??= this.#open(chunk);
    this.#body.append(chunk, atMs);
    // Nothing reads the rest.
    if (this.isJudged && this.#isCut) this.#verdict.reject(unchecked());
  }

  /** Whether the guard judges the whole response before the program gets it. */
  get isJudged(): boolean {
    return this.#options.isJudged;
  }

  /** Resolves if the program may get the response. */
  get verdict(): Promise<void> {
    return this.#verdict.promise;
  }

  async end(): Promise<void> {
    const written = this.#finish(null);
    if (this.#options.mustRecord || this.isJudged) return written;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxWaitMilliseconds);
    await Promise.race([written, promise]);
    clearTimeout(timer);
  }

  /**
   * Ends the call without reading the response, which takes longer than writing it to the journal. It is read when the program has it.
   * Returns false for a response that must be read first.
   */
  endAtOnce(): boolean {
    if (this.#ended !== null) return false;
    const { api, level, rules, secrets, guard, mustRecord, prices, sentAt, finishUnread } = this.#options;
    // The journal must not have a text that isn't recorded.
    if (level !== 'all' || rules.length > 0 || guard !== null || mustRecord) return false;
    const body = this.#body?.short ?? null;
    if (this.#head === null || body === null) return false;
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
    if (hasSecret(bytes, secrets)) return false;
    const { status, statusText } = this.#head;
    const unread = {
      api,
      httpStatus: status,
      statusText,
      firstTokenMs: this.#firstByteMs,
      totalMs: performance.now() - sentAt,
      completedAt: Date.now(),
      prices,
      body: bytes.toString('latin1'),
    };
    if (!finishUnread(unread, () => this.#readUnread(unread, body))) return false;
    this.#ended = Promise.resolve();
    return true;
  }

  /** Never throws. */
  #readUnread(unread: UnreadOutcome, body: Uint8Array): RunOutcome {
    const { runId, secrets, exchanges, charge, onFailure } = this.#options;
    const { response, outcome } = readUnread(unread, body, secrets, onFailure);
    charge({ credits: outcome.credits, usage: response.usage });
    if (outcome.error === null) this.#noteResponse(response);
    exchanges?.store(runId);
    return outcome;
  }

  async fail(reason: Error): Promise<void> {
    try {
      await this.#finish(reason);
    } catch {
      // The response breaks in any case.
    }
  }

  /** Writes the call once. Rejects only if the program must not get the end of an unrecorded response. */
  #finish(reason: Error | null): Promise<void> {
    this.#ended ??= this.#tryWrite(reason);
    return this.#ended;
  }

  async #tryWrite(reason: Error | null): Promise<void> {
    try {
      await this.#write(reason);
    } catch (failure) {
      this.#options.onFailure(failure);
      if (this.#options.mustRecord) throw failure;
    }
  }

  async #write(reason: Error | null): Promise<void> {
    const { runId, level, finish, guard, exchanges, charge, signal, onFailure, mustRecord } = this.#options;
    const { prices, sentAt } = this.#options;
    let unreadable: Error | null = null;
    const unread = (error: Error): RecordedResponse => {
      unreadable = error;
      return unreadableResponse(error);
    };
    const times = { firstTokenMs: this.#firstByteMs, totalMs: performance.now() - sentAt };
    const isCancelled = reason !== null && signal.aborted;
    const response = await this.#judge(await this.#read().catch(unread));
    const failure = isCancelled ? null : this.#failureOf(response, reason);
    this.#options.onHidden(response.hidden);
    const known = { level, prices, httpStatus: this.#head?.status ?? null, ...times };
    charge({ credits: creditsOf(known), usage: response.usage });
    const moderation = level === 'all' && guard ? await this.#findings(guard, response) : null;
    const end = { ...known, completedAt: Date.now(), isCancelled, failure, moderation };
    try {
      await finish(outcomeOf(response, end));
    } finally {
      // The program gets the end of the response first. Its next call can't be here before the tick. A full disk writes the run later.
      if (failure === null && !isCancelled) process.nextTick(() => this.#noteResponse(response));
    }
    if (level === 'all') exchanges?.store(runId);
    if (unreadable === null) return;
    if (mustRecord) throw unreadable as Error;
    onFailure(unreadable);
  }

  #noteResponse(response: RecordedResponse): void {
    const { onResponse, onFailure } = this.#options;
    try {
      onResponse(response);
    } catch (error) {
      onFailure(error);
    }
  }

  /** What the guard found. A withheld text is recorded as answers are. */
  async #findings(guard: RunGuard, { judged, withheld }: RecordedResponse): Promise<RunModeration> {
    const { prompt, answer } = await guard.findings(judged ?? '');
    return { prompt, answer: answer && { ...answer, withheld: answer.withheld === null ? null : withheld } };
  }

  /** What the guard leaves of a response. */
  async #judge(response: RecordedResponse): Promise<RecordedResponse> {
    const { guard, isJudged } = this.#options;
    if (!guard || !isJudged || !this.#isSuccess) {
      this.#verdict.resolve();
      return response;
    }
    const isOtherText = !isPlainCharset(charsetOf(String(this.#head?.headers['content-type'] ?? '')));
    if (response.isUnread || response.isPartial || this.#isCut || isOtherText) {
      this.#verdict.reject(unchecked());
      return { ...response, ...nothing, error: unchecked().message };
    }
    try {
      const { finishReason } = response;
      const judged = await guard.judge({ content: response.judged ?? '', finishReason });
      const isBlocked = judged.finishReason === 'ContentFilter' && finishReason !== 'ContentFilter';
      if (!isBlocked) {
        this.#verdict.resolve();
        return response;
      }
      this.#verdict.reject(blocked());
      return { ...response, ...nothing, finishReason: 'ContentFilter' };
    } catch (error) {
      this.#verdict.reject(error);
      return { ...response, ...nothing, error: error instanceof Error ? error.message : String(error) };
    }
  }

  get #isSuccess(): boolean {
    return isSuccess(this.#head?.status ?? null);
  }

  get #isCut(): boolean {
    return this.#body?.isCut ?? false;
  }

  async #read(): Promise<RecordedResponse> {
    return withoutSecrets((await this.#body?.end()) ?? noResponse, this.#options.secrets);
  }

  #failureOf(response: RecordedResponse, reason: Error | null): CallFailure | null {
    const isUnchecked = this.isJudged && this.#isCut;
    if (this.#head !== null && (reason === null || isUnchecked)) return failureIn(response, this.#head, this.#isCut);
    const start = this.#head === null ? "The provider's response never came" : "The provider's response broke off";
    return { code: 'provider_failed', message: `${start}: ${reason?.message ?? 'no reason given'}` };
  }
}

/** A call of which nothing is recorded. It still costs a credit. */
export class UnrecordedCall implements CallObserver {
  readonly #charge: (use: CallUse) => void;
  #isSuccess = false;
  #isCharged = false;

  constructor(charge: (use: CallUse) => void) {
    this.#charge = charge;
  }

  begin({ status }: PassedHead): void {
    this.#isSuccess = status >= 200 && status < 300;
  }

  take(): void {}

  endAtOnce(): boolean {
    if (!this.#isCharged) this.#charge({ credits: this.#isSuccess ? 1 : 0, usage: null });
    this.#isCharged = true;
    return true;
  }

  async end(): Promise<void> {
    this.endAtOnce();
  }

  fail(): Promise<void> {
    return this.end();
  }
}
