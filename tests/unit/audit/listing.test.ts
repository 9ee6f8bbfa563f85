// @module-tag slow
import { expect, test } from 'vitest';
import type { AuditIndex } from '../../../electron/audit/index/audit-index.ts';
import { RunSet } from '../../../electron/audit/index/bits.ts';
import { Listing } from '../../../electron/audit/query/listing.ts';
import type { Matches } from '../../../electron/audit/query/selection.ts';
import { Timeline } from '../../../electron/audit/query/timeline.ts';
import { fc } from '../../support/fast-check.ts';

interface Run {
  readonly sequence: number;
  readonly conversation: number;
  readonly time: number;
  readonly isMatch: boolean;
}

/** Some far from each other, so that few of them fill many blocks, and some not in the order of their times. */
const randomRuns = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 9000 })),
      // More than a block, so that the arrays grow.
      conversation: fc.integer({ min: 1, max: 12 }).map((number) => number * 9000),
      late: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 8 })),
      isMatch: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60, size: 'max' },
  )
  .map((random) => {
    let sequence = 0;
    return random.map(({ gap, late, ...run }, index): Run => {
      sequence += gap;
      return { ...run, sequence, time: 1000 + 2 * index - late };
    });
  });

/** Puts the runs in order after every `step` of them. */
function timelineOf(runs: readonly Run[], step: number): Timeline {
  const timeline = new Timeline();
  for (const [index, { sequence, conversation, time }] of runs.entries()) {
    timeline.append(sequence, conversation, time);
    if (index % step === 0) timeline.restoreOrder();
  }
  timeline.restoreOrder();
  return timeline;
}

/** The newest runs of the conversations that have a match. */
function plainList(runs: readonly Run[], last: number): Run[] {
  const past = runs.filter(({ sequence }) => sequence <= last);
  const newest = new Map(past.map((run) => [run.conversation, run]));
  const matched = new Set(past.filter(({ isMatch }) => isMatch).map(({ conversation }) => conversation));
  return [...newest.values()].filter(({ conversation }) => matched.has(conversation));
}

test('a list has the conversations of a plain filter, in order, however many blocks their runs are in', () => {
  fc.assert(
    fc.property(
      randomRuns,
      fc.boolean(),
      fc.nat({ max: 59 }),
      fc.integer({ min: 1, max: 20 }),
      (runs, isNewestFirst, end, step) => {
        const last = runs[Math.min(end, runs.length - 1)]!.sequence;
        const set = new RunSet(runs.filter(({ isMatch }) => isMatch).map(({ sequence }) => sequence));
        const source = { conversationId: (conversation: number) => String(conversation).padStart(6, '0') };
        const index = { timeline: timelineOf(runs, step), source } as unknown as AuditIndex;
        const matches = { block: (block: number) => set.bits(block) } as unknown as Matches;
        const listing = new Listing(index, matches, { last, isNewestFirst });
        const found: number[] = [];
        while (!listing.isDone) {
          listing.extend(found.length + step);
          found.push(...listing.slice(found.length, found.length + step));
        }
        found.push(...listing.slice(found.length, listing.length));
        const sign = isNewestFirst ? -1 : 1;
        const expected = plainList(runs, last).toSorted(
          (one, other) => sign * (one.time - other.time || one.conversation - other.conversation),
        );
        expect(found).toEqual(expected.map(({ sequence }) => sequence));
      },
    ),
    { numRuns: 2000 },
  );
});

test('runs are in the order of time, then of their sequence, and conversations are counted once', () => {
  fc.assert(
    fc.property(randomRuns, fc.integer({ min: 1, max: 20 }), (runs, step) => {
      const timeline = timelineOf(runs, step);
      const ordered = runs.toSorted((one, other) => one.time - other.time).map(({ sequence }) => sequence);
      expect(ordered.map((_, index) => timeline.runAt(index))).toEqual(ordered);
      expect(ordered.map((sequence) => timeline.rankOf(sequence))).toEqual([...ordered.keys()]);
      expect(timeline.conversations).toBe(new Set(runs.map(({ conversation }) => conversation)).size);
    }),
  );
});

test('runs are still in order when there are more than memory is reserved for', () => {
  const timeline = new Timeline();
  const far = 5_000_000;
  const runs = [
    [1, 1, 10],
    [2, 2, 30],
    [far, 1, 20],
    [5 * far, far, 40],
  ] as const;
  for (const [run, conversation, createdAt] of runs) timeline.append(run, conversation, createdAt);
  timeline.restoreOrder();
  expect([0, 1, 2, 3].map((index) => timeline.runAt(index))).toEqual([1, far, 2, 5 * far]);
  expect(runs.map(([run]) => timeline.createdAt[run])).toEqual([10, 30, 20, 40]);
  expect([1, 2, far].map((conversation) => timeline.newestRun(conversation, 5 * far))).toEqual([far, 2, 5 * far]);
  expect(timeline.previous[far]).toBe(1);
});
