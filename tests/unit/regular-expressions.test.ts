import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expressionsIn, filesReachedFrom, problemsOf, type FoundExpression } from '../support/regex-checker.ts';

const root = join(import.meta.dirname, '../..');

const constantParts = 'Assembled from constants; the parts have no repetition without an end.';
const inExportWorker =
  'Runs in the export worker; the main thread only checks the rules. Looks back one character, and its repetitions are bounded.';

/** Problems on the main thread that can't block it, by file, each with its reason. */
const accepted: Readonly<Record<string, string>> = {
  'shared/contract/knowledge-window.ts: assembled': constantParts,
  'shared/unspaced-text.ts: assembled': constantParts,
  'electron/knowledge/retrieval/query-parts.ts: assembled': constantParts,
  'electron/provider-exchanges/redact.ts: assembled': 'Has the characters of a key in turn, without repetition.',
  'electron/audit/evidence/redaction.ts: look-behind': inExportWorker,
};

/** `path: problem` of each problem, with the expressions that have it. */
function problemsByFile(found: readonly FoundExpression[]): Map<string, string[]> {
  const problems = found.flatMap((each) =>
    each.problems.map((problem) => [`${each.path}: ${problem}`, each.source] as const),
  );
  return new Map(
    [...Map.groupBy(problems, ([name]) => name)].map(([name, group]) => [name, group.map(([, source]) => source)]),
  );
}

describe('the checker', () => {
  test.each([
    [/(?:a+)+b/, ['exponential', 'nested quantifiers', 'quadratic by start']],
    [/(?:<!--.*?-->\s*)*<x/s, ['nested quantifiers', 'quadratic by start']],
    [/(?<=\p{L})['’]s/u, ['look-behind']],
    [/-+$/, ['quadratic by start']],
    [/^\s*(.*)\s*$/, ['quadratic by backtracking']],
    [/\{%raw%\}[^]*?\{%endraw%\}/, ['quadratic by start']],
    [/"prompt"[^]{0,20000}"version"/, ['quadratic by start']],
    [/\{\{[{~&\s]{0,100}media/, ['quadratic by start']],
    [/^-+$/, []],
    [/-+/, []],
    [/\{\{[^{}|]*\|/, []],
    [/"[^"\\]*/y, []],
  ])('reports the error of %s', (expression, problems) => {
    expect(problemsOf(expression.source, expression.flags)).toEqual(problems);
  });

  test('finds expressions that are assembled at run time', () => {
    expect(expressionsIn('a.ts', 'const a = new RegExp(`${b}+$`); const c = RegExp(d);')).toEqual([
      { path: 'a.ts', source: 'new RegExp(`${b}+$`)', problems: ['assembled'] },
      { path: 'a.ts', source: 'RegExp(d)', problems: ['assembled'] },
    ]);
  });
});

describe('regular expressions', () => {
  const mainThread = filesReachedFrom(root, [
    'electron/server/serve.ts',
    'electron/server/keys.ts',
    'electron/shell/main.ts',
  ]);
  const onMainThread = [...mainThread].flatMap(([path, text]) => expressionsIn(path, text));
  const problems = problemsByFile(onMainThread);

  test('of the main thread take linear time and have no look-behind', () => {
    expect(onMainThread.length).toBeGreaterThan(150);
    expect(Object.fromEntries([...problems].filter(([name]) => !(name in accepted)))).toEqual({});
  });

  test('that are accepted with a reason still need it', () => {
    expect(Object.keys(accepted).filter((name) => !problems.has(name))).toEqual([]);
  });

  test('of workers and child processes, which have limits, are at least not exponential', () => {
    const paths = globSync('{electron,shared}/**/*.ts', { cwd: root }).filter((path) => !mainThread.has(path));
    const found = paths.flatMap((path) => expressionsIn(path, readFileSync(join(root, path), 'utf8')));
    expect(found.filter((each) => each.problems.includes('exponential'))).toEqual([]);
  });
});
