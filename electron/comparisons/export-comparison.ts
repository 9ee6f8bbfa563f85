import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExportFormat } from '../../shared/contract/comparison-results.ts';
import { csvLine } from '../common/csv.ts';
import { exportHtml, plural } from './export-html.ts';
import { exportPreferences, type PreferenceSource } from './export-preferences.ts';
import { escapeMarkup as xml, type ExportedCell, type ExportedPreference, type ExportSource } from './export-source.ts';

const resultColumns = [
  'variant',
  'repeat',
  'state',
  'passed',
  'score',
  'answer',
  'failure',
  'cost',
  'total_ms',
  'run_id',
  'judge_preferences',
];

/** Names of the dataset's columns beside those of the results, which programs know. */
function freeNames(columns: readonly string[]): string[] {
  const taken = new Set(['row', ...resultColumns, ...columns]);
  return columns.map((name) => {
    if (name !== 'row' && !resultColumns.includes(name)) return name;
    let free = `dataset_${name}`;
    for (let number = 2; taken.has(free); number += 1) free = `dataset_${name}_${number}`;
    taken.add(free);
    return free;
  });
}

/** `Judge: better than B`. */
function preferenceText({ judge, outcome, otherVariant, isStale, counts }: ExportedPreference): string {
  const note = isStale ? ' (stale)' : counts ? '' : " (doesn't count yet)";
  return `${judge}: ${outcome === 'tie' ? 'tie with' : `${outcome} than`} ${otherVariant}${note}`;
}

async function* csv({ columns, cells }: ExportSource): AsyncGenerator<string> {
  yield `\uFEFF${csvLine(['row', ...freeNames(columns), ...resultColumns])}`;
  for await (const { row, values, cell, readAnswer, preferences } of cells()) {
    const { variant, repeat, state, passed, score, failure, cost, totalMs, runId } = cell;
    const preferred = preferences.map(preferenceText).join('; ');
    const results = [
      variant,
      repeat,
      state,
      passed,
      score,
      readAnswer(),
      failure?.message,
      cost,
      totalMs,
      runId,
      preferred,
    ];
    yield csvLine([row + 1, ...columns.map((name) => values[name]), ...results]);
  }
}

async function* jsonl({ cells }: ExportSource): AsyncGenerator<string> {
  for await (const { row, values, cell, readAnswer, preferences } of cells())
    yield `${JSON.stringify({ row: row + 1, values, ...cell, answer: readAnswer(), preferences })}\n`;
}

/** A cell that isn't judged passes if it has completed. */
function outcomeOf({ state, passed, failure, checks }: ExportedCell['cell']): string {
  if (state === 'Failed') return `<error message="${xml(failure?.message ?? 'Failed')}"/>`;
  if (state !== 'Completed') return `<skipped message="${xml(failure?.message ?? state)}"/>`;
  if (passed !== false) return '';
  const reasons = checks
    .filter(({ pass }) => pass === false)
    .map(({ name, kind, reason }) => `${name ?? kind}: ${reason}`);
  return `<failure message="${xml(reasons[0] ?? 'A check failed')}">${xml(reasons.join('\n'))}</failure>`;
}

async function* junit({ comparison, cells }: ExportSource): AsyncGenerator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(comparison.name)}">\n`;
  for (const [variant, { name }] of comparison.variants.entries()) {
    yield `<testsuite name="${xml(name)}">\n`;
    for await (const { row, cell } of cells({ variant })) {
      const title = `Row ${row + 1}${comparison.repeats > 1 ? `, repeat ${cell.repeat}` : ''}`;
      const seconds = ((cell.totalMs ?? 0) / 1000).toFixed(3);
      yield `<testcase classname="${xml(name)}" name="${title}" time="${seconds}">${outcomeOf(cell)}</testcase>\n`;
    }
    yield '</testsuite>\n';
  }
  yield '</testsuites>\n';
}

const cellText = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
const percent = (value: number) => `${Math.round(value * 100)}`;

async function* markdown({ comparison, report }: ExportSource): AsyncGenerator<string> {
  const { variants, baseline, isFinal } = await report();
  yield `# ${cellText(comparison.name)}\n\n${plural(comparison.rowCount, 'row')}, ${plural(comparison.repeats, 'repeat')}${isFinal ? '' : ', so far'}.\n\n`;
  yield '| Variant | Pass rate, 95 % | Rows | Cost in USD | p50, ms | p95, ms | Against the baseline |\n|---|---|---|---|---|---|---|\n';
  for (const { name, passRate, interval, rows, cost, latency, difference } of variants) {
    const rate =
      passRate === null || interval === null
        ? '-'
        : `${percent(passRate)} % (${percent(interval[0])} to ${percent(interval[1])})`;
    const against = name === baseline ? 'Baseline' : cellText(difference?.sentence ?? '-');
    const numbers = [cost?.total.toFixed(4), latency?.p50.toFixed(0), latency?.p95.toFixed(0)].map(
      (text) => text ?? '-',
    );
    yield `| ${[cellText(name), rate, rows, ...numbers, against].join(' | ')} |\n`;
  }
}

/** All that an export may need. */
interface WholeSource extends ExportSource {
  readonly preferences: () => PreferenceSource;
}

const writers: Readonly<Record<ExportFormat, (source: WholeSource) => AsyncIterable<string>>> = {
  csv,
  jsonl,
  junit,
  markdown,
  html: exportHtml,
  preferences: (source) => exportPreferences(source, source.preferences()),
};

/** Characters of one part of the response. */
const charactersAtOnce = 65_536;
/** Writing for longer would delay calls. */
const turnMs = 8;

/** The text of an export in parts. Other work runs in between, also where a format writes nothing for many cells. */
export async function* exportText(source: WholeSource, format: ExportFormat): AsyncGenerator<string> {
  let parts: string[] = [];
  let characters = 0;
  let turnEnd = performance.now() + turnMs;
  for await (const part of writers[format](source)) {
    parts.push(part);
    characters += part.length;
    if (characters < charactersAtOnce && performance.now() < turnEnd) continue;
    if (characters > 0) yield parts.join('');
    [parts, characters] = [[], 0];
    await nextTurn();
    turnEnd = performance.now() + turnMs;
  }
  if (characters > 0) yield parts.join('');
}
