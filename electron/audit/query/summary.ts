import type { AiSystem } from '../../../shared/contract/common.ts';
import type { AuditBucket, AuditSummary } from '../../../shared/contract/audit.ts';
import type { RunStatus } from '../../../shared/contract/conversations.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { blockOf, blockRuns, forEachBit, intersect, type Bits } from '../index/bits.ts';
import { anyFeedback } from '../index/feedback-index.ts';
import { classOf, Histogram, timeBuckets } from './histogram.ts';
import type { Matches } from './selection.ts';
import type { NumberField, TermField } from '../index/terms.ts';

const maxModels = 20;

class Bucket {
  readonly start: number;
  readonly latency = new Histogram();
  runs = 0;
  failed = 0;
  totalTokens = 0;
  cost = 0;
  runsWithoutCost = 0;
  feedback = 0;
  scored = 0;
  scores = 0;

  constructor(start: number) {
    this.start = start;
  }

  /** The cost is NaN if it is unknown. */
  add(tokens: number, cost: number): void {
    this.runs += 1;
    this.totalTokens += tokens;
    if (Number.isNaN(cost)) this.runsWithoutCost += 1;
    else this.cost += cost;
  }

  addFeedback(score: number | null): void {
    this.feedback += 1;
    if (score === null) return;
    this.scored += 1;
    this.scores += score;
  }

  figures(): AuditBucket {
    return {
      start: new Date(this.start).toISOString(),
      runs: this.runs,
      failed: this.failed,
      totalTokens: this.totalTokens,
      cost: this.cost,
      runsWithoutCost: this.runsWithoutCost,
      p50: this.latency.at(0.5),
      p95: this.latency.at(0.95),
      feedback: { count: this.feedback, averageScore: this.scored === 0 ? null : this.scores / this.scored },
    };
  }
}

const orZero = (number: number): number => (Number.isNaN(number) ? 0 : number);

/** Milliseconds of work between two pauses. */
const sliceMilliseconds = 10;

/**
 * Statistics of all matching runs, at about 200 ns for each. Awaits `pause` between slices of the work. It may throw to stop the work.
 */
export async function summaryOf(
  index: AuditIndex,
  matches: Matches,
  requestedSize: AuditSummary['bucketSize'] | undefined,
  pause: () => Promise<void>,
): Promise<AuditSummary> {
  let sliceStart = performance.now();
  const lastBlock = blockOf(index.timeline.lastRun);
  const blocks: { block: number; bits: Bits }[] = [];
  const pauseIfLong = async () => {
    if (performance.now() - sliceStart < sliceMilliseconds) return;
    await pause();
    sliceStart = performance.now();
  };
  for (let block = 0; block <= lastBlock; block += 1) {
    blocks.push({ block, bits: matches.block(block) });
    await pauseIfLong();
  }
  const span = spanOf(index, blocks);
  const { bucketSize, starts } = span
    ? timeBuckets(...span, requestedSize)
    : { bucketSize: requestedSize ?? 'day', starts: [] };
  const totals = new Totals(index, starts);
  for (const { block, bits } of blocks) {
    totals.add(block, bits);
    await pauseIfLong();
  }
  return { ...totals.figures(), bucketSize };
}

/** The time of the first and the last run; null if there are none. */
function spanOf(
  index: AuditIndex,
  blocks: readonly { block: number; bits: Bits }[],
): [first: number, last: number] | null {
  const { createdAt } = index.timeline;
  let first = Infinity;
  let last = -Infinity;
  for (const { block, bits } of blocks) {
    forEachBit(bits, (offset) => {
      const time = createdAt[block * blockRuns + offset]!;
      if (time < first) first = time;
      if (time > last) last = time;
    });
  }
  return first > last ? null : [first, last];
}

class Totals {
  readonly #index: AuditIndex;
  readonly #buckets: readonly Bucket[];
  readonly #all = new Bucket(0);
  readonly #firstToken = new Histogram();
  readonly #scores = new Map<number, number>();
  readonly #statuses = new Map<string, number>();
  readonly #models = new Map<string, { runs: number; totalTokens: number; cost: number }>();
  readonly #conversations: Uint8Array;
  #conversationCount = 0;
  #promptTokens = 0;
  #completionTokens = 0;
  /** Runs are nearly in the order of time, so the next one is usually in the same bucket. */
  #at = 0;

  constructor(index: AuditIndex, starts: readonly number[]) {
    this.#index = index;
    this.#buckets = starts.map((start) => new Bucket(start));
    this.#conversations = new Uint8Array(index.timeline.lastConversation + 1);
  }

  add(block: number, bits: Bits): void {
    const { timeline, blocks } = this.#index;
    const numbersOf = (field: NumberField) => blocks.numbers(field, block);
    const [latency, firstToken, cost] = [numbersOf('total_ms'), numbersOf('first_token_ms'), numbersOf('cost')];
    const tokens = numbersOf('total_tokens');
    const [promptTokens, completionTokens] = [numbersOf('prompt_tokens'), numbersOf('completion_tokens')];
    const first = block * blockRuns;
    forEachBit(bits, (offset) => {
      const bucket = this.#bucketOf(timeline.createdAt[first + offset]!);
      this.#countConversation(timeline.conversation[first + offset]!);
      this.#promptTokens += orZero(promptTokens[offset]!);
      this.#completionTokens += orZero(completionTokens[offset]!);
      this.#all.add(orZero(tokens[offset]!), cost[offset]!);
      bucket?.add(orZero(tokens[offset]!), cost[offset]!);
      if (!Number.isNaN(firstToken[offset]!)) this.#firstToken.add(firstToken[offset]!);
      if (!Number.isNaN(latency[offset]!)) this.#addLatency(bucket, latency[offset]!);
    });
    this.#addFeedback(block, bits);
    this.#countTerms('status', block, bits, (status, offset) => this.#addStatus(status, block * blockRuns + offset));
    this.#countTerms('served-model', block, bits, (model, offset) =>
      this.#addModel(model, orZero(tokens[offset]!), orZero(cost[offset]!)),
    );
  }

  figures(): Omit<AuditSummary, 'bucketSize'> {
    const all = this.#all.figures();
    return {
      runs: all.runs,
      conversations: this.#conversationCount,
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
      totalTokens: all.totalTokens,
      cost: all.cost,
      runsWithoutCost: all.runsWithoutCost,
      latency: this.#all.latency.percentiles(),
      firstToken: this.#firstToken.percentiles(),
      statuses: [...this.#statuses].map(([status, runs]) => ({ status: status as RunStatus, runs })),
      models: this.#modelFigures(),
      feedback: {
        ...all.feedback,
        scores: [...this.#scores].toSorted(([one], [other]) => one - other).map(([score, runs]) => ({ score, runs })),
      },
      buckets: this.#buckets.map((bucket) => bucket.figures()),
    };
  }

  #modelFigures(): AuditSummary['models'] {
    return [...this.#models]
      .toSorted(([, one], [, other]) => other.runs - one.runs)
      .slice(0, maxModels)
      .map(([key, figures]) => {
        const [aiSystem, model] = JSON.parse(key) as [AiSystem, string];
        return { aiSystem, model, ...figures };
      });
  }

  #bucketOf(time: number): Bucket | null {
    const buckets = this.#buckets;
    while (this.#at > 0 && time < buckets[this.#at]!.start) this.#at -= 1;
    while (this.#at + 1 < buckets.length && time >= buckets[this.#at + 1]!.start) this.#at += 1;
    const bucket = buckets[this.#at];
    return bucket === undefined || time < bucket.start ? null : bucket;
  }

  #countConversation(conversation: number): void {
    if (this.#conversations[conversation] === 1) return;
    this.#conversations[conversation] = 1;
    this.#conversationCount += 1;
  }

  #addLatency(bucket: Bucket | null, milliseconds: number): void {
    const offset = classOf(milliseconds);
    this.#all.latency.add(milliseconds, offset);
    bucket?.latency.add(milliseconds, offset);
  }

  #addFeedback(block: number, bits: Bits): void {
    const { feedback, timeline } = this.#index;
    const given = feedback.matches('any', block, anyFeedback)?.slice();
    if (given === undefined) return;
    intersect(given, bits);
    forEachBit(given, (offset) => {
      const run = block * blockRuns + offset;
      const score = feedback.get(run)?.score ?? null;
      this.#all.addFeedback(score);
      this.#bucketOf(timeline.createdAt[run]!)?.addFeedback(score);
      if (score !== null) this.#scores.set(score, (this.#scores.get(score) ?? 0) + 1);
    });
  }

  #addStatus(status: string, run: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (status !== 'Failed') return;
    this.#all.failed += 1;
    const bucket = this.#bucketOf(this.#index.timeline.createdAt[run]!);
    if (bucket !== null) bucket.failed += 1;
  }

  #addModel(model: string, totalTokens: number, cost: number): void {
    const figures = this.#models.get(model) ?? { runs: 0, totalTokens: 0, cost: 0 };
    figures.runs += 1;
    figures.totalTokens += totalTokens;
    figures.cost += cost;
    this.#models.set(model, figures);
  }

  #countTerms(field: TermField, block: number, bits: Bits, count: (value: string, offset: number) => void): void {
    for (const { code, value } of this.#index.terms.valuesOf(field)) {
      const posting = this.#index.blocks.posting(code, block);
      if (posting === null) continue;
      const both = bits.slice();
      intersect(both, posting);
      forEachBit(both, (offset) => count(value, offset));
    }
  }
}
