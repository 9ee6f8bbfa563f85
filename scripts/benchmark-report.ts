// Writes the figures of docs/benchmarks.md from benchmarks/results, which `npm run benchmark -- NAME --save` fills.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report, Row } from '../benchmarks/support/report.ts';
import { root } from './project-node.mjs';

const results = join(root, 'benchmarks/results');
const page = join(root, 'docs/benchmarks.md');
const begin = '<!-- Written by npm run benchmark -- NAME --save. -->';
const end = '<!-- End of the written part. -->';

/** The report that a benchmark prints as its last line of JSON. Throws if there is none. */
export function reportIn(output: string): Report {
  const line = output.split('\n').findLast((each) => each.startsWith('{"name":'));
  if (line === undefined) throw new Error('The benchmark printed no report, so nothing is saved.');
  return JSON.parse(line) as Report;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');

function tableRow({ what, value, unit, aim, met }: Row): string {
  const figure = `${value.toLocaleString('en-GB', { maximumFractionDigits: 4 })}${unit === '' ? '' : ` ${unit}`}`;
  return `| ${escaped(what)} | ${figure}${met === false ? ', not met' : ''} | ${aim ?? ''} |`;
}

/** A section of the page: when and where it was measured, and every figure beside its aim. */
export function sectionOf({ name, date, machine, rows }: Report): string {
  const { processor, processors, memoryGiB, system, node } = machine;
  return [
    `### ${name}`,
    '',
    `${date.slice(0, 10)}, ${processors} processors (${processor}), ${memoryGiB} GiB of memory, ${system}, Node ${node}.`,
    '',
    '| What | Measured | Aim |',
    '| --- | --: | --- |',
    ...rows.map(tableRow),
  ].join('\n');
}

/** The page with new sections between its two marks. Throws if it has no marks. */
export function withSections(text: string, reports: readonly Report[]): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/benchmarks.md needs the lines "${begin}" and "${end}".`);
  return [before + begin, ...reports.map(sectionOf), end + after].join('\n\n');
}

/** Saves a report with its raw results, and writes the page again. */
export function saveReport(report: Report): void {
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, `${report.name}.json`), `${JSON.stringify(report)}\n`);
  const reports = readdirSync(results)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => JSON.parse(readFileSync(join(results, file), 'utf8')) as Report);
  writeFileSync(page, withSections(readFileSync(page, 'utf8'), reports));
}
