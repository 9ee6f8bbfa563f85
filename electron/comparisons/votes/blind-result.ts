import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlindVoteResult } from '../../../shared/contract/blind-votes.ts';
import type { Check } from '../../../shared/contract/checks.ts';
import {
  type Agreement,
  measureAgreement,
  measureReliability,
  type Reliability,
} from '../../../shared/statistics/agreement.ts';
import { comparePreferences, describePreferences } from '../../../shared/statistics/preferences.ts';
import type { ComparisonSetup } from '../../storage/comparison-store.ts';
import { turnedPreference } from '../../storage/judge-store.ts';
import type { StoredBlindVote, StoredPairVote } from '../../storage/vote-store.ts';
import { toResult } from '../judge/calibration.ts';
import type { PairCells } from './blind-pairs.ts';

export type Preferred = 'first' | 'second' | 'tie';
type Agreements = BlindVoteResult['agreements'];

const pairsAtOnce = 200;

/** Which answer a person preferred; null for a pair that tells nothing. */
export function preferredBy(vote: StoredPairVote['vote']): Preferred | null {
  if (vote === 'skip' || vote === 'identical') return null;
  return vote === 'bothBad' ? 'tie' : vote;
}

/** The answer with the higher score of a judge; null without both verdicts. */
function preferredByJudge({ first, second }: PairCells, check: number): Preferred | null {
  const [one, other] = [first, second].map(({ checks }) => checks[check]?.score ?? null);
  if (one == null || other == null) return null;
  return one === other ? 'tie' : one > other ? 'first' : 'second';
}

/** A finished vote with its pairs. */
export interface FinishedVote {
  readonly vote: Pick<StoredBlindVote, 'first' | 'second'>;
  readonly pairs: readonly StoredPairVote[];
}

function describePeople(voters: number, found: Reliability | null): string {
  if (!found) return `Cannot tell how far ${voters} people agree: no pair has two votes`;
  const { rows, alpha, interval } = found;
  const start = `${voters} people voted on the same ${rows === 1 ? 'pair' : `${rows} pairs`}`;
  if (alpha === null || !interval) return `${start}, always with the same result`;
  return `${start}: alpha ${alpha.toFixed(2)} (95 %: ${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
}

/** How far people agree who finished a vote on the same question and variants, in any order; null for one. */
export function peopleAgreement(votes: readonly FinishedVote[]): BlindVoteResult['people'] {
  const [base] = votes;
  if (!base || votes.length < 2) return null;
  const found = new Map<string, Preferred[]>();
  for (const { vote, pairs } of votes) {
    for (const pair of pairs) {
      const preferred = preferredBy(pair.vote);
      if (!preferred) continue;
      const label = vote.first === base.vote.first ? preferred : turnedPreference[preferred];
      const key = `${pair.row} ${pair.repeat}`;
      found.set(key, [...(found.get(key) ?? []), label]);
    }
  }
  const reliability = measureReliability([...found.values()]);
  return {
    voters: votes.length,
    pairs: reliability?.rows ?? 0,
    share: reliability?.share ?? 0,
    alpha: reliability?.alpha ?? null,
    interval: reliability?.interval ? [...reliability.interval] : null,
    sentence: describePeople(votes.length, reliability),
  };
}

/** Says how far a judge agrees with people. `what` are the things that both judged. */
export function describeAgreement(agreement: Agreement | null, what: string): string {
  if (!agreement) return `Cannot tell: no ${what} has a verdict of the judge and a vote`;
  const { share, rows, kappa, interval } = agreement;
  const start = `The judge agrees on ${Math.round(share * rows)} of ${rows} ${what}s`;
  if (kappa === null || !interval) return `${start}, which all have one result`;
  return `${start}: kappa ${kappa.toFixed(2)} (95 %: ${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
}

/** The judges among the checks, by their place. */
export function judgeChecks(
  checks: readonly Check[],
  nameOf: (id: string) => string,
): { check: number; judge: string }[] {
  return checks.flatMap((check, index) =>
    check.kind === 'judge' ? [{ check: index, judge: check.name ?? nameOf(check.judgeId) }] : [],
  );
}

interface ResultInput {
  readonly setup: ComparisonSetup;
  readonly vote: StoredBlindVote;
  readonly pairs: readonly StoredPairVote[];
  readonly cellsOf: (pair: StoredPairVote) => PairCells | null;
  readonly judgeName: (id: string) => string;
  /** Of all who finished one on the same variants with the same question. */
  readonly finished: readonly FinishedVote[];
}

/** The result of a finished vote. Other work runs in between. */
export async function blindResultOf(input: ResultInput): Promise<BlindVoteResult> {
  const { setup, vote, pairs, cellsOf, judgeName } = input;
  const judges = judgeChecks(setup.checks, judgeName);
  const labels = judges.map((): [string, string][] => []);
  const costs: [number[], number[]] = [[], []];
  for (const [index, pair] of pairs.entries()) {
    if (index % pairsAtOnce === pairsAtOnce - 1) await nextTurn();
    const cells = cellsOf(pair);
    if (!cells) continue;
    for (const [side, { cost }] of [cells.first, cells.second].entries()) if (cost !== null) costs[side]!.push(cost);
    const person = preferredBy(pair.vote);
    for (const [at, { check }] of judges.entries()) {
      const judge = preferredByJudge(cells, check);
      if (person && judge) labels[at]!.push([person, judge]);
    }
  }
  const count = (kind: StoredPairVote['vote']) => pairs.filter((pair) => pair.vote === kind).length;
  const preferences = {
    firstWins: count('first'),
    secondWins: count('second'),
    ties: count('tie') + count('bothBad') + count('identical'),
  };
  const report = comparePreferences(preferences);
  const variants = [vote.first, vote.second].map((index, side) => {
    const { name, model, promptVersionId } = setup.variants[index]!;
    const sum = costs[side]!.reduce((total, cost) => total + cost, 0);
    const wins = side === 0 ? preferences.firstWins : preferences.secondWins;
    return { name, model, promptVersionId, wins, cost: costs[side]!.length === 0 ? null : sum / costs[side]!.length };
  });
  const agreements: Agreements = judges.map(({ judge }, index) => {
    const agreement = measureAgreement(labels[index]!);
    return { judge, agreement: toResult(agreement), sentence: describeAgreement(agreement, 'pair') };
  });
  const people = peopleAgreement(input.finished);
  const names = [variants[0]!.name, variants[1]!.name] as const;
  const interval = report.interval && ([...report.interval] as [number, number]);
  const sentence = describePreferences(preferences, report, names);
  return { variants, ...report, interval, ties: preferences.ties, sentence, agreements, people };
}
