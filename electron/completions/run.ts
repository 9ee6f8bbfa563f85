import { AppError } from '../../shared/app-error.ts';
import type { Citation, FinishReason, Usage, Warning } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { RunCost } from '../providers/model-prices.ts';
import { type ToolCallChunk, withCalls } from '../../shared/contract/tools.ts';
import { GrowingText } from '../providers/growing-text.ts';
import type { ModelPart, ModelRequest, ModelToolCall, Provider, RawUsage, TextPart } from '../providers/provider.ts';
import type { ExchangeLog } from '../provider-exchanges/exchange-log.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import type { RunStore } from '../storage/storage.ts';
import type { RunGuard } from './guard.ts';
import { ToolCalls } from './tool-calls.ts';

/** A signal that follows the caller's. `dispose` removes the listener, because the caller's signal can outlive the run. */
function stopSignal(caller: AbortSignal): { signal: AbortSignal; abort: () => void; dispose: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (caller.aborted) abort();
  else caller.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, abort, dispose: () => caller.removeEventListener('abort', abort) };
}

/** Whether a failure is only the result of an abort. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
}

/**
 * Max characters of a streamed answer with its reasoning and tool calls. Far more than any model writes, and far less than the
 * service's memory.
 */
const maxCharacters = 16 * 1_048_576;

/** A request with the passages that ground its answer. */
export interface GroundedRequest {
  readonly request: ModelRequest;
  /** The passages that were sent, in the order of their numbers. */
  readonly citations: readonly Citation[];
  /** The prompt as it is sent. */
  readonly sentPrompt: string;
  /** Its messages; null for a single one. */
  readonly sentMessages: readonly Message[] | null;
  /** The messages with the passages, in every case. A run that called tools can only be continued with them. */
  readonly messages: readonly Message[];
}

/** What a run used. */
export interface RunUse {
  /** 0 if the provider sent nothing. */
  readonly credits: number;
  /** Null if the provider hasn't reported it. */
  readonly usage: Usage | null;
  /** Characters of the answer, the reasoning and the tool calls that arrived. */
  readonly characters: number;
}

/** Everything that a run needs. */
export interface RunPlan {
  readonly runId: string;
  readonly messageId: string;
  readonly conversationId: string;
  readonly servedBy: string;
  readonly warnings: readonly Warning[];
  readonly provider: Provider;
  readonly request: ModelRequest;
  /** Finds passages and adds them to the prompt; null for a request without dataspaces. */
  readonly ground: ((options: { readonly signal: AbortSignal }) => Promise<GroundedRequest>) | null;
  /** The passages that are in the request already; absent if there are none. */
  readonly citations?: readonly Citation[];
  /** The cost of a usage; null if a price is unknown. */
  readonly cost: (usage: Usage, rawUsage: RawUsage | null) => RunCost | null;
  /** Replaces the reservations with the run's usage. */
  readonly charge: (use: RunUse) => void;
  readonly runs: Pick<RunStore, 'finish'>;
  /** Null if the guard is off. */
  readonly guard: RunGuard | null;
  /** Records the calls to the provider; null if they aren't stored. */
  readonly exchanges: ExchangeLog | null;
  /** Called with the error of a run that failed. */
  readonly noteFailure: (error: unknown) => void;
}

/** A complete, recorded answer. */
export interface RunAnswer {
  readonly content: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** Absent if the model called no tool. */
  readonly toolCalls?: readonly ModelToolCall[];
}

/** A delta of the answer. */
export interface RunText {
  readonly type: 'text';
  readonly text: string;
  readonly pieces?: readonly string[];
}

/**
 * A part of a streamed run: `start` when the model begins (perhaps to reason), `text` for each delta of the answer or for several `pieces` that arrived together,
 * `toolCall` for each part of a call, and `end`.
 * The usage is null if the guard ended the answer before the provider reported it.
 */
export type RunPart =
  | { readonly type: 'start' }
  | RunText
  | { readonly type: 'toolCall'; readonly chunk: ToolCallChunk }
  | { readonly type: 'end'; readonly finishReason: FinishReason; readonly usage: Usage | null };

const toRunText = ({ text, pieces }: TextPart): RunText => ({ type: 'text', text, ...(pieces && { pieces }) });

/**
 * One completion, from request to last chunk. Its outcome is always on disk before the caller sees the end.
 * A run is consumed once: by `complete` or by `stream`.
 */
export class Run {
  readonly plan: RunPlan;
  readonly #startedAt = performance.now();
  readonly #stop: ReturnType<typeof stopSignal>;
  readonly #recorded = Promise.withResolvers<void>();
  readonly #reasoningListeners = new Set<(text: string) => void>();
  #content = new GrowingText();
  #reasoning = new GrowingText();
  #firstTokenMs: number | null = null;
  #hasFirstByte = false;
  #isRecorded = false;
  #grounded: GroundedRequest | null = null;
  #toolCalls: ToolCalls | null = null;
  #outcome: RunOutcome | null = null;
  /** What the provider bills, even if the run fails after it was reported. */
  #billed: Pick<RunOutcome, 'usage' | 'rawUsage' | 'cost'> = { usage: null, rawUsage: null, cost: null };

  constructor(plan: RunPlan, signal: AbortSignal) {
    this.plan = plan;
    this.#stop = stopSignal(signal);
  }

  /** The run's credits so far: none before the provider's first byte. */
  get credits(): number {
    return this.#hasFirstByte ? 1 : 0;
  }

  /** The passages that the model got; empty until they are found. */
  get citations(): readonly Citation[] {
    return this.#grounded?.citations ?? this.plan.citations ?? [];
  }

  /** The answer so far. */
  get content(): string {
    return this.#content.read();
  }

  get reasoning(): string {
    return this.#reasoning.read();
  }

  /** What was recorded; null while the run is active. */
  get outcome(): RunOutcome | null {
    return this.#outcome;
  }

  /** Resolves when the outcome is on disk. */
  get recorded(): Promise<void> {
    return this.#recorded.promise;
  }

  /** Aborts the provider's call immediately. */
  stop(): void {
    this.#stop.abort();
  }

  /** Calls back with each delta of reasoning. Returns the unsubscribe function. */
  followReasoning(listener: (text: string) => void): () => void {
    this.#reasoningListeners.add(listener);
    return () => this.#reasoningListeners.delete(listener);
  }

  /** Gets the complete answer in one call. */
  async complete(): Promise<RunAnswer> {
    try {
      const request = this.plan.ground === null ? this.plan.request : await this.#ground(this.plan.ground);
      const whole = await this.plan.provider.generate(request, this.#callOptions());
      this.#noteUsage(whole);
      this.#stop.signal.throwIfAborted();
      this.#noteFirstToken();
      const answer = this.plan.guard === null ? whole : await this.plan.guard.judge(whole);
      this.#content = new GrowingText(answer.content);
      this.#reasoning = new GrowingText(answer.reasoning ?? '');
      if (answer.toolCalls) this.#calls().addAll(answer.toolCalls);
      await this.#recordCompletion(answer.finishReason);
      return answer;
    } catch (error) {
      await this.#recordFailure(error);
      throw error;
    }
  }

  /**
   * Streams the answer. A consumer that stops reading cancels the run. The text that it got is stored. While the consumer waits for the next part, `take` is
   * offered each text. If it returns false, the text is the next part.
   */
  async *stream(take?: (part: RunText) => boolean): AsyncGenerator<RunPart, void, void> {
    try {
      const request = this.plan.ground === null ? this.plan.request : await this.#ground(this.plan.ground);
      const takeText = take && !this.plan.guard && ((part: TextPart) => this.#offer(part, take));
      const parts = this.plan.provider.stream(request, { ...this.#callOptions(), ...(takeText && { takeText }) });
      for await (const part of this.plan.guard?.screen(this.#noteUsageIn(parts)) ?? parts) {
        this.#stop.signal.throwIfAborted();
        if (this.#firstTokenMs === null) {
          this.#noteFirstToken();
          yield { type: 'start' };
        }
        if ('text' in part) this.#requireRoomFor(part.text);
        else if ('name' in part) this.#requireRoomFor(part.name);
        if (part.type === 'reasoning-delta') this.#addReasoning(part.text);
        else if (part.type === 'text-delta') {
          this.#content.add(part.text);
          yield toRunText(part);
        } else if (part.type !== 'finish') {
          const chunk = this.#calls().add(part);
          if (chunk) yield { type: 'toolCall', chunk };
        } else {
          if (part.corrected) {
            this.#content = new GrowingText(part.corrected.content);
            this.#reasoning = new GrowingText(part.corrected.reasoning ?? '');
          }
          this.#noteUsage(part);
          await this.#recordCompletion(part.finishReason);
          yield { type: 'end', finishReason: part.finishReason, usage: part.usage };
          return;
        }
      }
      throw new AppError(
        'provider_failed',
        `${this.plan.servedBy} ended its answer before it was complete. Try again.`,
      );
    } catch (error) {
      await this.#recordFailure(error);
      throw error;
    } finally {
      if (!this.#isRecorded) {
        this.#stop.abort();
        await this.#recordFailure(this.#stop.signal.reason);
      }
    }
  }

  /** The other texts take the usual way, with the failures that it knows. */
  #offer(part: TextPart, take: (part: RunText) => boolean): boolean {
    if (this.#firstTokenMs === null || this.#stop.signal.aborted || !this.#hasRoomFor(part.text)) return false;
    if (!take(toRunText(part))) return false;
    this.#content.add(part.text);
    return true;
  }

  async #ground(ground: NonNullable<RunPlan['ground']>): Promise<ModelRequest> {
    this.#stop.signal.throwIfAborted();
    this.#grounded = await ground({ signal: this.#stop.signal });
    this.#stop.signal.throwIfAborted();
    return this.#grounded.request;
  }

  /** Most answers have no calls. */
  #calls(): ToolCalls {
    return (this.#toolCalls ??= new ToolCalls(this.plan.servedBy));
  }

  /** Characters of everything that arrived. */
  get #characters(): number {
    return this.#content.length + this.#reasoning.length + (this.#toolCalls?.characters ?? 0);
  }

  #callOptions() {
    return {
      signal: this.#stop.signal,
      exchanges: this.plan.exchanges,
      onFirstByte: () => {
        this.#hasFirstByte = true;
      },
    };
  }

  #noteFirstToken(): void {
    this.#firstTokenMs ??= performance.now() - this.#startedAt;
    this.#hasFirstByte = true;
  }

  #hasRoomFor(text: string): boolean {
    return this.#characters + text.length <= maxCharacters;
  }

  #requireRoomFor(text: string): void {
    if (this.#hasRoomFor(text)) return;
    throw new AppError(
      'provider_failed',
      `The answer of ${this.plan.servedBy} was cut off at 16 MB. Set max_tokens or choose another model.`,
    );
  }

  #addReasoning(text: string): void {
    this.#reasoning.add(text);
    for (const listener of this.#reasoningListeners) listener(text);
  }

  #noteUsage({ usage, rawUsage = null }: { usage: Usage | null; rawUsage?: RawUsage | null }): void {
    this.#billed = { usage, rawUsage, cost: usage && this.plan.cost(usage, rawUsage) };
  }

  /** For the guard, which can fail at the last part. */
  async *#noteUsageIn(parts: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart, void, void> {
    for await (const part of parts) {
      if (part.type === 'finish') this.#noteUsage(part);
      yield part;
    }
  }

  async #recordCompletion(finishReason: FinishReason): Promise<void> {
    await this.#record({ status: 'Completed', finishReason, error: null });
  }

  async #recordFailure(error: unknown): Promise<void> {
    if (this.#isRecorded) return;
    if (isAbort(error, this.#stop.signal)) {
      await this.#record({ status: 'Cancelled', finishReason: 'Cancelled', error: null });
      return;
    }
    this.plan.noteFailure(error);
    const failure =
      error instanceof AppError
        ? { code: error.code, message: error.message }
        : { code: 'internal', message: 'Unexpected error in Touchstone. Try again.' };
    await this.#record({ status: 'Failed', finishReason: 'Error', error: failure });
  }

  async #record(end: Pick<RunOutcome, 'status' | 'finishReason' | 'error'>): Promise<void> {
    this.#isRecorded = true;
    this.plan.charge({ credits: this.credits, usage: this.#billed.usage, characters: this.#characters });
    const toolCalls = this.#toolCalls?.list ?? [];
    try {
      const moderation = await this.plan.guard?.findings(withCalls(this.content, toolCalls));
      this.#outcome = {
        ...end,
        ...this.#billed,
        content: this.content,
        reasoning: this.reasoning || null,
        credits: this.credits,
        firstTokenMs: this.#firstTokenMs,
        totalMs: performance.now() - this.#startedAt,
        completedAt: Date.now(),
        citations: this.citations,
        ...(this.#grounded && {
          sentPrompt: this.#grounded.sentPrompt,
          sentMessages: toolCalls.length > 0 ? this.#grounded.messages : this.#grounded.sentMessages,
        }),
        ...(moderation && { moderation }),
        ...(toolCalls.length > 0 && { toolCalls }),
      };
      await this.plan.runs.finish(this.plan.runId, this.#outcome);
      this.plan.exchanges?.store(this.plan.runId);
    } finally {
      this.#stop.dispose();
      this.#recorded.resolve();
    }
  }
}
