import type { AuditFilter } from '../../shared/contract/audit.ts';
import { generatedCallers } from './audit-generator.ts';
import { wordOfRank, type SeededRandom } from './text-writer.ts';

/** Values of the filled database for filters. */
export interface Known {
  readonly firstRunAt: number;
  readonly lastRunAt: number;
  readonly promptIds: readonly string[];
  readonly workspaceIds: readonly string[];
  readonly runs: readonly { readonly id: string; readonly conversationId: string; readonly promptId: string | null }[];
}

type MakeFilter = (random: SeededRandom, known: Known) => AuditFilter;

function moment(random: SeededRandom, { firstRunAt, lastRunAt }: Known, from = 0, to = 1): string {
  return new Date(firstRunAt + (lastRunAt - firstRunAt) * (from + (to - from) * random.next())).toISOString();
}

/** Part of a comment: of very many, of few, or of none. */
function remarkPart(random: SeededRandom): string {
  const word = wordOfRank(Math.floor(random.next() ** 3 * 5000));
  return random.next() < 0.2 ? `${word}zzz` : word;
}

/** Every single filter, with new values in each call. */
export const singleFilters: Readonly<Record<string, MakeFilter>> = {
  callerId: (random) => ({ callerId: random.pick(generatedCallers) }),
  startDate: (random, known) => ({ startDate: moment(random, known) }),
  endDate: (random, known) => ({ endDate: moment(random, known) }),
  month: (random, known) => {
    const startDate = moment(random, known, 0, 0.95);
    return { startDate, endDate: new Date(Date.parse(startDate) + 30 * 86_400_000).toISOString() };
  },
  appHeader: (random) => ({ appHeaders: { team: random.pick(['support', 'sales', 'legal', 'nobody']) } }),
  absentHeader: () => ({ appHeaders: { team: null } }),
  promptId: (random, { promptIds }) => ({ promptId: random.pick(promptIds) }),
  promptVersionId: (random, { promptIds }) => ({
    promptVersionId: random.pick(promptIds).replace('00009209', '00009210'),
  }),
  promptRunId: (random, { runs }) => ({ promptRunId: random.pick(runs).id }),
  conversationRunId: (random, { runs }) => ({ conversationRunId: random.pick(runs).id }),
  workspaceId: (random, { workspaceIds }) => ({ workspaceId: random.pick(workspaceIds) }),
  conversationId: (random, { runs }) => ({ conversationId: random.pick(runs).conversationId }),
  score: (random) => ({ feedback: { score: Math.floor(random.next() * 23) - 11 } }),
  scoreText: (random) => ({ feedback: { scoreText: remarkPart(random) } }),
  scoreTags: (random) => ({
    feedback: { scoreTags: random.pick(['wrong', 'helpful,tone', 'none', 'off topic,unsafe', 'accurate']) },
  }),
  model: (random) => ({ models: [random.pick(['gpt-4o', 'hl-gpt-4.1-mini', 'llama3-70b-8192'])] }),
  status: (random) => ({ statuses: [random.pick(['Completed', 'Failed', 'Cancelled'] as const)] }),
  latency: (random) => ({ totalMs: { min: random.next() * 5000 } }),
  cost: (random) => ({ cost: { max: random.next() * 0.002 } }),
  tokens: (random) => ({ totalTokens: { min: Math.floor(random.next() * 400) } }),
};

/** All pairs of two different single filters. */
export const filterPairs: readonly (readonly [name: string, make: MakeFilter])[] = Object.entries(
  singleFilters,
).flatMap(([one, makeOne], index, all) =>
  all
    .slice(index + 1)
    .map(([other, makeOther]): [string, MakeFilter] => [
      `${one} and ${other}`,
      (random, known) => merged(makeOne(random, known), makeOther(random, known)),
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
