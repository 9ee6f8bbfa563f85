import type { AiSystem } from '../../../shared/contract/common.ts';
import type { AuditFacetCounts, AuditFacets, AuditFilter } from '../../../shared/contract/audit.ts';
import type { ModerationFlag } from '../../../shared/contract/moderation.ts';
import type { OriginApi, RunStatus } from '../../../shared/contract/conversations.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { blockOf, countBits, countCommonBits, hasBit, offsetOf } from '../index/bits.ts';
import type { TermField } from '../index/terms.ts';
import type { Matches } from './selection.ts';

/** Milliseconds of work between two pauses. */
const sliceMilliseconds = 10;

class FacetCounter {
  readonly #index: AuditIndex;
  readonly #pause: () => Promise<void>;
  #sliceStart = performance.now();

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
        if (!hasBit(matches.block(block), offsetOf(run))) continue;
        for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      }
    });
    return byFrequency([...counts].map(([tag, runs]) => ({ tag, runs })));
  }

  async #eachBlock(count: (block: number) => void): Promise<void> {
    for (let block = blockOf(this.#index.timeline.lastRun); block >= 0; block -= 1) {
      count(block);
      if (performance.now() - this.#sliceStart < sliceMilliseconds) continue;
      await this.#pause();
      this.#sliceStart = performance.now();
    }
  }
}

/** Awaits `pause` between slices of the work. It may throw to stop the work. */
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
  const origins = await values('origin', 'origins');
  const clients = await values('client', 'clients');
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
    origins: origins.map(({ value, runs }) => ({ api: value as OriginApi, runs })),
    clients: clients.map(({ value, runs }) => ({ client: value, runs })),
    finishReasons: finishReasons.map(({ value, runs }) => ({ finishReason: value, runs })),
    errorCodes: errorCodes.map(({ value, runs }) => ({ errorCode: value, runs })),
    moderationFlags: moderationFlags.map(({ value, runs }) => ({ flag: value as ModerationFlag, runs })),
    tags: await counter.tags(matchesOf(filter)),
  };
}

/** Values of one field. */
const maxValues = 200;

/** Only this many values of a field are counted. A header can have a new value for every run. */
export const maxCountedValues = 500;

const maxHeaders = 50;

function countOf(index: AuditIndex, code: number): number {
  let runs = 0;
  for (let block = blockOf(index.timeline.lastRun); block >= 0; block -= 1) {
    const bits = index.blocks.posting(code, block);
    if (bits !== null) runs += countBits(bits);
  }
  return runs;
}

export function byFrequency<Counted extends { runs: number }>(values: Counted[]): Counted[] {
  return values
    .filter(({ runs }) => runs > 0)
    .toSorted((one, other) => other.runs - one.runs)
    .slice(0, maxValues);
}

function valuesOf(index: AuditIndex, field: TermField): { value: string; runs: number }[] {
  const terms = index.terms.valuesOf(field).slice(0, maxCountedValues);
  return byFrequency(terms.map(({ code, value }) => ({ value, runs: countOf(index, code) })));
}

function tagsOf(index: AuditIndex): AuditFacets['tags'] {
  const counts = new Map<string, number>();
  for (const { tags } of index.feedback.values()) {
    for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return byFrequency([...counts].map(([tag, runs]) => ({ tag, runs })));
}

/** The facets from the index, without the names of callers. */
export type IndexFacets = Omit<AuditFacets, 'windowCallerId'>;

/** The values of runs, without the names of callers. */
export function facetsOf(index: AuditIndex): IndexFacets {
  const { timeline } = index;
  const timeAt = (rank: number) =>
    timeline.count === 0 ? null : new Date(timeline.createdAt[timeline.runAt(rank)]!).toISOString();
  return {
    runs: timeline.count,
    conversations: timeline.conversations,
    firstRunAt: timeAt(0),
    lastRunAt: timeAt(timeline.count - 1),
    models: valuesOf(index, 'served-model').map(({ value, runs }) => {
      const [aiSystem, model] = JSON.parse(value) as [AiSystem, string];
      return { aiSystem, model, runs };
    }),
    callers: valuesOf(index, 'caller').map(({ value, runs }) => ({ callerId: value, name: null, runs })),
    statuses: valuesOf(index, 'status').map(({ value, runs }) => ({ status: value as RunStatus, runs })),
    origins: valuesOf(index, 'origin').map(({ value, runs }) => ({ api: value as OriginApi, runs })),
    clients: valuesOf(index, 'client').map(({ value, runs }) => ({ client: value, runs })),
    finishReasons: valuesOf(index, 'finish-reason').map(({ value, runs }) => ({ finishReason: value, runs })),
    errorCodes: valuesOf(index, 'error-code').map(({ value, runs }) => ({ errorCode: value, runs })),
    moderationFlags: valuesOf(index, 'moderation').map(({ value, runs }) => ({ flag: value as ModerationFlag, runs })),
    tags: tagsOf(index),
    appHeaders: index.terms
      .headerNames()
      .slice(0, maxHeaders)
      .map((name) => ({ name, values: valuesOf(index, `header:${name}`) }))
      .filter(({ values }) => values.length > 0),
    promptIds: valuesOf(index, 'prompt').map(({ value, runs }) => ({ promptId: value, runs })),
    workspaceIds: valuesOf(index, 'workspace').map(({ value, runs }) => ({ workspaceId: value, runs })),
  };
}
