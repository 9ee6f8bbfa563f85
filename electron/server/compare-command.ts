import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ComparisonEstimate } from '../../shared/contract/comparison-estimates.ts';
import type { ComparisonReport } from '../../shared/contract/comparison-results.ts';
import type { Comparison, ComparisonInput } from '../../shared/contract/comparisons.ts';
import type { JudgedPairs } from '../../shared/contract/judged-pairs.ts';
import type { Check } from '../../shared/contract/checks.ts';
import type { ComparisonFile } from '../comparisons/files/comparison-file.ts';
import { type ConditionResult, testCondition } from '../comparisons/files/fail-condition.ts';
import type { CompareOptions } from './compare-options.ts';

/** A service in this process, or one that is running. */
export interface ComparisonService {
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export interface CompareOutput {
  /** What was found, on stdout. */
  print(line: string): void;
  /** What happens, on stderr. */
  report(line: string): void;
}

/** Statuses of the program. */
export const compareStatus = { passed: 0, conditionMet: 1, invalid: 2, incomplete: 3 } as const;

/** What the service says is wrong. */
export class ServiceError extends Error {}

async function call<Result>(service: ComparisonService, path: string, init: RequestInit = {}): Promise<Result> {
  const response = await service.fetch(path, init);
  const text = await response.text();
  if (response.ok) return (text === '' ? null : JSON.parse(text)) as Result;
  let error: { message?: string; details?: { field: string; issue: string }[] } = {};
  try {
    ({ error = {} } = JSON.parse(text) as { error?: typeof error });
  } catch {
    // Not from Touchstone.
  }
  throw new ServiceError(error.message ?? `${path} returned ${response.status}.`);
}

const post = <Result>(service: ComparisonService, path: string, body: unknown) =>
  call<Result>(service, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Rows go as JSONL, because a JSON body has limits that a dataset hasn't. */
async function createDataset(service: ComparisonService, { dataset, comparison }: ComparisonFile) {
  if ('datasetId' in dataset) return dataset;
  const form = new FormData();
  form.set('name', comparison.name.slice(0, 300));
  if ('file' in dataset) form.set('file', await openAsBlob(dataset.file), basename(dataset.file));
  else {
    const types = Object.fromEntries(dataset.columns.map(({ name, type }) => [name, type]));
    form.set('types', JSON.stringify(types));
    const empty = Object.fromEntries(dataset.columns.map(({ name }) => [name, null]));
    const lines = dataset.rows.map((row, index) => `${JSON.stringify(index === 0 ? { ...empty, ...row } : row)}\n`);
    form.set('file', new Blob(lines), 'rows.jsonl');
  }
  const { id } = await call<{ id: string }>(service, '/datasets/import', { method: 'POST', body: form });
  return { datasetId: id };
}

function withJudges(checks: readonly Check[], ids: ReadonlyMap<string, string>): Check[] {
  return checks.map((check): Check => {
    if ('checks' in check) return { ...check, checks: withJudges(check.checks, ids) };
    return check.kind === 'judge' ? { ...check, judgeId: ids.get(check.judgeId) ?? check.judgeId } : check;
  });
}

/** Returns their ids by those in the file. */
async function createJudges(service: ComparisonService, { judges }: ComparisonFile) {
  const ids = new Map<string, string>();
  for (const [id, judge] of judges) ids.set(id, (await post<{ id: string }>(service, '/judges', judge)).id);
  return ids;
}

async function bodyOf(
  service: ComparisonService,
  file: ComparisonFile,
  judges: ReadonlyMap<string, string>,
  { repeats, maxCost, concurrency }: CompareOptions,
): Promise<ComparisonInput> {
  return {
    ...file.comparison,
    ...(await createDataset(service, file)),
    checks: withJudges(file.comparison.checks ?? [], judges),
    ...(repeats !== null && { repeats }),
    ...(maxCost !== null && { maxCost }),
    ...(concurrency !== null && { concurrency }),
  };
}

const dollars = (amount: number) => `$${amount.toLocaleString('en', { maximumSignificantDigits: 3 })}`;

const range = (low: string, high: string) => (low === high ? low : `${low} to ${high}`);

function describeEstimate({ runs, judgeRuns, cost, seconds, basis }: ComparisonEstimate): string {
  const price = cost ? range(dollars(cost.low), dollars(cost.high)) : 'at an unknown price';
  const time = seconds ? `, ${range(`${seconds.low}`, `${seconds.high}`)} s` : '';
  return `${runs} runs and ${judgeRuns} verdicts, ${price}${time}. ${basis}`;
}

/** Waits for the end, and reports progress at most each second. An aborted signal stops the comparison. */
async function follow(
  service: ComparisonService,
  id: string,
  { report }: CompareOutput,
  signal: AbortSignal,
): Promise<Comparison> {
  let [last, reportedAt] = ['', 0];
  let isStopped = false;
  for (;;) {
    if (signal.aborted && !isStopped) {
      isStopped = true;
      await post(service, `/comparisons/${id}/stop`, {});
    }
    const comparison = await call<Comparison>(service, `/comparisons/${id}`);
    const { total, completed, failed, skipped } = comparison.cells;
    const line = `${completed + failed + skipped} of ${total} cells, ${failed} failed, ${dollars(comparison.cost.spent)}`;
    const isOver = comparison.state !== 'Running';
    if (line !== last && (isOver || Date.now() - reportedAt >= 1000)) {
      report(line);
      [last, reportedAt] = [line, Date.now()];
    }
    if (isOver) return comparison;
    await delay(100);
  }
}

const formats: Readonly<Record<string, string>> = {
  xml: 'junit',
  csv: 'csv',
  jsonl: 'jsonl',
  md: 'markdown',
  html: 'html',
};

/** Has each of these judges compare every variant with the baseline. Their calls come on top of the estimate, within the same limit of cost. */
async function judgePairs(
  service: ComparisonService,
  { id, baseline, variants }: Comparison,
  judgeIds: readonly string[],
  output: CompareOutput,
  signal: AbortSignal,
): Promise<JudgedPairs[]> {
  const found: JudgedPairs[] = [];
  const others = variants.filter(({ name }) => name !== baseline);
  for (const judgeId of judgeIds) {
    for (const { name } of others) {
      if (signal.aborted) return found;
      output.report(`A judge compares ${baseline} and ${name}`);
      await post(service, `/comparisons/${id}/pairs`, { judgeId, variants: [baseline, name] });
      await follow(service, id, output, signal);
      const query = new URLSearchParams({ judgeId, first: baseline, second: name });
      found.push(await call<JudgedPairs>(service, `/comparisons/${id}/pairs?${query}`));
    }
  }
  return found;
}

interface Finished {
  readonly comparison: Comparison;
  readonly report: ComparisonReport;
  readonly conditions: readonly ConditionResult[];
  readonly preferences: readonly JudgedPairs[];
}

async function writeOutput(service: ComparisonService, file: string, found: Finished): Promise<void> {
  const format = formats[file.slice(file.lastIndexOf('.') + 1).toLowerCase()];
  if (format === undefined) return writeFile(file, `${JSON.stringify(found, null, 2)}\n`);
  const response = await service.fetch(`/comparisons/${found.comparison.id}/export?format=${format}`);
  if (!response.ok || !response.body) throw new ServiceError(`The export as ${format} returned ${response.status}.`);
  await writeFile(file, response.body);
}

async function conclude(
  service: ComparisonService,
  { comparison, preferences }: Pick<Finished, 'comparison' | 'preferences'>,
  options: CompareOptions,
  output: CompareOutput,
): Promise<number> {
  const reportFor = (baseline: string | null) =>
    call<ComparisonReport>(
      service,
      `/comparisons/${comparison.id}/report${baseline === null ? '' : `?baseline=${encodeURIComponent(baseline)}`}`,
    );
  const report = await reportFor(null);
  const conditions: ConditionResult[] = [];
  for (const { expression, condition } of options.failIf)
    conditions.push(await testCondition(expression, condition, reportFor));
  for (const file of options.outputs) await writeOutput(service, file, { comparison, report, conditions, preferences });
  for (const { name, passRate, interval, passes, rows, difference } of report.variants) {
    const percents = interval?.map((end) => Math.round(end * 100)).join(' to ');
    const rate =
      passRate === null
        ? 'not judged'
        : `${Math.round(passRate * 100)} % (95 %: ${percents}), ${passes} of ${rows} rows`;
    output.print(`${name}: ${rate}${difference ? `. ${difference.sentence}` : ''}`);
  }
  for (const { judge, variants, counts, sentence } of preferences) {
    const wins = variants.map(({ name, wins: count }) => `${name} preferred in ${count}`).join(', ');
    output.print(`${judge}: ${wins} of ${counts.pairs} rows. ${sentence}`);
  }
  for (const { expression, isMet, reason } of conditions)
    output.print(`${isMet ? 'Failed' : 'Passed'}: --fail-if "${expression}". ${reason}`);
  // The first rows only are the end that was asked for.
  const isPart = options.maxRows !== null && comparison.stopReason === null;
  const isUnjudged = preferences.length > 0 && comparison.stopReason !== null;
  if ((comparison.state !== 'Completed' && !isPart) || isUnjudged) {
    output.report(`The comparison didn't complete. ${comparison.stopReason ?? ''}`.trim());
    return compareStatus.incomplete;
  }
  return conditions.some(({ isMet }) => isMet) ? compareStatus.conditionMet : compareStatus.passed;
}

/** Runs the comparison of a file, and returns the exit status. Throws `ServiceError`. */
export async function compare(
  service: ComparisonService,
  file: ComparisonFile,
  options: CompareOptions,
  output: CompareOutput,
  signal: AbortSignal,
): Promise<number> {
  const names = new Set(file.comparison.variants.map(({ name }) => name));
  const named = options.failIf.flatMap(({ condition }) =>
    condition.kind === 'variants' ? [condition.variant, condition.baseline] : (condition.variant ?? []),
  );
  const unknown = named.find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new ServiceError(`--fail-if: "${unknown}" is no variant. There are: ${[...names].join(', ')}.`);
  const judges = await createJudges(service, file);
  const body = await bodyOf(service, file, judges, options);
  output.report(describeEstimate(await post<ComparisonEstimate>(service, '/comparisons/estimate', body)));
  if (options.onlyEstimates) return compareStatus.passed;
  const created = await post<Comparison>(service, '/comparisons', body);
  for (const warning of created.warnings) output.report(warning);
  await post(service, `/comparisons/${created.id}/start`, options.maxRows === null ? {} : { maxRows: options.maxRows });
  const run = await follow(service, created.id, output, signal);
  const pairJudges = file.pairJudges.map((id) => judges.get(id)!);
  const isJudged = pairJudges.length > 0 && run.stopReason === null;
  const preferences = isJudged ? await judgePairs(service, run, pairJudges, output, signal) : [];
  const comparison = isJudged ? await call<Comparison>(service, `/comparisons/${run.id}`) : run;
  return conclude(service, { comparison, preferences }, options, output);
}
