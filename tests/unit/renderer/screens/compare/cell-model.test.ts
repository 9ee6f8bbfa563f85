import { describe, expect, test } from 'vitest';
import type { ComparedCell, ComparisonReport } from '../../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../../shared/contract/comparisons.ts';
import {
  checkName,
  differenceWords,
  type Difference,
  fieldCount,
  identicalWords,
  positionOn,
  quotedParts,
  rateScale,
  repeatWords,
  summarize,
  timeWords,
} from '../../../../../renderer/screens/compare/results/cell-model.ts';

function cell(change: Partial<ComparedCell> = {}): ComparedCell {
  return {
    rowId: 'r',
    variant: 'A',
    repeat: 1,
    runId: null,
    state: 'Completed',
    failure: null,
    attempts: 1,
    cost: null,
    firstTokenMs: null,
    totalMs: null,
    promptTokens: null,
    completionTokens: null,
    checks: [{ kind: 'contains', name: null, pass: true, score: 1, reason: '' }],
    passed: true,
    score: 1,
    answerHash: 'a',
    answer: 'yes',
    fields: null,
    verdicts: [],
    votes: [],
    ...change,
  };
}

const passes = cell();
const fails = cell({ passed: false, answerHash: 'b' });
const failed = cell({ state: 'Failed', passed: null, answerHash: null, answer: null, checks: [] });
const waiting = { ...failed, state: 'Waiting' as const };

describe('a cell', () => {
  test.each([
    [[passes, passes], 'Passes', '2 identical', 0],
    [[passes, fails, passes], 'Passes 2 of 3', '2 distinct', 1],
    [[fails], 'Fails', '1 identical', 0],
    [[failed, failed], 'Failed', '2 failed', 0],
    [[failed, passes], 'Passes', '1 failed', 1],
    [[passes, waiting], 'Passes', '1 of 2', 0],
    [[waiting, waiting], 'Queued', '', 0],
    [[{ ...waiting, state: 'Running' as const }, waiting], 'Running', '', 0],
    [[{ ...waiting, state: 'Stopped' as const }], 'Stopped', '', 0],
    [[{ ...waiting, state: 'Skipped' as const }], 'Skipped', '1 failed', 0],
    [[cell({ checks: [], passed: null })], 'Done', '1 identical', 0],
    [[cell({ passed: null })], 'Not judged', '1 identical', 0],
  ])('%# says %s', (repeats, word, words, shown) => {
    const summary = summarize(repeats);
    expect([summary.word, repeatWords(summary), summary.shown]).toEqual([word, words, shown]);
  });

  test('says which answers are identical', () => {
    const summary = summarize([passes, fails, passes, failed]);
    expect([summary.answers, identicalWords(summary)]).toEqual([[0, 1, 0, null], '1 and 3 identical']);
    expect(identicalWords(summarize([passes, passes]))).toBe('');
  });

  test('counts fields of the expected object, or else checks of fields', () => {
    expect(fieldCount(cell())).toBeNull();
    const fields = { agreeing: 3, total: 4, wrong: ['form'] };
    expect(fieldCount(cell({ fields }))).toEqual(fields);
    const check = (name: string, pass: boolean | null) => ({ kind: 'field', name, pass, score: null, reason: '' });
    expect(fieldCount(cell({ checks: [check('a', true), check('b', false), check('c', null)] }))).toEqual({
      agreeing: 1,
      total: 2,
      wrong: ['b'],
    });
  });
});

test('the part of an answer is marked that a failed check quotes', () => {
  const failing = (reason: string) => [{ kind: 'contains', name: null, pass: false, score: 0, reason }];
  const answer = 'It goes out today, and we refund "it".';
  const marked = (reason: string) => quotedParts(answer, failing(reason)).find(({ isQuoted }) => isQuoted)?.text;
  expect(marked('The answer contains "and we refund"')).toBe('and we refund');
  expect(marked(String.raw`The answer contains "refund \"it\""`)).toBe('refund "it"');
  expect(marked('Promises “out today”, not "tomorrow"')).toBe('out today');
  expect(marked('No match in the answer')).toBeUndefined();
  expect(
    quotedParts(answer, failing('"today"'))
      .map(({ text }) => text)
      .join(''),
  ).toBe(answer);
  expect(quotedParts('', failing('"today"'))).toEqual([]);
});

describe('a difference', () => {
  const difference: Difference = {
    estimate: 0.09,
    interval: [0.02, 0.16],
    verdict: 'better',
    rows: 120,
    rowsNeeded: null,
    sentence: '',
  };
  const unclear = { ...difference, verdict: 'unclear' as const, interval: [-0.02, 0.16] as [number, number] };

  test.each([
    [difference, '+9 points', '95 % between +2 and +16'],
    [
      { ...difference, verdict: 'worse' as const, estimate: -0.01, interval: [-0.02, -0.004] as [number, number] },
      '−1.0 points',
      '95 % between −2.0 and −0.4',
    ],
    [
      { ...difference, estimate: 0.004, interval: [0.0032, 0.005] as [number, number] },
      '+0.40 points',
      '95 % between +0.32 and +0.50',
    ],
    [
      { ...difference, verdict: 'worse' as const, estimate: -0.0149, interval: [-0.04, -0.01] as [number, number] },
      '−1 point',
      '95 % between −4 and −1',
    ],
    [{ ...unclear, rowsNeeded: 253 }, 'Cannot tell yet', 'About 260 rows would'],
    [{ ...unclear, rowsNeeded: 100_001 }, 'Cannot tell yet', 'More than 100,000 rows would'],
    [unclear, 'Cannot tell yet', 'No difference seen'],
    [{ ...unclear, rows: 0, interval: null }, 'Cannot tell yet', 'No row has both results'],
  ])('%# is %s', (given, word, detail) => {
    expect(differenceWords(given, false)).toMatchObject({ word, detail });
  });

  test('is final when the comparison is', () => {
    expect(differenceWords(unclear, true).word).toBe('Cannot tell');
  });
});

test('all intervals have one scale', () => {
  const variants = (...intervals: ([number, number] | null)[]) =>
    intervals.map((interval) => ({ interval })) as ComparisonReport['variants'];
  expect(rateScale(variants([0.76, 0.87], [0.86, 0.95]))).toEqual({ low: 0.7, high: 1 });
  expect(rateScale(variants(null))).toEqual({ low: 0, high: 1 });
  expect(positionOn({ low: 0.6, high: 1 }, 0.8)).toBeCloseTo(50);
  expect(positionOn({ low: 0.6, high: 1 }, 0.2)).toBe(0);
});

test('a check has its name, or its kind with what it is about', () => {
  expect(checkName({ kind: 'contains', value: 'x', name: 'Order number' })).toBe('Order number');
  expect(checkName({ kind: 'field', path: 'form', value: 'x' })).toBe('Field form');
  expect(checkName({ kind: 'refusal', not: true })).toBe('Not: Refusal');
});

test('time is elapsed and left while it runs, and taken at the end', () => {
  const startedAt = '2026-11-22T10:00:00.000Z';
  const cells = { total: 10, waiting: 6, running: 2, completed: 2, failed: 0, skipped: 0, stopped: 0 };
  const comparison = { startedAt, completedAt: null, state: 'Running', cells } as Comparison;
  const words = (change: Partial<Comparison>, perSecond: number | null) =>
    timeWords(
      { ...comparison, ...change },
      { now: Date.parse(startedAt) + 60_000, perSecond },
      (ms) => `${ms / 1000} s`,
    );
  expect(words({}, 2)).toEqual(['60 s elapsed', 'about 4 s left']);
  expect(words({}, null)).toEqual(['60 s elapsed']);
  expect(words({ completedAt: '2026-11-22T10:00:05.000Z' }, 2)).toEqual(['took 5 s']);
  expect(words({ startedAt: null }, 2)).toEqual([]);
});
