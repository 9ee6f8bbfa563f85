import type { ComparisonEstimate } from '../../shared/contract/comparison-estimates.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import type { Judge } from '../../shared/contract/judges.ts';
import type { MissingVerdicts } from '../../shared/contract/votes.ts';
import { parseTemplate, renderTemplate } from '../../shared/prompt-template.ts';
import { describeDetectable } from '../../shared/statistics/sentences.ts';
import type { VariantRequests } from './cell-request.ts';
import type { StoredComparison } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { VerdictNeeds } from './judge/judge-again.ts';
import { judgeRequest } from './judge/run-judge.ts';
import type { PlannedComparison } from './plan-comparison.ts';
import { providerOf } from '../providers/provider-pauses.ts';
import {
  type EstimateOptions,
  ifEnough,
  none,
  type Part,
  partOf,
  plus,
  type Range,
  sampleBytes,
  sampledRows,
  samplePrompts,
  sumOf,
  timeOf,
  times,
} from './run-estimates.ts';
import { judgesAmong } from './votes/cell-votes.ts';

/** Tokens of an answer, if nothing is known of its length. */
const guessedAnswer: Range = { low: 30, high: 1000 };
const guessedVerdict: Range = { low: 20, high: 300 };
/** Tokens of the passages of dataspaces, if no earlier run had any. */
const passageTokens: Range = { low: 0, high: 2000 };

interface Planned extends PlannedComparison {
  /** The first rows of the dataset. */
  readonly rows: readonly DatasetRow[];
}

/** With the milliseconds of one run. */
interface TimedPart extends Part {
  readonly name: string;
  readonly time: Range | null;
}

async function estimateVariant(
  requests: VariantRequests,
  runs: number,
  { comparison, rows }: Planned,
  options: EstimateOptions,
): Promise<TimedPart> {
  const { variant, template } = requests;
  const { promptVersionId, configuration, dataspaceIds } = variant;
  const { systemMessage } = requests.request({}, {});
  const sample = await samplePrompts(
    rows,
    (row) => `${systemMessage ?? ''}${renderTemplate(template, requests.fill(row).replacements).text}`,
  );
  const earlier = promptVersionId === null ? [] : ifEnough(options.earlierRuns.ofVersion(promptVersionId, variant));
  const limit = configuration?.['max_tokens'];
  const longest = typeof limit === 'number' ? limit : guessedAnswer.high;
  const guess = { low: Math.min(guessedAnswer.low, longest), high: Math.min(guessedAnswer.high, longest) };
  const { rowCount } = comparison.settings;
  const more = (dataspaceIds ?? []).length > 0 ? passageTokens : null;
  const part = partOf({ sample, rowCount, runs, earlier, guess, more }, variant, options);
  return { name: variant.name, ...part, time: timeOf(earlier, runs, variant, options) };
}

/** What so many verdicts of a judge take. `answerTokens` is the length of an answer that it reads. */
async function estimateJudge(
  judge: Judge,
  runs: number,
  answerTokens: Range,
  { rows, rowCount }: { readonly rows: readonly DatasetRow[]; readonly rowCount: number },
  options: EstimateOptions,
): Promise<TimedPart> {
  const answers = judge.verdict.kind === 'preference' ? { first: '', second: '' } : { answer: '' };
  const template = parseTemplate(judgeRequest(judge, answers, {}, {}).promptText ?? '');
  const sample = await samplePrompts(
    rows,
    ({ values }) => `${judge.systemMessage}${renderTemplate(template, { ...values, ...answers }).text}`,
  );
  const earlier = ifEnough(options.earlierRuns.ofJudge(judge.id, judge.hash));
  const part = partOf({ sample, rowCount, runs, earlier, guess: guessedVerdict, more: answerTokens }, judge, options);
  return { name: judge.name, ...part, time: timeOf(earlier, runs, judge, options) };
}

/** Variants of one provider share its runs at a time; providers run beside each other. */
function secondsOf(
  variants: readonly TimedPart[],
  judges: readonly TimedPart[],
  { comparison: { setup, settings } }: Planned,
): Range | null {
  const judging = sumOf(judges.map(({ time }) => time));
  const groups = Map.groupBy(variants.keys(), (index) => {
    const { aiSystem, model } = setup.variants[index]!;
    return providerOf(`${aiSystem}/${model}`);
  });
  const totals = [...groups.values()].map((group) => {
    const runs = group.reduce((sum, index) => sum + variants[index]!.runs, 0);
    const work = sumOf(
      group.map((index) => {
        const { time, runs: own } = variants[index]!;
        return time && judging && times(plus(time, judging), own);
      }),
    );
    return work && times(work, 1 / Math.min(settings.concurrency, runs) / 1000);
  });
  if (totals.includes(null)) return null;
  const ends = (end: keyof Range) => Math.ceil(Math.max(...totals.map((total) => total![end])));
  return { low: ends('low'), high: ends('high') };
}

function basisOf(parts: readonly TimedPart[], rows: number): string {
  const earlier = parts.reduce((sum, { earlierRuns }) => sum + earlierRuns, 0);
  const runs = earlier === 0 ? '' : `${earlier.toLocaleString('en')} earlier runs and `;
  const start = `From ${runs}the length of the first ${rows === 1 ? 'row' : `${rows} rows`}.`;
  const guessed = parts.filter(({ earlierRuns }) => earlierRuns === 0).map(({ name }) => name);
  if (guessed.length === 0) return start;
  const whose = guessed.length === parts.length ? '' : ` of ${guessed.join(', ')}`;
  return `${start} The length of the answers${whose} is a guess.`;
}

function shown({ runs, cost, tokens, earlierRuns }: TimedPart) {
  return { runs, cost, tokens, earlierRuns };
}

/** What a comparison will take. Other work runs in between. */
export async function estimateComparison(planned: Planned, options: EstimateOptions): Promise<ComparisonEstimate> {
  const { setup, settings } = planned.comparison;
  const runsPerVariant = settings.rowCount * settings.repeats;
  const variants: TimedPart[] = [];
  for (const requests of planned.requests)
    variants.push(await estimateVariant(requests, runsPerVariant, planned, options));
  const runs = runsPerVariant * variants.length;
  const answerTokens = times(
    variants.reduce((sum, { output }) => plus(sum, output), none),
    1 / variants.length,
  );
  const judges: (TimedPart & { readonly judgeId: string })[] = [];
  for (const judgeId of judgesAmong(setup.checks)) {
    const judge = options.findJudge(judgeId);
    if (!judge) continue;
    const sample = { rows: planned.rows, rowCount: settings.rowCount };
    judges.push({ judgeId, ...(await estimateJudge(judge, runs, answerTokens, sample, options)) });
  }
  const parts = [...variants, ...judges];
  return {
    runs,
    judgeRuns: judges.reduce((sum, judge) => sum + judge.runs, 0),
    cost: sumOf(parts.map(({ cost }) => cost)),
    tokens: parts.reduce((sum, { tokens }) => plus(sum, tokens), none),
    seconds: secondsOf(variants, judges, planned),
    variants: variants.map((variant) => ({ name: variant.name, ...shown(variant) })),
    judges: judges.map((judge) => ({ judgeId: judge.judgeId, name: judge.name, ...shown(judge) })),
    sampledRows: planned.rows.length,
    basis: basisOf(parts, planned.rows.length),
    detectable: describeDetectable(settings.rowCount, variants.length),
  };
}

interface MissingVerdictsOptions extends EstimateOptions {
  readonly datasets: Pick<DatasetStore, 'rows'>;
}

/** What judging again would do, and what it would cost. */
export async function missingVerdictsOf(
  { datasetId, datasetVersion, settings }: StoredComparison,
  { judges, positions }: VerdictNeeds,
  options: MissingVerdictsOptions,
): Promise<MissingVerdicts> {
  const page = { offset: 0, limit: sampledRows, maxBytes: sampleBytes };
  const rows = positions.length === 0 ? [] : options.datasets.rows(datasetId, datasetVersion, page);
  const described: MissingVerdicts['judges'] = [];
  for (const { judgeId, counts, tokens } of judges) {
    const judge = options.findJudge(judgeId);
    if (!judge) continue;
    const runs = counts.missing + counts.stale;
    const mean = tokens.sum / tokens.answers;
    const answer = tokens.answers === 0 ? guessedAnswer : { low: mean, high: mean };
    const sample = { rows, rowCount: settings.rowCount };
    const cost = runs === 0 ? { low: 0, high: 0 } : (await estimateJudge(judge, runs, answer, sample, options)).cost;
    described.push({ judgeId, name: judge.name, ...counts, cost });
  }
  return { cells: positions.length, judges: described, cost: sumOf(described.map(({ cost }) => cost)) };
}
