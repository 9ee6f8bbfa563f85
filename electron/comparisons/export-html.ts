import type { ComparisonReport } from '../../shared/contract/comparison-results.ts';
import type { Variant } from '../../shared/contract/comparisons.ts';
import { escapeMarkup as html, type ExportedCell, type ExportSource } from './export-source.ts';

type VariantReport = ComparisonReport['variants'][number];

/** The colours of the window, which follow the system. */
const style = `
:root { color-scheme: light dark; --page: light-dark(#fff, #17191c); --inset: light-dark(#f7f8f9, #1b1e22); --line: light-dark(#e3e6e9, #282c31);
  --text: light-dark(#14181c, #e7eaed); --quiet: light-dark(#5f6873, #8f98a3); --accent: light-dark(#0a678b, #62bde0);
  --positive: light-dark(#1b6e42, #6cc795); --negative: light-dark(#b42a24, #f08a80); }
body { margin: 0; padding: 24px; background: var(--page); color: var(--text); font: 13px/20px system-ui, sans-serif; }
h1 { font-size: 20px; line-height: 28px; margin: 0; } h2 { font-size: 15px; margin: 24px 0 8px; }
p { margin: 4px 0; } .quiet { color: var(--quiet); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: 6px 8px; text-align: left; vertical-align: top; }
th { background: var(--inset); font-weight: 600; } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.grid td { min-width: 220px; max-width: 420px; } .grid td:first-child { min-width: 0; color: var(--quiet); }
.interval { position: relative; width: 140px; height: 8px; background: var(--inset); border: 1px solid var(--line); }
.interval i { position: absolute; top: 0; bottom: 0; background: var(--accent); opacity: 0.45; }
.interval b { position: absolute; top: -2px; bottom: -2px; width: 2px; background: var(--accent); }
pre { margin: 4px 0; font: 12px/18px ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
hr { border: 0; border-top: 1px solid var(--line); }
summary { cursor: pointer; color: var(--quiet); } .pass { color: var(--positive); } .fail { color: var(--negative); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 0; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { padding: 0; } details { break-inside: avoid; } }
`;

const percent = (share: number) => (share * 100).toFixed(share > 0 && share < 0.01 ? 1 : 0);
const dollars = (amount: number) =>
  `$${amount < 1 ? amount.toLocaleString('en', { maximumSignificantDigits: 2 }) : amount.toFixed(2)}`;
const duration = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
const whole = (value: number) => value.toLocaleString('en');
export const plural = (count: number, word: string) => `${whole(count)} ${word}${count === 1 ? '' : 's'}`;
/** Values of style attributes are only ever numbers. */
const position = (share: number) => `${Math.min(Math.max(share, 0), 1) * 100}%`;

function definitionList(entries: readonly (readonly [name: string, value: string])[]): string {
  return `<dl>${entries.map(([name, value]) => `<dt>${html(name)}</dt><dd>${html(value)}</dd>`).join('')}</dl>`;
}

/** A rate is never shown without its interval and its rows. */
function rateOf({ passRate, interval, passes, rows }: VariantReport): string {
  if (passRate === null || interval === null) return '<span class="quiet">Not judged</span>';
  const [low, high] = interval;
  const text = `${percent(passRate)} % (95 %: ${percent(low)} to ${percent(high)}), ${whole(passes)} of ${plural(rows, 'row')}`;
  const width = position(high - low);
  const bar = `<i style="left:${position(low)};width:${width}"></i><b style="left:${position(passRate)}"></b>`;
  return `${html(text)}<div class="interval" role="img" aria-label="${html(text)}">${bar}</div>`;
}

function reportRow(report: VariantReport, baseline: string): string {
  const { name, score, cost, latency, difference, differences } = report;
  const within = (
    mean: { mean: number; interval: readonly number[] | null } | null,
    format: (value: number) => string,
  ) => (mean ? `${format(mean.mean)}${mean.interval ? ` (${mean.interval.map(format).join(' to ')})` : ''}` : '-');
  const others = differences
    ? [differences.score, differences.cost, differences.latency].filter(({ rows }) => rows > 0)
    : [];
  const sentences = [...(difference ? [difference] : []), ...others].map(({ sentence }) => `<p>${html(sentence)}</p>`);
  const against = name === baseline ? '<span class="quiet">Baseline</span>' : sentences.join('') || '-';
  const numbers = [
    within(score, (value) => value.toFixed(2)),
    within(cost, dollars),
    cost ? dollars(cost.total) : '-',
    latency ? `${duration(latency.p50)}, ${duration(latency.p95)}` : '-',
  ].map((text) => `<td class="number">${html(text)}</td>`);
  return `<tr><th scope="row">${html(name)}</th><td>${rateOf(report)}</td>${numbers.join('')}<td>${against}</td></tr>\n`;
}

function variantDetails({ name, aiSystem, model, configuration, prompt, promptVersionId }: Variant): string {
  const entries: [string, string][] = [['Model', `${aiSystem}/${model}`]];
  if (promptVersionId !== null) entries.push(['Prompt version', promptVersionId]);
  if (configuration) entries.push(['Parameters', JSON.stringify(configuration)]);
  const texts = [prompt?.systemMessage, prompt?.promptText].filter((text) => text != null && text !== '');
  const shown = texts.map((text) => `<pre>${html(text!)}</pre>`).join('');
  return `<details><summary>${html(name)}</summary>${definitionList(entries)}${shown}</details>\n`;
}

function* head({ comparison }: ExportSource, { isFinal, variants, baseline }: ComparisonReport): Generator<string> {
  const { name, rowCount, repeats, cells, cost, datasetId, datasetVersion, completedAt, stopReason } = comparison;
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n`;
  yield `<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>${html(name)}</title>\n<style>${style}</style>\n</head>\n<body>\n`;
  yield `<h1>${html(name)}</h1>\n`;
  const progress = isFinal ? '' : ` So far: ${whole(cells.completed)} of ${plural(cells.total, 'cell')} completed.`;
  yield `<p class="quiet">${plural(rowCount, 'row')}, ${plural(variants.length, 'variant')}, ${plural(repeats, 'repeat')}.${progress}</p>\n`;
  if (stopReason !== null) yield `<p class="fail">${html(stopReason)}</p>\n`;
  for (const { name: variant, difference } of variants)
    if (variant !== baseline && difference) yield `<p>${html(difference.sentence)}</p>\n`;
  yield '<h2>Variants</h2>\n<div class="scroll"><table>\n<thead><tr><th>Variant</th><th>Pass rate</th><th>Score</th><th>Cost of a run</th><th>Cost</th><th>Latency (p50, p95)</th><th>Against the baseline</th></tr></thead>\n<tbody>\n';
  for (const report of variants) yield reportRow(report, baseline);
  yield '</tbody></table></div>\n<p class="quiet">Intervals are 95 %. Differences are paired by row.</p>\n';
  for (const variant of comparison.variants) yield variantDetails(variant);
  yield '<h2>Details</h2>\n';
  yield definitionList([
    ['Dataset', `${datasetId}, version ${datasetVersion}`],
    [
      'Cells',
      `${whole(cells.completed)} completed, ${whole(cells.failed)} failed, ${whole(cells.skipped)} skipped of ${whole(cells.total)}`,
    ],
    [
      'Cost',
      `${dollars(cost.spent)}, of it ${dollars(cost.spentByJudges)} for judges${cost.runsWithoutCost > 0 ? `; ${plural(cost.runsWithoutCost, 'run')} without a known price` : ''}`,
    ],
    ['Completed', completedAt ?? '-'],
  ]);
}

function verdictOf({ state, passed, score }: ExportedCell['cell']): string {
  if (state !== 'Completed') return `<span class="${state === 'Failed' ? 'fail' : 'quiet'}">${state}</span>`;
  const rounded = score === null ? '' : ` ${score.toFixed(2)}`;
  if (passed === null) return `<span class="quiet">Not judged</span>${rounded}`;
  return `<span class="${passed ? 'pass' : 'fail'}">${passed ? '✓ Pass' : '✗ Fail'}</span>${rounded}`;
}

const shortCharacters = 400;

function answerOf({ cell: { failure }, readAnswer }: ExportedCell): string {
  if (failure) return `<p>${html(failure.message)}</p>`;
  const answer = readAnswer();
  if (answer === null) return '';
  if (answer.length <= shortCharacters) return `<pre>${html(answer)}</pre>`;
  const start = answer.slice(0, shortCharacters).toWellFormed();
  return `<pre>${html(start)}…</pre><details><summary>Whole answer</summary><pre>${html(answer)}</pre></details>`;
}

function cellDetails({
  checks,
  cost,
  totalMs,
  promptTokens,
  completionTokens,
  attempts,
  runId,
  votes,
}: ExportedCell['cell']): string {
  const entries: [string, string][] = checks.map(({ name, kind, pass, reason }) => {
    const outcome = pass === null ? 'Not judged' : pass ? 'Pass' : 'Fail';
    return [name ?? kind, `${outcome}: ${reason}`];
  });
  for (const { voter, vote, note } of votes) {
    const said = vote === null ? '' : vote === 'pass' ? 'Pass' : 'Fail';
    entries.push([`Vote of ${voter ?? 'another key'}`, [said, note].filter((text) => text).join(': ')]);
  }
  if (cost !== null) entries.push(['Cost', dollars(cost)]);
  if (totalMs !== null) entries.push(['Latency', duration(totalMs)]);
  if (promptTokens !== null) entries.push(['Tokens', `${whole(promptTokens)} in, ${whole(completionTokens ?? 0)} out`]);
  if (attempts > 1) entries.push(['Attempts', whole(attempts)]);
  if (runId !== null) entries.push(['Run', runId]);
  return entries.length === 0 ? '' : `<details><summary>Details</summary>${definitionList(entries)}</details>`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function rowStart({ row, values }: ExportedCell, columns: readonly string[]): string {
  const entries = columns.map((name) => [name, valueText(values[name])] as const);
  return `<tr><td class="number">${whole(row + 1)}</td><td>${definitionList(entries)}</td>`;
}

/** A page that needs nothing else: no scripts, no fonts, no images. A row at a time, so that big comparisons need little memory. */
export async function* exportHtml(source: ExportSource): AsyncGenerator<string> {
  const { comparison, columns } = source;
  yield* head(source, await source.report());
  yield '<h2>Rows</h2>\n<div class="scroll"><table class="grid">\n<thead><tr><th>Row</th><th>Values</th>';
  for (const { name } of comparison.variants) yield `<th>${html(name)}</th>`;
  yield '</tr></thead>\n<tbody>\n';
  for await (const exported of source.cells()) {
    const { cell } = exported;
    const isFirst = cell.repeat === 1;
    if (isFirst && cell.variant === comparison.variants[0]!.name) yield rowStart(exported, columns);
    yield isFirst ? '<td>' : `<hr><span class="quiet">Repeat ${cell.repeat}</span> `;
    yield `${verdictOf(cell)}${answerOf(exported)}${cellDetails(cell)}`;
    if (cell.repeat < comparison.repeats) continue;
    yield cell.variant === comparison.variants.at(-1)!.name ? '</td></tr>\n' : '</td>';
  }
  yield '</tbody></table></div>\n</body>\n</html>\n';
}
