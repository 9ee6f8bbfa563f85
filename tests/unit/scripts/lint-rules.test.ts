import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-lint-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Report {
  diagnostics: { code: string; labels: { span: { line: number } }[] }[];
}

/** The lines of the code at which one of the project's own rules reports something. */
async function reportedLines(code: string, rule = 'effect-returns-cleanup'): Promise<number[]> {
  writeFileSync(join(folder, 'part.tsx'), code);
  const config = {
    jsPlugins: [join(root, 'scripts/lint-rules.mjs')],
    categories: { correctness: 'off' },
    rules: { [`touchstone/${rule}`]: 'error' },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const options = ['-c', join(folder, 'config.json'), '--format', 'json', join(folder, 'part.tsx')];
  const output = await new Promise<string>((resolve) => {
    execFile(join(root, 'node_modules/.bin/oxlint'), options, (_failure, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as Report;
  return diagnostics.map(({ labels }) => labels[0]?.span.line ?? 0).toSorted((one, other) => one - other);
}

test('an effect may return nothing or a cleanup function', async () => {
  const code = `
useEffect(() => {
  void mark.current?.scrollIntoView();
}, []);
useEffect(() => () => clearTimeout(timer), []);
useEffect(() => {
  if (!isOpen) return;
  const find = () => items.find((item) => { return item.id; });
  const stop = subscribe(find);
  return () => stop();
}, []);
useLayoutEffect(function measure() {
  return function stop() { return observer.disconnect(); };
}, []);
call(() => mark.current?.scrollIntoView());
`;
  expect(await reportedLines(code)).toEqual([]);
});

test('reports an effect that returns the value of a call, and one with unknown return values', async () => {
  const code = `
useEffect(() => mark.current?.scrollIntoView(), []);
useLayoutEffect(
  () =>
    list.current?.scrollTo({ top: 0 }),
  [],
);
React.useEffect(() => {
  if (isOpen) return setOpen(false);
}, []);
useInsertionEffect(() => {
  const stop = subscribe(listener);
  return stop;
}, []);
useEffect(async () => {}, []);
useEffect(start, []);
`;
  expect(await reportedLines(code)).toEqual([2, 5, 9, 13, 15, 16]);
});

test('reports a suppression without a reason', async () => {
  const code = `
// oxlint-disable-next-line no-control-regex -- these are the characters of ASCII
const ascii = /[\\0-\\x7f]/;
// oxlint-disable-next-line no-control-regex
const control = /[\\0-\\x1f]/;
/* eslint-disable eqeqeq -- */
// A comment about eslint-disable.
`;
  expect(await reportedLines(code, 'suppression-has-reason')).toEqual([4, 6]);
});

test('reports a lookup of an element by its class', async () => {
  const code = `
document.activeElement.closest('.detail');
layer.querySelector('input, .dialog__foot button');
list.querySelectorAll(\`.row-\${index}\`);
document.getElementsByClassName('row');
layer.querySelector('input[name="a"], [role="menu"]');
pattern.matches(text);
`;
  expect(await reportedLines(code, 'no-class-lookup')).toEqual([2, 3, 4, 5]);
});

test('reports a wait of Vitest without a time of its own', async () => {
  const code = `
await vi.waitFor(() => expect(state()).toBe('ready'));
await vi.waitUntil(isReady);
await vi.waitFor(() => expect(state()).toBe('ready'), patience);
await waitFor(() => expect(state()).toBe('ready'));
`;
  expect(await reportedLines(code, 'wait-has-timeout')).toEqual([2, 3]);
});
