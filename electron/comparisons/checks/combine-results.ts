import type { Check, CheckResult, SimpleCheck } from '../../../shared/contract/checks.ts';
import type { LocalResult } from './checks-worker.ts';
import type { Outcome } from './local-checks.ts';
import { sumOfCosts } from '../judge/verdict-runs.ts';

interface Judged {
  readonly pass: boolean | null;
  readonly score: number | null;
}

interface Weighted extends CheckResult {
  readonly weight: number;
}

/** Those with a weight. */
function weightedResults(checks: readonly Check[], results: readonly CheckResult[]): Weighted[] {
  const weighted = results.map((result, index) => ({ ...result, weight: checks[index]?.weight ?? 1 }));
  return weighted.filter(({ weight }) => weight > 0);
}

/** Those that decide: not those of judges that aren't calibrated. */
const decidingOf = (weighted: readonly Weighted[]) => weighted.filter(({ counts }) => counts !== false);

/** The mean by weight of those with a score; null without any. */
function weightedScore(results: readonly Weighted[]): number | null {
  const scored = results.filter(({ score }) => score !== null);
  const total = scored.reduce((sum, { weight }) => sum + weight, 0);
  return total === 0 ? null : scored.reduce((sum, { score, weight }) => sum + score! * weight, 0) / total;
}

/** Kleene's logic: what isn't judged could be either, so a fail decides, and else nothing is known. */
function allPass(passes: readonly (boolean | null)[]): boolean | null {
  if (passes.includes(false)) return false;
  return passes.includes(null) ? null : true;
}

function anyPasses(passes: readonly (boolean | null)[]): boolean | null {
  if (passes.includes(true)) return true;
  return passes.includes(null) ? null : false;
}

function label({ name, kind }: Pick<CheckResult, 'name' | 'kind'>): string {
  return name ?? kind;
}

function combine(
  kind: 'all' | 'any',
  checks: readonly Check[],
  inner: readonly CheckResult[],
): Judged & Pick<Outcome, 'reason' | 'counts'> {
  const weighted = weightedResults(checks, inner);
  const deciding = decidingOf(weighted);
  const counts = weighted.length === 0 || deciding.length > 0;
  // One that decides nothing is shown as its judges are.
  const shown = counts ? deciding : weighted;
  const passes = shown.map(({ pass }) => pass);
  const pass = passes.length === 0 ? null : kind === 'all' ? allPass(passes) : anyPasses(passes);
  const scores = shown.flatMap(({ score }) => (score === null ? [] : [score]));
  const best = scores.length === 0 ? null : Math.max(...scores);
  const decisive = inner.find((result) => result.pass === pass) ?? inner[0]!;
  const count = inner.filter((result) => result.pass === true).length;
  const reason = `${count} of ${inner.length} pass. ${label(decisive)}: ${decisive.reason}`;
  const score = kind === 'all' ? weightedScore(shown) : best;
  return { pass, score, reason: reason.slice(0, 1000), ...(!counts && { counts }) };
}

/** The checks inside others that combine none themselves. */
function innermost(checks: readonly Check[]): SimpleCheck[] {
  return checks.flatMap((check) => ('checks' in check ? innermost(check.checks) : [check]));
}

/** The runs of all judges among checks, each once, and what they cost together. */
function judgeRuns(
  checks: readonly Check[],
  resultOf: (check: SimpleCheck) => LocalResult,
): Pick<CheckResult, 'runIds' | 'uncountedRunIds' | 'cost'> {
  const judged = new Map<string, Outcome & { runIds: string[] }>();
  for (const check of innermost(checks)) {
    const result = resultOf(check);
    if (typeof result === 'string' || !result.runIds) continue;
    judged.set(result.runIds.join(' '), { ...result, runIds: result.runIds });
  }
  const results = [...judged.values()];
  if (results.length === 0) return {};
  const runIdsOf = (those: typeof results) => those.flatMap(({ runIds }) => runIds);
  const uncounted = runIdsOf(results.filter(({ counts }) => counts === false));
  return {
    runIds: runIdsOf(results),
    ...(uncounted.length > 0 && { uncountedRunIds: uncounted }),
    cost: sumOfCosts(results.map(({ cost }) => cost ?? null)),
  };
}

/** The result of a check from those of the checks inside it. */
export function combineResults(check: Check, resultOf: (check: SimpleCheck) => LocalResult): CheckResult {
  let result: Judged & Pick<CheckResult, 'reason' | 'counts' | 'runIds' | 'uncountedRunIds' | 'cost'>;
  if ('checks' in check) {
    const inner = check.checks.map((each) => combineResults(each, resultOf));
    result = { ...combine(check.kind, check.checks, inner), ...judgeRuns(check.checks, resultOf) };
  } else {
    const own = resultOf(check);
    result = typeof own === 'string' ? { pass: null, score: null, reason: own } : own;
  }
  const { pass, score, reason, counts, runIds, uncountedRunIds, cost } = result;
  const isInverted = check.not === true;
  return {
    kind: check.kind,
    name: check.name ?? null,
    pass: isInverted && pass !== null ? !pass : pass,
    score: isInverted && score !== null ? 1 - score : score,
    reason,
    ...(counts !== undefined && { counts }),
    ...(runIds && { runIds }),
    ...(uncountedRunIds && { uncountedRunIds }),
    ...(cost !== undefined && { cost }),
  };
}

/**
 * Whether a cell passes, and its score: it passes if every check passes, fails if one fails, and is otherwise not judged. Checks of
 * weight 0 decide nothing.
 */
export function cellVerdict(checks: readonly Check[], results: readonly CheckResult[]): Judged {
  const deciding = decidingOf(weightedResults(checks, results));
  if (deciding.length === 0) return { pass: null, score: null };
  return { pass: allPass(deciding.map(({ pass }) => pass)), score: weightedScore(deciding) };
}
