// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCompare } from '../../electron/server/compare-program.ts';
import { hostEnvironment } from '../support/host-environment.ts';
import { nodeOptions } from '../support/node-options.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

const program = fileURLToPath(new URL('../../electron/server/compare.ts', import.meta.url));
const promptfoo = fileURLToPath(new URL('../fixtures/comparisons/promptfooconfig.yaml', import.meta.url));

let host: TestHost;
let folder: string;
beforeAll(async () => {
  host = await startTestHost();
  folder = await mkdtemp(join(tmpdir(), 'touchstone-compare-'));
});
afterAll(async () => {
  await host.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});

const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[]).at(-1)!.content;

/** Runs the program to its end, in this process. */
async function compare(parameters: readonly string[], environment: Record<string, string> = {}) {
  let [stdout, stderr] = ['', ''];
  const output = {
    print: (line: string) => void (stdout += `${line}\n`),
    report: (line: string) => void (stderr += `${line}\n`),
  };
  const inFolder = parameters.map((text) => (/^[\w-]+\.\w+$/.test(text) ? join(folder, text) : text));
  const { signal } = new AbortController();
  const status = await runCompare(inFolder, { environment: { ...hostEnvironment, ...environment }, output, signal });
  return { status, stdout, stderr };
}

/** Runs it as a process. */
async function compareInProcess(parameters: readonly string[]) {
  const child = spawn(process.execPath, [...nodeOptions, program, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: hostEnvironment,
    cwd: folder,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr += text));
  const [status] = (await once(child, 'close')) as [number];
  return { status, stdout, stderr };
}

async function write(name: string, content: unknown): Promise<string> {
  await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return name;
}

const variant = (name: string) => ({
  name,
  prompt: { promptText: `${name}: {{ticket}}` },
  aiSystem: 'OpenAiCompatible',
  model: 'scripted/model',
});
const own = {
  name: 'Tickets',
  dataset: { file: 'tickets.csv' },
  variants: [variant('A'), variant('B 2')],
  checks: [{ kind: 'contains', column: 'expected' }],
};

test('a file of our own runs on a running Touchstone, and conditions decide the exit status', async () => {
  host.provider.answerWith((call) => {
    const prompt = promptOf(call);
    call.chatStream([prompt.startsWith('A') ? prompt : 'nothing']);
  });
  await write(
    'tickets.csv',
    `ticket,expected\n${Array.from({ length: 30 }, (_, row) => `t${row},t${row}`).join('\n')}\n`,
  );
  const file = await write('own.json', own);
  const parameters = [
    file,
    '--url',
    host.listener.address,
    '--output',
    'out.json',
    '--output',
    'out.xml',
    '--output',
    'out.html',
  ];
  const environment = { TOUCHSTONE_KEY: host.key };
  const passed = await compare([...parameters, '--fail-if', "A < 'B 2'", '--fail-if', 'A.passRate < 0.5'], environment);
  expect([passed.status, passed.stderr]).toEqual([0, expect.stringContaining('60 of 60 cells, 0 failed')]);
  expect(passed.stdout).toContain('A: 100 % (95 %:');
  const found = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8'));
  expect(found).toMatchObject({
    comparison: { name: 'Tickets', state: 'Completed' },
    report: {
      variants: [
        { name: 'A', passRate: 1 },
        { name: 'B 2', passRate: 0 },
      ],
    },
    conditions: [{ isMet: false }, { isMet: false }],
  });
  expect(await readFile(join(folder, 'out.xml'), 'utf8')).toContain('<testsuites name="Tickets">');
  expect(await readFile(join(folder, 'out.html'), 'utf8')).toContain('<!doctype html>');

  const failed = await compare([...parameters, '--fail-if', "'B 2' < A", '--max-rows', '20'], environment);
  expect([failed.status, failed.stdout]).toEqual([1, expect.stringContaining(`Failed: --fail-if "'B 2' < A".`)]);
  const met = await compare([...parameters, '--fail-if', 'passRate < 0.8'], environment);
  expect([met.status, met.stdout]).toEqual([1, expect.stringContaining('B 2: passRate 0 (95 %: 0 to ')]);
  const unclear = await compare([...parameters, '--fail-if', 'passRate > 0.999'], environment);
  expect([unclear.status, unclear.stdout]).toEqual([
    0,
    expect.stringContaining('Passed: --fail-if "passRate > 0.999"'),
  ]);
}, 60_000);

test("promptfoo's file runs in a Touchstone of the program's own", async () => {
  host.provider.answerWith((call) => void call.chatStream([promptOf(call)]));
  const base = ['--data-dir', join(folder, 'data'), '--endpoint', `scripted=${host.provider.baseAddress}`];
  const model = ['--model', 'OpenAiCompatible/scripted/model'];
  const { status, stdout, stderr } = await compareInProcess([
    promptfoo,
    ...base,
    ...model,
    '--repeats',
    '2',
    '--output',
    'cells.jsonl',
  ]);
  expect([status, stderr]).toEqual([0, expect.stringContaining('20 of 20 cells, 0 failed')]);
  expect(stdout).toMatch(/: 100 % .*5 of 5 rows\npolite: 100 % /);
  const cells = (await readFile(join(folder, 'cells.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(cells.map(({ values }) => `${values.input} ${values.language}`)).toContain('Thanks German');
  expect(cells.find(({ values }) => values.input === 'Goodbye')).toMatchObject({
    passed: true,
    answer: 'Translate to French: Goodbye',
  });
  expect(cells.flatMap(({ checks }) => checks).map(({ name, kind }) => name ?? kind)).toContain('No apology');
}, 60_000);

test("promptfoo's select-best is a judge that compares the variants after they have run", async () => {
  host.provider.answerWith((call) => {
    const prompt = promptOf(call);
    if (!prompt.startsWith('Which answer')) return void call.chatStream([prompt]);
    const [first, second] = ['first', 'second'].map((side) => prompt.indexOf(`The ${side} answer:`));
    const isPoliteFirst = prompt.slice(first, second).includes('Politely');
    const verdict = isPoliteFirst ? 'first' : 'second';
    call.chatAnswer({ content: JSON.stringify({ reason: 'It is polite.', verdict }) });
  });
  const file = await write('best.json', {
    prompts: ['Shortly {{ticket}}', 'Politely {{ticket}}'],
    providers: ['openai:gpt-4.1'],
    tests: [
      { vars: { ticket: 'late' }, assert: [{ type: 'select-best', value: 'the politest' }] },
      { vars: { ticket: 'lost' }, assert: [{ type: 'select-best', value: 'the kindest' }] },
      { vars: { ticket: 'none' } },
    ],
  });
  const model = 'OpenAiCompatible/scripted/model';
  const parameters = [file, '--url', host.listener.address, '--model', model, '--judge', model, '--output', 'out.json'];
  const { status, stdout, stderr } = await compare(parameters, { TOUCHSTONE_KEY: host.key });
  expect([status, stderr]).toEqual([0, expect.stringContaining('A judge compares ')]);
  expect(stdout).toMatch(/select-best: expect_1: .* preferred in 0, .* preferred in 2 of 3 rows\. Doesn't count yet/);
  const { preferences } = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8'));
  expect(preferences).toEqual([
    expect.objectContaining({ isCalibrated: false, counts: expect.objectContaining({ judged: 2, missing: 1 }) }),
  ]);
}, 60_000);

test.each([
  [
    'a part without a counterpart',
    {
      prompts: ['Hi {{x}}'],
      providers: ['openai:gpt-4.1', 'python:a.py'],
      tests: [{ vars: { x: 1 }, assert: [{ type: 'python', value: 'x' }], threshold: 0.5 }],
    },
    [],
    ['providers: python:a.py', 'tests[0]: python', 'tests[0].threshold', '--skip-unsupported'],
  ],
  [
    'a wrong field of our own',
    { ...own, variants: [{ name: 'A' }] },
    [],
    ['own.json: variants[0].promptVersionId is required'],
  ],
  [
    'an unknown kind of check',
    { ...own, checks: [{ kind: 'contain', value: 'x' }] },
    [],
    ['own.json: checks[0].kind must be one of `equals`, `contains`, '],
  ],
  ['no service', own, ['--url', 'http://127.0.0.1:1'], ["doesn't answer"]],
  ['an unknown variant', own, ['--fail-if', 'C < A'], ['"C" is no variant']],
  ['a wrong condition', own, ['--fail-if', 'A is bad'], ['--fail-if "A is bad"']],
  ['a wrong number', own, ['--repeats', '0'], ['--repeats must be a number from 1 to 100']],
] as readonly (readonly [string, unknown, readonly string[], readonly string[]])[])(
  'rejects %s with the status 2',
  async (_, content, parameters, expected) => {
    const file = await write('own.json', content);
    const url = parameters.includes('--url') ? [] : ['--url', host.listener.address];
    const { status, stderr } = await compare([file, ...url, ...parameters], { TOUCHSTONE_KEY: host.key });
    expect(status).toBe(2);
    for (const text of expected) expect(stderr).toContain(text);
  },
);
