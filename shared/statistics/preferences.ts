import { normalMargin, normalQuantile } from './distributions.ts';
import { defaultConfidence, type Interval } from './proportions.ts';

/** How often each of two was preferred, one vote per pair. */
export interface Preferences {
  readonly firstWins: number;
  readonly secondWins: number;
  readonly ties: number;
}

export interface PreferenceReport {
  /** Share of the decided pairs that the second won; null without any. */
  readonly share: number | null;
  readonly interval: Interval | null;
  /** How likely a result at least as uneven is if both are equally good. */
  readonly probability: number | null;
  readonly verdict: 'first' | 'second' | 'unclear';
  /** About how many decided pairs would tell; null if these tell, or if both won as often. */
  readonly pairsNeeded: number | null;
}

/** The logarithm of the number of ways to choose. */
function logChoose(from: number, chosen: number): number {
  let sum = 0;
  for (let index = 1; index <= Math.min(chosen, from - chosen); index += 1) sum += Math.log((from - index + 1) / index);
  return sum;
}

/** The probability of at most `max` successes. Exact for `max` up to the mean; above it, terms may underflow. */
function lowerTail(max: number, tries: number, probability: number, choose = logChoose(tries, max)): number {
  let term = Math.exp(choose + max * Math.log(probability) + (tries - max) * Math.log1p(-probability));
  let sum = 0;
  for (let successes = max; successes >= 0 && term > sum * 1e-17; successes -= 1) {
    sum += term;
    term *= (successes / (tries - successes + 1)) * ((1 - probability) / probability);
  }
  return sum;
}

/** The upper end of the exact interval of a rate: the largest rate for which so few successes aren't too unlikely. */
function upperEnd(successes: number, tries: number, confidence: number): number {
  if (successes === tries) return 1;
  const choose = logChoose(tries, successes);
  let [low, high] = [successes / tries, 1];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (lowerTail(successes, tries, middle, choose) > (1 - confidence) / 2) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The exact interval of a rate. Null without tries. It is wider than that of Wilson, and fits the exact sign test: people vote on few
 * pairs, and Wilson's interval already excludes chance for four votes of four.
 *
 * C. J. Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial. Biometrika 26,
 * 404-413.
 */
export function exactInterval(successes: number, tries: number, confidence = defaultConfidence): Interval | null {
  if (tries === 0) return null;
  return [1 - upperEnd(tries - successes, tries, confidence), upperEnd(successes, tries, confidence)];
}

/**
 * How likely a result at least as uneven is by chance, with both directions. Ties are left out. Null without decided pairs.
 *
 * W. J. Dixon, A. M. Mood (1946), The statistical sign test. Journal of the American Statistical Association 41, 557-566.
 */
export function signTest(firstWins: number, secondWins: number): number | null {
  const decided = firstWins + secondWins;
  if (decided === 0) return null;
  return Math.min(1, 2 * lowerTail(Math.min(firstWins, secondWins), decided, 0.5));
}

/**
 * About how many decided pairs would tell, if the share stays as it is, in four of five cases. Null for a share of a half.
 *
 * G. E. Noether (1987), Sample size determination for some common nonparametric tests. Journal of the American Statistical Association
 * 82, 645-647.
 */
export function pairsForShare(share: number, confidence = defaultConfidence): number | null {
  const pairs = ((normalMargin(confidence) + normalQuantile(0.8)) / (2 * (share - 0.5))) ** 2;
  return Number.isFinite(pairs) ? Math.ceil(pairs) : null;
}

/** What votes on pairs tell. The pairs are of the same rows, so that what differs between rows is the same for both. */
export function comparePreferences({ firstWins, secondWins }: Preferences): PreferenceReport {
  const decided = firstWins + secondWins;
  if (decided === 0) return { share: null, interval: null, probability: null, verdict: 'unclear', pairsNeeded: null };
  const share = secondWins / decided;
  const interval = exactInterval(secondWins, decided)!;
  const verdict = interval[0] > 0.5 ? 'second' : interval[1] < 0.5 ? 'first' : 'unclear';
  const needed = verdict === 'unclear' ? pairsForShare(share) : null;
  return {
    share,
    interval,
    probability: signTest(firstWins, secondWins),
    verdict,
    pairsNeeded: needed && Math.max(needed, decided + 1),
  };
}

const count = (number: number, one: string, many: string) =>
  number === 1 ? `1 ${one}` : `${number.toLocaleString('en-US')} ${many}`;

/** Says which is preferred, with the pairs and the interval. `names` are those of the first and the second. */
export function describePreferences(
  preferences: Preferences,
  report: PreferenceReport,
  names: readonly [first: string, second: string],
): string {
  const { firstWins, secondWins, ties } = preferences;
  const { interval, verdict, pairsNeeded } = report;
  const tied = ties === 0 ? '' : `, ${count(ties, 'tie', 'ties')}`;
  if (!interval) return `Cannot tell: no pair was decided${tied}`;
  const isFirst = verdict === 'first' || (verdict === 'unclear' && firstWins > secondWins);
  const [low, high] = isFirst ? [1 - interval[1], 1 - interval[0]] : interval;
  const percent = (value: number) => Math.round(value * 100);
  const decided = firstWins + secondWins;
  const wins = isFirst ? firstWins : secondWins;
  const share = `${wins.toLocaleString('en-US')} of ${count(decided, 'decided pair', 'decided pairs')}, ${percent(wins / decided)} % (95 %: ${percent(low)} to ${percent(high)})${tied}`;
  const name = names[isFirst ? 0 : 1];
  if (verdict !== 'unclear') return `${name} is preferred: ${share}`;
  if (firstWins === secondWins) return `Cannot tell: both won as often, ${share}`;
  const step = 10 ** Math.max(Math.floor(Math.log10(pairsNeeded!)) - 1, 0);
  const needed = (Math.ceil(pairsNeeded! / step) * step).toLocaleString('en-US');
  return `Cannot tell: ${name} won ${share}; about ${needed} decided pairs would`;
}
