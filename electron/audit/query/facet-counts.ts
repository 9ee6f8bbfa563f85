import type { AuditFacetCounts, AuditFilter } from '../../../shared/contract/audit.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import type { RunStatus } from '../../../shared/contract/conversations.ts';
import type { ModerationFlag } from '../../../shared/contract/guard.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { blockOf, countBits, countCommonBits, hasBit, placeOf } from '../index/bits.ts';
import { byFrequency, maxCountedValues } from './facets.ts';
import type { Matches } from './matches.ts';
import type { TermField } from '../index/run-terms.ts';

/** Milliseconds of work between two looks at what else is waiting. */
const sliceMilliseconds = 10;

class FacetCounter {
  readonly #index: AuditIndex;
  readonly #pause: () => Promise<void>;
  #began = performance.now();

  constructor(index: AuditIndex, pause: () => Promise<void>) {
    this.#index = index;
    this.#pause = pause;
  }

  /** The matching runs of each value of a field. */
  async values(field: TermField, matches: Matches): Promise<{ value: string; runs: number }[]> {
    const terms = this.#index.terms.valuesOf(field).slice(0, maxCountedValues);
    const counts = terms.map(({ value }) => ({ value, runs: 0 }));
    await this.#eachBlock((block) => {
      const bits = matches.block(block);
      if (!matches.isEverything && countBits(bits) === 0) return;
      for (const [index, { code }] of terms.entries()) {
        const posting = this.#index.blocks.posting(code, block);
        if (posting !== null) counts[index]!.runs += countCommonBits(bits, posting);
      }
    });
    return byFrequency(counts);
  }

  async tags(matches: Matches): Promise<AuditFacetCounts['tags']> {
    const counts = new Map<string, number>();
    await this.#eachBlock((block) => {
      for (const { run, tags } of this.#index.feedback.ofBlock(block)) {
        if (!hasBit(matches.block(block), placeOf(run))) continue;
        for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      }
    });
    return byFrequency([...counts].map(([tag, runs]) => ({ tag, runs })));
  }

  async #eachBlock(count: (block: number) => void): Promise<void> {
    for (let block = blockOf(this.#index.timeline.lastRun); block >= 0; block -= 1) {
      count(block);
      if (performance.now() - this.#began < sliceMilliseconds) continue;
      await this.#pause();
      this.#began = performance.now();
    }
  }
}

/** `pause` is awaited between slices of the work and may throw to end it. */
export async function countFacets(
  index: AuditIndex,
  filter: AuditFilter,
  matchesOf: (filter: AuditFilter) => Matches,
  pause: () => Promise<void>,
): Promise<AuditFacetCounts> {
  const counter = new FacetCounter(index, pause);
  const values = (field: TermField, ...own: (keyof AuditFilter)[]) => {
    const others = Object.fromEntries(Object.entries(filter).filter(([name]) => !own.includes(name as never)));
    return counter.values(field, matchesOf(others));
  };
  const models = await values('served-model', 'models');
  const aiSystems = await values('ai-system', 'aiSystems');
  const callers = await values('caller', 'callerIds');
  const statuses = await values('status', 'statuses');
  const finishReasons = await values('finish-reason', 'finishReasons');
  const errorCodes = await values('error-code', 'errorCodes');
  const moderationFlags = await values('moderation', 'moderationFlags');
  return {
    models: models.map(({ value, runs }) => {
      const [aiSystem, model] = JSON.parse(value) as [AiSystem, string];
      return { aiSystem, model, runs };
    }),
    aiSystems: aiSystems.map(({ value, runs }) => ({ aiSystem: value as AiSystem, runs })),
    callers: callers.map(({ value, runs }) => ({ callerId: value, runs })),
    statuses: statuses.map(({ value, runs }) => ({ status: value as RunStatus, runs })),
    finishReasons: finishReasons.map(({ value, runs }) => ({ finishReason: value, runs })),
    errorCodes: errorCodes.map(({ value, runs }) => ({ errorCode: value, runs })),
    moderationFlags: moderationFlags.map(({ value, runs }) => ({ flag: value as ModerationFlag, runs })),
    tags: await counter.tags(matchesOf(filter)),
  };
}
