import { expect, test } from 'vitest';
import { reportIn, sectionOf, withSections } from '../../../scripts/benchmark-report.ts';
import type { Report } from '../../../benchmarks/support/report.ts';

const report: Report = {
  name: 'start',
  date: '2026-11-23T01:02:03.000Z',
  machine: { processor: 'EPYC', processors: 2, memoryGiB: 24, system: 'Linux 6.1', node: '24.21.0' },
  rows: [
    { what: 'to listening', value: 412.3, unit: 'ms', aim: '<= 400', met: false },
    { what: 'runs | streams', value: 12_345, unit: '', aim: null, met: null },
  ],
  raw: { 'to listening': [410, 412.3, 430] },
};

test('finds the report among what a benchmark prints', () => {
  expect(reportIn(`a row\n${JSON.stringify(report)}\n`)).toEqual(report);
  expect(() => reportIn('it failed\n')).toThrow('The benchmark printed no report, so nothing is saved.');
});

test('describes the machine and puts every figure beside its aim', () => {
  expect(sectionOf(report)).toBe(
    [
      '### start',
      '',
      '2026-11-23, 2 processors (EPYC), 24 GiB of memory, Linux 6.1, Node 24.21.0.',
      '',
      '| What | Measured | Aim |',
      '| --- | --: | --- |',
      '| to listening | 412.3 ms, not met | <= 400 |',
      '| runs \\| streams | 12,345 |  |',
    ].join('\n'),
  );
});

test('replaces the sections between the marks of the page and nothing else', () => {
  const begin = '<!-- Written by npm run benchmark -- NAME --save. -->';
  const end = '<!-- End of the written part. -->';
  const page = withSections(`Before\n\n${begin}\n\nold\n\n${end}\n\nAfter\n`, [report]);
  expect(page).toBe(`Before\n\n${begin}\n\n${sectionOf(report)}\n\n${end}\n\nAfter\n`);
  expect(withSections(page, [report])).toBe(page);
  expect(() => withSections('No marks', [report])).toThrow('docs/benchmarks.md needs the lines');
});
