import type { AiSystem } from '../../../shared/contract/common.ts';
import type { AuditFacets } from '../../../shared/contract/audit.ts';
import type { ModerationFlag } from '../../../shared/contract/guard.ts';
import type { RunStatus } from '../../../shared/contract/conversations.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { blockOf, countBits } from '../index/bits.ts';
import type { TermField } from '../index/run-terms.ts';

/** Values of one field. */
const maxValues = 200;

/** Of a field with very many values (a header that is new for every run) only so many are counted. */
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

function conversationsOf({ timeline }: AuditIndex): number {
  let count = 0;
  for (let place = 0; place < timeline.count; place += 1) if (timeline.next[timeline.order[place]!] === 0) count += 1;
  return count;
}

/** What the index knows of the facets; who its callers are it does not. */
export type IndexFacets = Omit<AuditFacets, 'windowCallerId'>;

/** The values that runs have; the names of callers are not known here. */
export function facetsOf(index: AuditIndex): IndexFacets {
  const { timeline } = index;
  const timeAt = (place: number) =>
    timeline.count === 0 ? null : new Date(timeline.createdAt[timeline.order[place]!]!).toISOString();
  return {
    runs: timeline.count,
    conversations: conversationsOf(index),
    firstRunAt: timeAt(0),
    lastRunAt: timeAt(timeline.count - 1),
    models: valuesOf(index, 'served-model').map(({ value, runs }) => {
      const [aiSystem, model] = JSON.parse(value) as [AiSystem, string];
      return { aiSystem, model, runs };
    }),
    callers: valuesOf(index, 'caller').map(({ value, runs }) => ({ callerId: value, name: null, runs })),
    statuses: valuesOf(index, 'status').map(({ value, runs }) => ({ status: value as RunStatus, runs })),
    finishReasons: valuesOf(index, 'finish-reason').map(({ value, runs }) => ({ finishReason: value, runs })),
    errorCodes: valuesOf(index, 'error-code').map(({ value, runs }) => ({ errorCode: value, runs })),
    moderationFlags: valuesOf(index, 'moderation').map(({ value, runs }) => ({ flag: value as ModerationFlag, runs })),
    tags: tagsOf(index),
    appHeaders: index.terms
      .headerNames()
      .slice(0, maxHeaders)
      .map((name) => ({ name, values: valuesOf(index, `header:${name}`) })),
    promptIds: valuesOf(index, 'prompt').map(({ value, runs }) => ({ promptId: value, runs })),
    workspaceIds: valuesOf(index, 'workspace').map(({ value, runs }) => ({ workspaceId: value, runs })),
  };
}
