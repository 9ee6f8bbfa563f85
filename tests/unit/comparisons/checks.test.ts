import { afterAll, describe, expect, test } from 'vitest';
import { createCheckRunner } from '../../../electron/comparisons/checks/create-check-runner.ts';
import { cellVerdict } from '../../../electron/comparisons/checks/combine-results.ts';
import type { CheckedOutput } from '../../../electron/comparisons/checks/local-checks.ts';
import type { CheckServices } from '../../../electron/comparisons/checks/service-checks.ts';
import { createSchemaChecker } from '../../../electron/schemas/create-schema-checker.ts';
import { validate } from '../../../electron/common/validate.ts';
import { AppError } from '../../../shared/app-error.ts';
import { type Check, checkList } from '../../../shared/contract/checks.ts';

const { signal } = new AbortController();
const schemas = createSchemaChecker();

/** Vectors along the axes: texts with the same first letter are the same. */
const embeddings: CheckServices['embeddings'] = {
  embed: (texts) =>
    Promise.resolve(
      texts.map((text) => Float32Array.from({ length: 26 }, (_, index) => (text.charCodeAt(0) - 97 === index ? 1 : 0))),
    ),
};

const none = { sexual: false, hatred: false, harassment: false, selfHarm: false, violence: false };
const scores = { sexual: 0.1, hatred: 0.1, harassment: 0.2, selfHarm: 0.1, violence: 0.1 };
const moderation: CheckServices['moderation'] = {
  classify: (text) =>
    text === 'down'
      ? Promise.reject(new AppError('provider_failed', 'The classifier is down.'))
      : Promise.resolve({
          model: 'test',
          flagged: text.includes('fool'),
          categories: { ...none, harassment: text.includes('fool') },
          categoryScores: scores,
          thresholds: scores,
          highlights: [],
          rawAnswer: null,
        }),
};

/** Knows one judge, which passes answers with "good" and counts for rows that say so. */
const judges: NonNullable<CheckServices['judges']> = {
  kindOf: (id) => (id === 'known' ? 'passOrFail' : null),
  familyWarning: () => 'same family',
  judge: (_, { runId, answer, row }) => {
    if (answer === 'down') return Promise.reject(new AppError('provider_overloaded', 'The judge is down.'));
    const [pass, counts] = [answer.includes('good'), row['counts'] === true];
    const silent = { verdict: null, pass: null, score: null };
    const found =
      answer === 'odd' ? silent : { verdict: pass ? ('pass' as const) : ('fail' as const), pass, score: Number(pass) };
    return Promise.resolve({
      judgeHash: 'h',
      runIds: [`judge of ${runId}`],
      reason: 'Because.',
      ...found,
      counts,
      cost: 0.01,
    });
  },
};

const runner = createCheckRunner({ schemas, embeddings, moderation, judges });
afterAll(async () => {
  await runner.close();
  await schemas.close();
});

function output(answer: string, changes: Partial<CheckedOutput> = {}): CheckedOutput {
  return { answer, toolCalls: [], finishReason: 'Stop', latencyMs: 1200, cost: 0.002, passages: [], ...changes };
}

async function run(check: Check, result: CheckedOutput | string, row: Record<string, unknown> = {}) {
  const checked = typeof result === 'string' ? output(result) : result;
  const [found] = await runner.run([check], checked, row, { signal });
  return found!;
}

describe('checks', () => {
  test.each<[Check, CheckedOutput | string, Record<string, unknown>, boolean | null]>([
    [{ kind: 'equals', value: 'Yes' }, ' Yes\n', {}, true],
    [{ kind: 'equals', value: 'Yes' }, 'yes', {}, false],
    [{ kind: 'equals', value: 'Yes', ignoreCase: true }, 'yes', {}, true],
    [{ kind: 'equals', column: 'expected' }, 'NW-1', { expected: 'NW-1' }, true],
    [{ kind: 'equals', column: 'expected' }, '{"b": [1, 2], "a": null}', { expected: { a: null, b: [1, 2] } }, true],
    [{ kind: 'equals', column: 'expected' }, '{"a": null}', { expected: { a: null, b: [1, 2] } }, false],
    [{ kind: 'equals', column: 'missing' }, 'NW-1', { expected: 'NW-1' }, null],
    [{ kind: 'equals', column: 'toString' }, 'NW-1', {}, null],
    [{ kind: 'equals', value: 'Order {{ no }} of {{name}}' }, 'Order 7 of Kim', { no: 7, name: 'Kim' }, true],
    [{ kind: 'contains', value: '{{no}}' }, 'Your order NW-1 is late', { no: 'NW-1' }, true],
    [{ kind: 'contains', value: '{{no}}' }, 'Your order is late', { no: 'NW-1' }, false],
    [{ kind: 'contains', value: '{{no}}' }, 'Your order is late', { no: '' }, null],
    [{ kind: 'contains', value: 'REFUND', not: true, ignoreCase: true }, 'No refund', {}, false],
    [{ kind: 'regularExpression', pattern: 'NW-\\d{5}' }, 'see NW-48213.', {}, true],
    [{ kind: 'regularExpression', pattern: '^b', flags: 'm' }, 'a\nb', {}, true],
    [{ kind: 'regularExpression', pattern: '^{{part}}$' }, 'a+b', { part: 'a+b' }, true],
    [{ kind: 'regularExpression', pattern: '^{{part}}$' }, 'aab', { part: 'a+b' }, false],
    [{ kind: 'jsonSchema', schema: { type: 'object', required: ['a'] } }, '{"a": 1}', {}, true],
    [{ kind: 'jsonSchema', schema: { type: 'object', required: ['a'] } }, '{"b": 1}', {}, false],
    [{ kind: 'jsonSchema', schema: { type: 'object' } }, 'Sure! {}', {}, false],
    [{ kind: 'field', path: 'a.b[1].c', column: 'months' }, '{"a": {"b": [0, {"c": 2}]}}', { months: '2' }, true],
    [{ kind: 'field', path: '/a/b/1/c', column: 'months' }, '{"a": {"b": [0, {"c": 3}]}}', { months: 2 }, false],
    [{ kind: 'field', path: '[1].c', value: '2' }, '[0, {"c": 2}]', {}, true],
    [{ kind: 'field', path: 'form', value: 'text' }, '{"form": "text"}', {}, true],
    [{ kind: 'field', path: 'form', value: 'null' }, '{"form": null}', {}, true],
    [{ kind: 'field', path: '__proto__', value: 'text' }, '{"form": "text"}', {}, false],
    [{ kind: 'field', path: 'form', value: 'text' }, 'form: text', {}, false],
    [{ kind: 'length', max: 3 }, 'a😀b', {}, true],
    [{ kind: 'length', min: 4 }, 'a😀b', {}, false],
    [{ kind: 'length', unit: 'words', min: 2, max: 2 }, ' two  words ', {}, true],
    [{ kind: 'latency', maxMs: 1000 }, 'a', {}, false],
    [{ kind: 'latency', maxMs: 1000 }, output('a', { latencyMs: null }), {}, null],
    [{ kind: 'cost', maxCost: 0.01 }, 'a', {}, true],
    [{ kind: 'cost', maxCost: 0.01 }, output('a', { cost: null }), {}, null],
    [{ kind: 'similarity', value: 'apples' }, 'apple', {}, true],
    [{ kind: 'similarity', value: 'bananas' }, 'apple', {}, false],
    [{ kind: 'similarity', value: 'bananas' }, '', {}, null],
    [{ kind: 'similarity', value: 'apples', transform: 'JSON.parse(answer).reply' }, '{"reply": "apple"}', {}, true],
    [{ kind: 'similarity', value: 'apples', transform: 'const x = 1;\nreturn row.none.x;' }, 'apple', {}, null],
    [{ kind: 'moderation' }, 'Good morning', {}, true],
    [{ kind: 'moderation' }, 'You fool', {}, false],
    [{ kind: 'moderation', categories: ['violence'] }, 'You fool', {}, true],
    [{ kind: 'moderation' }, 'down', {}, null],
    [{ kind: 'refusal' }, 'I’m sorry, but I can’t help with that.', {}, true],
    [{ kind: 'refusal' }, 'Thanks for asking. I cannot assist with this request.', {}, true],
    [{ kind: 'refusal' }, 'Thanks for asking\nI cannot help with that.', {}, true],
    [{ kind: 'refusal' }, 'Es tut mir leid, aber dabei kann ich nicht helfen.', {}, true],
    [{ kind: 'refusal' }, 'You can answer "I cannot help" to such mails.', {}, false],
    [{ kind: 'refusal' }, output('', { finishReason: 'ContentFilter' }), {}, true],
    [{ kind: 'refusal', not: true }, 'Gladly: the answer is 4.', {}, true],
    [{ kind: 'citation' }, output('Yes [1][2].', { passages: [1, 2, 3] }), {}, true],
    [{ kind: 'citation', min: 3 }, output('Yes [1, 2].', { passages: [1, 2, 3] }), {}, false],
    [{ kind: 'citation' }, output('Yes [4].', { passages: [1, 2, 3] }), {}, false],
    [{ kind: 'citation' }, output('Yes.', { passages: [1] }), {}, false],
  ])('%j', async (check, result, row, pass) => {
    const found = await run(check, result, row);
    expect(found.pass, found.reason).toBe(pass);
    expect(found.reason).not.toBe('');
    if (pass === null) expect(found.score).toBeNull();
  });

  test('a tool call may have more than the expected arguments', async () => {
    const called = output('', {
      toolCalls: [
        { name: 'search', arguments: 'not JSON' },
        { name: 'refund', arguments: '{"order": {"no": "NW-1", "lines": [{"id": 7, "n": 1}]}, "note": "x"}' },
      ],
    });
    const row = { order: 'NW-1', id: 7 };
    const check = (expected: Record<string, unknown>): Check => ({
      kind: 'toolCall',
      tool: 'refund',
      arguments: expected,
    });
    expect(await run({ kind: 'toolCall', tool: 'refund' }, called)).toMatchObject({ pass: true });
    expect(await run({ kind: 'toolCall', tool: 'mail' }, called)).toMatchObject({
      pass: false,
      reason: 'Called search, refund instead',
    });
    expect(await run({ kind: 'toolCall', tool: 'search', arguments: {} }, called)).toMatchObject({ pass: false });
    expect(await run(check({ order: { no: '{{order}}', lines: [{ id: '{{id}}' }] } }), called, row)).toMatchObject({
      pass: true,
    });
    expect(await run(check({ order: { no: 'NW-2' } }), called, row)).toMatchObject({ pass: false });
    expect(await run(check({ order: { lines: [] } }), called, row)).toMatchObject({ pass: false });
  });

  test('the reason quotes the start of a long call, in whole characters', async () => {
    const called = output('', { toolCalls: [{ name: 'search', arguments: `${'x'.repeat(199)}😀` }] });
    expect(await run({ kind: 'toolCall', tool: 'search', arguments: {} }, called)).toMatchObject({
      reason: `Called search with ${'x'.repeat(199)}…`,
    });
  });

  test('a judge decides only if it is calibrated', async () => {
    const judge: Check = { kind: 'judge', judgeId: 'known' };
    const other: Check = { kind: 'length', min: 1 };
    const judged = { runId: 'r', origin: { callerId: 'c', key: null, appHeaders: {} }, concurrency: 4 };
    const runJudge = async (answer: string, counts: boolean) => {
      const checks = [judge, other, { kind: 'all' as const, checks: [judge, other] }];
      const results = await runner.run(checks, output(answer), { counts }, { signal, judged });
      return { results, cell: cellVerdict(checks, results) };
    };
    const calibrated = await runJudge('bad', true);
    expect(calibrated.results[0]).toEqual({
      kind: 'judge',
      name: null,
      pass: false,
      score: 0,
      reason: 'Because.',
      counts: true,
      runIds: ['judge of r'],
      cost: 0.01,
    });
    expect(calibrated.cell).toEqual({ pass: false, score: 0.5 });
    const uncalibrated = await runJudge('bad', false);
    expect(uncalibrated.results[0]).toMatchObject({
      pass: false,
      counts: false,
      reason: expect.stringContaining('not calibrated'),
    });
    expect(uncalibrated.results[2]).toMatchObject({ pass: true, score: 1 });
    expect(uncalibrated.cell).toEqual({ pass: true, score: 1 });
    for (const [answer, reason] of [
      ['odd', 'Because.'],
      ['down', 'The judge is down.'],
    ] as const) {
      expect((await runJudge(answer, true)).results[0]).toMatchObject({ pass: null, score: null, reason });
    }
    expect((await runner.run([judge], output('good'), {}, { signal }))[0]).toMatchObject({ pass: null });
  });

  test('a judge that is not calibrated decides nothing inside others either', async () => {
    const judge: Check = { kind: 'judge', judgeId: 'known' };
    const other: Check = { kind: 'length', min: 1 };
    const judged = { runId: 'r', origin: { callerId: 'c', key: null, appHeaders: {} }, concurrency: 4 };
    const runChecks = async (checks: Check[], counts = false) => {
      const results = await runner.run(checks, output('bad'), { counts }, { signal, judged });
      return { result: results[1], cell: cellVerdict(checks, results) };
    };
    const judgesOnly: Check = { kind: 'all', checks: [{ kind: 'any', checks: [judge] }] };
    const alone = await runChecks([other, judgesOnly]);
    expect(alone.result).toMatchObject({ pass: false, score: 0, counts: false });
    expect(alone.cell).toEqual({ pass: true, score: 1 });
    const inverted = await runChecks([other, { kind: 'any', not: true, checks: [judge, { ...other, weight: 0 }] }]);
    expect(inverted.result).toMatchObject({ pass: true, score: 1, counts: false });
    expect((await runChecks([other, judgesOnly], true)).cell).toEqual({ pass: false, score: 0.5 });

    const mixed: Check = { kind: 'all', checks: [judge, other] };
    const { result } = await runChecks([other, mixed]);
    expect(result).toMatchObject({ pass: true, runIds: ['judge of r'], uncountedRunIds: ['judge of r'] });
    expect(result).not.toHaveProperty('counts');
    expect((await runChecks([other, mixed], true)).result).not.toHaveProperty('uncountedRunIds');
  });

  test('are combined: what is not judged could be either', async () => {
    const pass: Check = { kind: 'contains', value: 'a' };
    const fail: Check = { kind: 'contains', value: 'z' };
    const unknown: Check = { kind: 'contains', column: 'missing' };
    const all = async (...checks: Check[]) => (await run({ kind: 'all', checks }, 'abc')).pass;
    const any = async (...checks: Check[]) => (await run({ kind: 'any', checks }, 'abc')).pass;
    expect([await all(pass, pass), await all(pass, fail), await all(pass, unknown), await all(fail, unknown)]).toEqual([
      true,
      false,
      null,
      false,
    ]);
    expect([await any(fail, pass), await any(fail, fail), await any(fail, unknown), await any(pass, unknown)]).toEqual([
      true,
      false,
      null,
      true,
    ]);
    const nested: Check = { kind: 'all', checks: [pass, { kind: 'any', not: true, checks: [fail, fail] }] };
    expect(await run(nested, 'abc')).toMatchObject({ pass: true, score: 1 });
    expect(await run({ kind: 'all', name: 'Both', checks: [pass, { ...fail, weight: 3 }] }, 'abc')).toMatchObject({
      name: 'Both',
      score: 0.25,
      reason: '1 of 2 pass. contains: The answer doesn\'t contain "z"',
    });
  });

  test('decide a cell by those with a weight', () => {
    const result = (pass: boolean | null) => ({
      kind: 'x',
      name: null,
      pass,
      score: pass === null ? null : Number(pass),
      reason: 'x',
    });
    const check = (weight?: number): Check => ({ kind: 'refusal', ...(weight !== undefined && { weight }) });
    expect(cellVerdict([check(), check(0)], [result(true), result(false)])).toEqual({ pass: true, score: 1 });
    expect(cellVerdict([check(1), check(3)], [result(true), result(false)])).toEqual({ pass: false, score: 0.25 });
    expect(cellVerdict([check(), check()], [result(true), result(null)])).toEqual({ pass: null, score: 1 });
    expect(cellVerdict([], [])).toEqual({ pass: null, score: null });
  });
});

describe('invalid checks', () => {
  function issueOf(checks: unknown): string {
    try {
      validate(checkList, checks, 'checks');
      return 'valid';
    } catch (error) {
      return (error as AppError).details.map(({ field, issue }) => `${field} ${issue}`).join('; ');
    }
  }

  test.each([
    [[{ kind: 'equal' }], /^\[0\]\.kind must be one of `equals`, `contains`, /],
    [[{ kind: 'equals' }], /^\[0\]\.value is required unless `column` is given$/],
    [[{ kind: 'equals', value: 'a', column: 'b' }], /^\[0\]\.column must not be given together with `value`$/],
    [[{ kind: 'latency', maxMs: '1' }], /^\[0\]\.maxMs must be of type number$/],
    [[{ kind: 'length', min: 3, max: 2 }], /^\[0\]\.max must be at least `min`$/],
    [[{ kind: 'length' }], /^\[0\]\.max is required unless `min` is given$/],
    [[{ kind: 'refusal', wieght: 1 }], /^\[0\]\.wieght is not a known field$/],
    [[{ kind: 'refusal' }, { kind: 'all', checks: [] }], /^\[1\]\.checks must not be empty$/],
    [[{ kind: 'all', checks: [{ kind: 'cost', maxCost: -1 }] }], /^\[0\]\.checks\[0\]\.maxCost must be at least 0$/],
    [[{ kind: 'regularExpression', pattern: 'x'.repeat(1001) }], /^\[0\]\.pattern must have at most 1000 characters$/],
  ])('%j are named', (checks, issue) => {
    expect(issueOf(checks)).toMatch(issue);
  });

  test('are at most 100, and 5 deep', () => {
    const many = Array.from({ length: 60 }, () => ({ kind: 'refusal' }));
    expect(
      issueOf([
        { kind: 'all', checks: many },
        { kind: 'any', checks: many },
      ]),
    ).toContain('at most 100 checks');
    let deep: unknown = { kind: 'refusal' };
    for (let depth = 0; depth < 200; depth += 1) deep = { kind: 'all', checks: [deep] };
    expect(issueOf([deep])).toContain('at most 5 checks inside each other');
  });

  test('are named by their fields', async () => {
    const checks: Check[] = [
      { kind: 'refusal' },
      { kind: 'regularExpression', pattern: 'a(' },
      {
        kind: 'all',
        checks: [
          { kind: 'javascript', code: 'return (' },
          { kind: 'jsonSchema', schema: { type: 'objekt' } },
        ],
      },
      { kind: 'regularExpression', pattern: '(?=a)' },
      { kind: 'judge', judgeId: 'unknown' },
      { kind: 'regularExpression', pattern: '^{{name}}+$' },
      { kind: 'javascript', code: 'answer.length > 3' },
    ];
    await expect(runner.validate(checks, { signal })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^checks\[1\]\.pattern is not a valid regular expression: /),
      details: [
        { field: 'checks[1].pattern' },
        { field: 'checks[2].checks[0].code', issue: expect.stringMatching(/^is not valid JavaScript: SyntaxError: /) },
        { field: 'checks[2].checks[1].schema', issue: expect.stringContaining('/type must be one of') },
        { field: 'checks[3].pattern' },
        { field: 'checks[4].judgeId', issue: 'is not a judge' },
      ],
    });
    await expect(runner.validate(checks.slice(5), { signal })).resolves.toBeUndefined();
  });
});
