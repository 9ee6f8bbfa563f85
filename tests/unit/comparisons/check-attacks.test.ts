// @module-tag slow
import { afterAll, describe, expect, test } from 'vitest';
import { createCheckRunner } from '../../../electron/comparisons/checks/create-check-runner.ts';
import type { CheckedOutput } from '../../../electron/comparisons/checks/local-checks.ts';
import { createSchemaChecker } from '../../../electron/schemas/create-schema-checker.ts';
import type { Check } from '../../../shared/contract/checks.ts';

const { signal } = new AbortController();
const schemas = createSchemaChecker();
const unused = () => Promise.reject(new Error('unused'));
const runner = createCheckRunner({ schemas, embeddings: { embed: unused }, moderation: { classify: unused } });
afterAll(async () => {
  await runner.close();
  await schemas.close();
});

function output(answer: string): CheckedOutput {
  return { answer, toolCalls: [], finishReason: 'Stop', latencyMs: 12, cost: null, passages: [] };
}

async function runCode(code: string, answer = 'abc', row: Record<string, unknown> = {}) {
  const [result] = await runner.run([{ kind: 'javascript', code }], output(answer), row, { signal });
  return result!;
}

describe('a script', () => {
  test.each([
    ['answer.includes("b")', true, 1],
    ['return answer.length > 5', false, 0],
    ['const n = answer.length; return n / 4;', true, 0.75],
    ['0.2', false, 0.2],
    ['({ pass: true, score: 0.3, reason: "good" })', true, 0.3],
    ['({ score: 0.3 })', false, 0.3],
    ['row.name === "Kim" && latencyMs === 12 && cost === null && toolCalls.length === 0', true, 1],
    ['answer // a comment\n .length === 3', true, 1],
  ])('%s', async (code, pass, score) => {
    expect(await runCode(code, 'abc', { name: 'Kim' })).toMatchObject({ pass, score });
  });

  test.each([
    ['while (true) {}', /^The script took more than 1 s$/],
    ['for (;;) { try { while (true) {} } catch {} }', /^The script took more than 1 s$/],
    ['(function f() { return f() + 1; })()', /^The script failed: (InternalError|RangeError): .*(stack|call)/],
    ['const a = []; for (;;) a.push(new Array(10000).fill(7));', /^The script needed more than 64 MB$|took more than/],
    ['"x".repeat(2 ** 30)', /^The script (needed more than 64 MB|failed: RangeError)/],
    ['const b = new ArrayBuffer(2 ** 31); return b.byteLength > 0', /^The script (needed|failed)/],
    ['throw new Error("no " + answer)', /^The script failed: Error: no abc$/],
    ['throw null', /^The script /],
    ['throw { toString() { throw 1 } }', /^The script failed/],
    ['undefined', /^The script must return/],
    ['"yes"', /^The script must return/],
    ['2', /^The script must return .*another number/],
    ['-0.1', /^The script must return/],
    ['NaN', /^The script must return/],
    ['10n', /^The script must return/],
    ['Symbol("x")', /^The script must return/],
    ['() => true', /^The script must return/],
    ['Promise.resolve(true)', /^The script must return/],
    ['({ pass: "true" })', /^The script must return/],
    ['({ pass: true, score: 7 })', /^The script must return/],
    ['({ get pass() { throw new Error("x") } })', /^The script failed/],
    ['({ get pass() { for (;;) ; } })', /^The script took more than 1 s$/],
    ['new Proxy({}, { get() { for (;;) ; } })', /^The script took more than 1 s$/],
    ['fetch("https://example.com")', /^The script failed: ReferenceError: .*fetch/],
    ['process.exit()', /^The script failed: ReferenceError: .*process/],
    ['require("fs")', /^The script failed: ReferenceError: .*require/],
    ['std.exit(1)', /^The script failed: ReferenceError/],
    ['return (await import("fs")).default', /^The script (failed|is not valid)/],
    ['answer.constructor.constructor("return process")().pid', /^The script failed/],
    ['})(), (() => { while (true) {} })(), ((', /^The script /],
    [')), process.exit(), ((', /^The script /],
    ['/^(a+)+$/.test("a".repeat(40) + "b")', /^The (script|check) took/],
  ])('%s is not judged', async (code, reason) => {
    const result = await runCode(code);
    expect(result.reason).toMatch(reason);
    expect(result).toMatchObject({ pass: null, score: null });
  });

  test('leaves nothing behind for the next one', async () => {
    await runCode(
      'Object.prototype.pass = true; Array.prototype.includes = () => true; globalThis.kept = 1; JSON.parse = null; JSON.stringify = () => "{}"; return true',
    );
    expect(await runCode('typeof kept === "undefined" && ({}).pass === undefined && ![1].includes(2)')).toMatchObject({
      pass: true,
    });
    expect(({} as { pass?: unknown }).pass).toBeUndefined();
    const polluting = '({ score: 0.5, ["__proto__"]: { pass: true } })';
    expect(await runCode(polluting)).toMatchObject({ pass: true, score: 0.5 });
  });

  test('reads an answer of 4 MB', async () => {
    expect(await runCode('answer.length', 'x')).toMatchObject({ pass: true });
    expect(await runCode('answer.length === 4 * 2 ** 20', 'ä'.repeat(4 * 2 ** 20))).toMatchObject({ pass: true });
  });
});

describe('long and deep answers', () => {
  const long = 'a'.repeat(4 * 2 ** 20);

  test.each<[Check, string]>([
    [{ kind: 'regularExpression', pattern: '^(a+)+$' }, `${long}b`],
    [{ kind: 'regularExpression', pattern: '(a|a)*b' }, long],
    [{ kind: 'regularExpression', pattern: '(x+x+)+y' }, 'x'.repeat(100_000)],
    [{ kind: 'regularExpression', pattern: '((a{0,30}){0,30}){0,1}b' }, 'a'.repeat(200_000)],
    [{ kind: 'field', path: 'a', value: 'x' }, '['.repeat(2 ** 20) + ']'.repeat(2 ** 20)],
    [{ kind: 'equals', column: 'deep' }, '[['.repeat(2 ** 20) + ']]'.repeat(2 ** 20)],
    [{ kind: 'toolCall', tool: 'x' }, long],
    [{ kind: 'citation' }, '[1,'.repeat(2 ** 20)],
    [{ kind: 'refusal' }, ' '.repeat(4 * 2 ** 20)],
    [{ kind: 'length', unit: 'words', max: 3 }, 'a '.repeat(2 * 2 ** 20)],
  ])('%j ends, and never blocks', async (check, answer) => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 5);
    const started = performance.now();
    const [result] = await runner.run([check], output(answer), { deep: [[1]] }, { signal });
    clearInterval(timer);
    expect(result!.pass).not.toBe(true);
    const elapsed = performance.now() - started;
    if (elapsed > 1000) expect(ticks).toBeGreaterThan(elapsed / 200);
  });

  test('a check that reaches the limit does not take the others with it', async () => {
    const strict = createCheckRunner(
      { schemas, embeddings: { embed: unused }, moderation: { classify: unused } },
      { milliseconds: 2000, megabytes: 128 },
    );
    const slow: Check = { kind: 'javascript', code: 'new Array(2 ** 24).fill(0).sort(() => 0.5).length > 0' };
    try {
      const checks: Check[] = [{ kind: 'contains', value: 'b' }, slow, { kind: 'length', max: 5 }];
      const results = await strict.run(checks, output('abc'), {}, { signal });
      expect(results.map(({ pass }) => pass)).toEqual([true, null, true]);
    } finally {
      await strict.close();
    }
  });

  test('ends with the reason of the signal', async () => {
    const controller = new AbortController();
    const running = runner.run(
      [{ kind: 'javascript', code: 'for (;;) ;' }],
      output('a'),
      {},
      { signal: controller.signal },
    );
    controller.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    expect(await runCode('true')).toMatchObject({ pass: true });
  });
});
