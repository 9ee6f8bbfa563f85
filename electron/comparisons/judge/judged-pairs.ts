import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import type { JudgedPairs, JudgedPairsInput } from '../../../shared/contract/judged-pairs.ts';
import { comparePreferences, describePreferences } from '../../../shared/statistics/preferences.ts';
import type { RunOrigin } from '../../completions/completions.ts';
import type { StoredCell } from '../../storage/comparison-cells.ts';
import type { ComparisonStore } from '../../storage/comparison-store.ts';
import type { FileReader } from '../../storage/file-store.ts';
import { turnedPreference } from '../../storage/judge-store.ts';
import type { StoredPairVote, VoteStore } from '../../storage/vote-store.ts';
import type { ComparisonJob } from '../comparison-job.ts';
import { repeatWithAnswers, type Variants } from '../votes/blind-pairs.ts';
import { describeAgreement, type Preferred, preferredBy } from '../votes/blind-result.ts';
import { kindOfFailure } from '../run-cell.ts';
import { agreementOnPairs, toResult } from './calibration.ts';
import type { Judges } from './create-judges.ts';
import type { PairJudge } from './pair-judge.ts';

/** Preferences of a judge between two variants. Methods throw `not_found`, and `invalid_request` with the field. */
export interface PairJudging {
  /** Judges the pairs without a verdict of the judge as it is. Throws `conflict` while the comparison runs. */
  judgePairs(
    id: string,
    input: JudgedPairsInput,
    options: { readonly origin: RunOrigin; readonly reader: FileReader },
  ): Promise<ComparisonJob>;
  readPairs(id: string, input: JudgedPairsInput, options: { readonly signal: AbortSignal }): Promise<JudgedPairs>;
  /** Makes votes of a finished blind vote labels of a judge of preferences. Throws `conflict` for one that isn't finished. */
  labelFromVotes(
    judgeId: string,
    blindVoteId: string,
    reader: FileReader,
  ): Promise<{ readonly added: number; readonly skipped: number }>;
}

export interface PairJudgingOptions {
  readonly store: Pick<ComparisonStore, 'cell' | 'setup'>;
  readonly votes: Pick<VoteStore, 'findBlindVote' | 'finishedBlindVotes' | 'pairVotes'>;
  readonly judges: Pick<Judges, 'addLabels' | 'read'>;
  readonly findPairJudge: (id: string) => PairJudge;
  readonly jobs: { open(id: string): Promise<ComparisonJob>; openToRun(id: string): Promise<ComparisonJob> };
}

interface Pair {
  readonly row: number;
  readonly repeat: number;
  readonly first: StoredCell;
  readonly second: StoredCell;
}

/** Of a judge that isn't calibrated. */
const nothing = { firstWins: 0, secondWins: 0, ties: 0 };
/** Rows that are looked at before other work gets its turn. */
const rowsAtOnce = 200;

const isIdentical = ({ first, second }: Pair) => first.answerHash !== null && first.answerHash === second.answerHash;
const runsOf = ({ first, second }: Pair): readonly [string, string] => [first.runId ?? '', second.runId ?? ''];

const keyOf = ({ row, repeat }: Pick<StoredPairVote, 'row' | 'repeat'>) => `${row} ${repeat}`;

/** What people preferred in the finished blind votes on the question of the newest one, by `keyOf`. */
function votesByPair(votes: PairJudgingOptions['votes'], comparison: number, variants: Variants) {
  const found = new Map<string, Preferred[]>();
  const [newest] = votes
    .finishedBlindVotes(comparison, variants)
    .toSorted((one, other) => other.finishedAt! - one.finishedAt! || other.sequence - one.sequence);
  if (!newest) return { question: null, found };
  const { question } = newest;
  for (const vote of votes.finishedBlindVotes(comparison, { ...variants, question })) {
    for (const pair of votes.pairVotes(vote.sequence)) {
      const preferred = preferredBy(pair.vote);
      if (preferred === null) continue;
      const turned = vote.first === variants.first ? preferred : turnedPreference[preferred];
      found.set(keyOf(pair), [...(found.get(keyOf(pair)) ?? []), turned]);
    }
  }
  return { question, found };
}

type CellSource = Pick<PairJudgingOptions['store'], 'cell' | 'setup'>;

/** Throws `invalid_request` for names that are not two variants. */
function variantsOf(store: CellSource, job: ComparisonJob, names: readonly string[]): Variants {
  const { variants } = store.setup(job.comparison.sequence);
  const [first, second] = names.map((name) => variants.findIndex((variant) => variant.name === name));
  if (first === undefined || second === undefined || first < 0 || second < 0)
    throw invalidField('variants', 'has a name that is not a variant of the comparison');
  if (first === second) throw invalidField('variants', 'must be different');
  return { first, second };
}

function pairAt(store: CellSource, job: ComparisonJob, row: number, variants: Variants): Pair | null {
  const repeat = repeatWithAnswers(job.cells, row, variants);
  if (repeat === null) return null;
  const cell = (variant: number) => store.cell(job.comparison.sequence, job.cells.position({ row, variant, repeat }));
  const [first, second] = [cell(variants.first), cell(variants.second)];
  return first && second && { row, repeat, first, second };
}

/** As `PairJudging.labelFromVotes`. */
async function labelFromVotes(
  { store, votes, jobs, judges }: PairJudgingOptions,
  ...[judgeId, blindVoteId, reader]: Parameters<PairJudging['labelFromVotes']>
): ReturnType<PairJudging['labelFromVotes']> {
  if (judges.read(judgeId).verdict.kind !== 'preference')
    throw new AppError('invalid_request', 'Votes on pairs are labels for a judge of preferences only.');
  const vote = votes.findBlindVote(blindVoteId);
  if (vote.finishedAt === null) throw new AppError('conflict', 'The vote is not finished.');
  const job = await jobs.open(vote.comparisonId);
  const { sequence } = job.comparison;
  const cell = (variant: number, { row, repeat }: StoredPairVote) =>
    store.cell(sequence, job.cells.position({ row, variant, repeat }));
  const pairs = votes.pairVotes(vote.sequence);
  const labels = pairs.flatMap((pair) => {
    const label = preferredBy(pair.vote);
    if (label === null) return [];
    const [first, second] = [cell(vote.first, pair), cell(vote.second, pair)];
    return first?.runId && second?.runId ? [{ runId: first.runId, otherRunId: second.runId, label }] : [];
  });
  const added = judges.addLabels(judgeId, labels, reader);
  return { added, skipped: pairs.length - added };
}

export function createPairJudging(options: PairJudgingOptions): PairJudging {
  const { store, votes, findPairJudge, jobs } = options;
  async function* pairsIn(job: ComparisonJob, variants: Variants): AsyncGenerator<Pair> {
    job.flush();
    for (let row = 0; row < job.cells.rows; row += 1) {
      const pair = pairAt(store, job, row, variants);
      if (pair) yield pair;
      if (row % rowsAtOnce === rowsAtOnce - 1) await nextTurn();
    }
  }

  return {
    labelFromVotes: (...call) => labelFromVotes(options, ...call),
    async judgePairs(id, { judgeId, variants: names }, { origin, reader }) {
      const judge = findPairJudge(judgeId);
      const job = await jobs.openToRun(id);
      const variants = variantsOf(store, job, names);
      const { concurrency } = job.comparison.settings;
      const positions: number[] = [];
      for await (const pair of pairsIn(job, variants)) {
        const found = isIdentical(pair) ? null : judge.find(runsOf(pair));
        if (!isIdentical(pair) && (!found || found.isStale)) positions.push(pair.first.position);
      }
      job.judgeAgain({
        positions,
        async judge(cell, { values }, signal) {
          const pair = pairAt(store, job, job.cells.index(cell.position).row, variants);
          if (!pair || !judge.canJudge(values)) return null;
          let cost = 0;
          const onCost = (ofRun: number) => void (cost += ofRun);
          try {
            await judge.ask(runsOf(pair), values, { origin, reader, signal, concurrency, onCost });
            return { cell, cost };
          } catch (error) {
            // Others may have no failure.
            const isForAll = signal.aborted || kindOfFailure(error) === 'stopping';
            return { cell, cost, ...(isForAll && { failure: error }) };
          }
        },
      });
      return job;
    },
    async readPairs(id, { judgeId, variants: names }, { signal }) {
      const judge = findPairJudge(judgeId);
      const job = await jobs.open(id);
      const { sequence } = job.comparison;
      const variants = variantsOf(store, job, names);
      const counts = { pairs: 0, judged: 0, identical: 0, stale: 0, first: 0, second: 0, tie: 0 };
      const people = votesByPair(votes, sequence, variants);
      const labels: Parameters<typeof agreementOnPairs>[0][number][] = [];
      for await (const pair of pairsIn(job, variants)) {
        signal.throwIfAborted();
        counts.pairs += 1;
        if (isIdentical(pair)) {
          counts.identical += 1;
          continue;
        }
        const found = judge.find(runsOf(pair));
        if (found?.isStale) counts.stale += 1;
        if (!found || found.isStale) continue;
        counts.judged += 1;
        counts[found.verdict] += 1;
        for (const label of people.found.get(keyOf(pair)) ?? [])
          labels.push({ runIds: runsOf(pair), label, verdict: found.verdict });
      }
      const { first, second, tie, ...shown } = counts;
      const { isCalibrated, sentence: calibration } = judge.calibration;
      const counted = isCalibrated ? { firstWins: first, secondWins: second, ties: tie + counts.identical } : nothing;
      const report = comparePreferences(counted);
      const agreement = agreementOnPairs(labels);
      const { variants: all } = store.setup(sequence);
      return {
        judgeId,
        judge: judge.name,
        isCalibrated,
        calibration,
        variants: names.map((name, side) => ({ name, wins: side === 0 ? first : second })),
        counts: { ...shown, ties: tie, missing: counts.pairs - counts.identical - counts.judged - counts.stale },
        ...report,
        interval: report.interval && [...report.interval],
        sentence: isCalibrated
          ? describePreferences(counted, report, [names[0]!, names[1]!])
          : `Doesn't count yet: the judge is not calibrated. ${calibration}`,
        agreement: {
          question: people.question,
          agreement: toResult(agreement),
          sentence: describeAgreement(agreement, 'pair'),
        },
        warning: judge.warning([all[variants.first]!, all[variants.second]!]),
      };
    },
  };
}
