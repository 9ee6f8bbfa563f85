import type { AuditFilter } from '../../shared/contract/audit.ts';
import { generatedCallers } from './audit-generator.ts';
import { wordOfRank, type Chance } from './text-writer.ts';

/** Facts of the filled database that filters are made from. */
export interface Known {
  readonly firstRunAt: number;
  readonly lastRunAt: number;
  readonly promptIds: readonly string[];
  readonly workspaceIds: readonly string[];
  readonly runs: readonly { readonly id: string; readonly conversationId: string; readonly promptId: string | null }[];
}

type MakeFilter = (chance: Chance, known: Known) => AuditFilter;

function moment(chance: Chance, { firstRunAt, lastRunAt }: Known, from = 0, to = 1): string {
  return new Date(firstRunAt + (lastRunAt - firstRunAt) * (from + (to - from) * chance.next())).toISOString();
}

/** Part of a remark: of very many, of few, or of none. */
function remarkPart(chance: Chance): string {
  const word = wordOfRank(Math.floor(chance.next() ** 3 * 5000));
  return chance.next() < 0.2 ? `${word}zzz` : word;
}

/** Every single filter, with new values each time it is asked. */
export const singleFilters: Readonly<Record<string, MakeFilter>> = {
  callerId: (chance) => ({ callerId: chance.pick(generatedCallers) }),
  startDate: (chance, known) => ({ startDate: moment(chance, known) }),
  endDate: (chance, known) => ({ endDate: moment(chance, known) }),
  month: (chance, known) => {
    const startDate = moment(chance, known, 0, 0.95);
    return { startDate, endDate: new Date(Date.parse(startDate) + 30 * 86_400_000).toISOString() };
  },
  appHeader: (chance) => ({ appHeaders: { team: chance.pick(['support', 'sales', 'legal', 'nobody']) } }),
  absentHeader: () => ({ appHeaders: { team: null } }),
  promptId: (chance, { promptIds }) => ({ promptId: chance.pick(promptIds) }),
  promptVersionId: (chance, { promptIds }) => ({
    promptVersionId: chance.pick(promptIds).replace('00009209', '00009210'),
  }),
  promptRunId: (chance, { runs }) => ({ promptRunId: chance.pick(runs).id }),
  conversationRunId: (chance, { runs }) => ({ conversationRunId: chance.pick(runs).id }),
  workspaceId: (chance, { workspaceIds }) => ({ workspaceId: chance.pick(workspaceIds) }),
  conversationId: (chance, { runs }) => ({ conversationId: chance.pick(runs).conversationId }),
  score: (chance) => ({ feedback: { score: Math.floor(chance.next() * 23) - 11 } }),
  scoreText: (chance) => ({ feedback: { scoreText: remarkPart(chance) } }),
  scoreTags: (chance) => ({
    feedback: { scoreTags: chance.pick(['wrong', 'helpful,tone', 'none', 'off topic,unsafe', 'accurate']) },
  }),
  model: (chance) => ({ models: [chance.pick(['gpt-4o', 'hl-gpt-4.1-mini', 'llama3-70b-8192'])] }),
  status: (chance) => ({ statuses: [chance.pick(['Completed', 'Failed', 'Cancelled'] as const)] }),
  latency: (chance) => ({ totalMs: { min: chance.next() * 5000 } }),
  cost: (chance) => ({ cost: { max: chance.next() * 0.002 } }),
  tokens: (chance) => ({ totalTokens: { min: Math.floor(chance.next() * 400) } }),
};

/** All pairs of two different single filters. */
export const filterPairs: readonly (readonly [name: string, make: MakeFilter])[] = Object.entries(
  singleFilters,
).flatMap(([one, makeOne], index, all) =>
  all
    .slice(index + 1)
    .map(([other, makeOther]): [string, MakeFilter] => [
      `${one} and ${other}`,
      (chance, known) => merged(makeOne(chance, known), makeOther(chance, known)),
    ]),
);

function merged(one: AuditFilter, other: AuditFilter): AuditFilter {
  return {
    ...one,
    ...other,
    ...(one.feedback && other.feedback && { feedback: { ...one.feedback, ...other.feedback } }),
    ...(one.appHeaders && other.appHeaders && { appHeaders: { ...one.appHeaders, release: '2026.1' } }),
  };
}
