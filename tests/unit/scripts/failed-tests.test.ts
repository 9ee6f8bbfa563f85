import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failedInPlaywright, failedInVitest } from '../../../scripts/failed-tests.ts';
import { root } from '../../../scripts/project-node.mjs';

test('lists every failed test of vitest, and a file in which nothing ran', () => {
  const counts = { numPassedTests: 1, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 };
  const testResults = [
    {
      name: join(root, 'tests/unit/a.test.ts'),
      status: 'failed',
      assertionResults: [
        { status: 'passed', fullName: 'it stands' },
        { status: 'failed', fullName: 'it falls' },
      ],
    },
    { name: join(root, 'tests/unit/b.test.ts'), status: 'failed', assertionResults: [] },
    { name: join(root, 'tests/unit/c.test.ts'), status: 'passed', assertionResults: [] },
  ];
  expect(failedInVitest({ ...counts, testResults })).toEqual([
    'tests/unit/a.test.ts > it falls',
    'tests/unit/b.test.ts',
  ]);
});

test('lists every failed test of Playwright, at any depth, with its line', () => {
  const spec = (title: string, status: string) => ({ file: 'browser/a.spec.ts', line: 7, title, tests: [{ status }] });
  const inner = { specs: [spec('falls', 'unexpected'), spec('stands', 'expected')] };
  expect(failedInPlaywright({ suites: [{ specs: [spec('wavers', 'flaky')], suites: [inner] }] })).toEqual([
    'browser/a.spec.ts:7 > wavers',
    'browser/a.spec.ts:7 > falls',
  ]);
});
