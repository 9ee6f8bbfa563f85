// @module-tag slow
import { rmSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { databaseFile, openDatabase } from '../../../electron/storage/database.ts';
import { createRunRemoval } from '../../../electron/storage/retention-store.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import type { SearchRequest } from '../../../electron/audit/query/window-list.ts';
import type { AuditFilter, AuditSort } from '../../../shared/contract/audit.ts';
import {
  fillDatabase,
  generatedCallers,
  generateRuns,
  type GeneratedRun,
} from '../../../benchmarks/support/audit-generator.ts';
import { wordOfRank } from '../../../benchmarks/support/text-writer.ts';
import { plainReport } from './plain-filter.ts';
import { openEngine, walkAll } from './test-engine.ts';
import { longTest } from '../../support/patience.ts';

/** More than a block, so that one of them is sealed and one is not. */
const count = 17_000;
const directory = mkdtempSync(join(tmpdir(), 'touchstone-audit-'));
let runs: GeneratedRun[];

beforeAll(() => {
  runs = [...generateRuns(count, { until: Date.UTC(2026, 10, 20) })];
  fillDatabase(directory, runs);
}, longTest.timeout);
afterAll(() => rmSync(directory, { recursive: true }));

const cases = (): AuditFilter[] => {
  const [early, late] = [runs[50]!.run, runs[count - 50]!.run];
  const middle = new Date(runs[count >> 1]!.run.createdAt).toISOString();
  return [
    {},
    { callerId: generatedCallers[0] },
    { callerId: generatedCallers[11], startDate: middle },
    { endDate: new Date(early.createdAt).toISOString() },
    { appHeaders: { Team: 'legal', release: '2025.1' } },
    { appHeaders: { team: null }, models: ['gpt-4o', 'hl-gpt-4.1-mini'] },
    { feedback: { score: 5 } },
    { feedback: { scoreTags: 'wrong,tone' }, hasFeedback: true },
    { feedback: { scoreText: 'OVER' } },
    { hasFeedback: false, statuses: ['Failed'] },
    { totalMs: { min: 3000 }, cost: { max: 0.0012 } },
    { totalTokens: { min: 0, max: 200 } },
    { conversationId: early.conversationId },
    { conversationId: late.conversationId, conversationRunId: late.runId },
    { workspaceId: runs.find(({ run }) => run.workspaceId !== null)!.run.workspaceId },
    { promptId: runs.find(({ run }) => run.promptId !== null)!.run.promptId },
    { text: wordOfRank(10) },
    { text: `${wordOfRank(60)} ${wordOfRank(61)}`, appHeaders: { team: 'sales' } },
    { text: wordOfRank(3000) },
    { errorCodes: ['provider_silent'] },
  ];
};

/** Of every conversation the run with the smallest key, by it; without one it stands last, of equal ones the newest first. */
function plainOrder(
  all: readonly GeneratedRun[],
  models: readonly string[],
  key: (run: GeneratedRun) => number | null,
): GeneratedRun[] {
  const keyed = all
    .map((run, sequence) => ({ run, sequence, key: key(run) ?? Infinity }))
    .filter(({ run }) => models.includes(run.run.model))
    .toSorted((one, other) => (one.key === other.key ? other.sequence - one.sequence : one.key < other.key ? -1 : 1));
  const first = Map.groupBy(keyed, ({ run }) => run.run.conversationId);
  return [...first.values()].map(([best]) => best!.run);
}

describe('with sealed blocks', () => {
  test('every filter matches the same as a plain one, also after reopening the index', longTest, () => {
    const first = openEngine(directory);
    const found = cases().map((filter) => walkAll(first, filter));
    expect(found).toEqual(cases().map((filter) => plainReport(runs, filter)));
    first.close();
    expect(cases().map((filter) => walkAll(openEngine(directory), filter))).toEqual(found);
  });

  test('a list that is sorted by a number equals a plain sort at every position', longTest, () => {
    const engine = openEngine(directory);
    const filter: AuditFilter = { models: ['gpt-4o', 'hl-gpt-4o-mini'] };
    const keys: Partial<Record<AuditSort, (run: GeneratedRun) => number | null>> = {
      slowest: ({ outcome }) => (outcome.totalMs === null ? null : -outcome.totalMs),
      dearest: ({ outcome }) => (outcome.cost === null ? null : -outcome.cost.amount),
      'lowest-score': ({ feedback }) => feedback?.score ?? null,
    };
    for (const [sort, key] of Object.entries(keys) as [AuditSort, (run: GeneratedRun) => number | null][]) {
      const expected = plainOrder(runs, filter.models!, key);
      const rowsAt = (target: Pick<SearchRequest, 'offset' | 'around'>) =>
        engine.search({ filter, sort, last: null, limit: 50, ...target });
      // From the end to the beginning, so that what is put in order later lies before what was.
      for (const offset of [expected.length - 7, 3000, 2980, 700, 0, expected.length + 5]) {
        const { rows, total } = rowsAt({ offset });
        expect([sort, total, rows.map(({ run }) => run.runId)]).toEqual([
          sort,
          expected.length,
          expected.slice(offset, offset + 50).map(({ run }) => run.runId),
        ]);
      }
      const { run: needed } = expected[1234]!;
      expect(rowsAt({ around: needed.conversationId }).offset).toBe(1234 - 25);
    }
  });

  test.each(['after it followed', 'before it could follow'])(
    "doesn't rebuild an index whose newest runs are removed %s at the next start",
    (when) => {
      const copy = mkdtempSync(join(tmpdir(), 'touchstone-audit-'));
      onTestFinished(() => rmSync(copy, { recursive: true }));
      const all = runs.slice(0, 60);
      fillDatabase(copy, all);
      const first = openEngine(copy);
      const database = openDatabase(copy);
      if (when === 'before it could follow') first.close();
      // What removing the sample set does: its runs are the newest ones.
      const removal = createRunRemoval(database);
      const sequences = database
        .prepare<[], { sequence: number; conversation: number }>(
          'SELECT sequence, conversation FROM runs WHERE sequence > 40',
        )
        .all();
      database.transaction(() => removal.remove(sequences))();
      if (when === 'after it followed') while (first.follow());
      first.close();
      const index = new Database(join(copy, 'audit-index.sqlite'));
      index.exec("INSERT INTO marks (name, value) VALUES ('seen', '1')");
      index.close();
      const second = openEngine(copy);
      const filter: AuditFilter = { text: wordOfRank(3) };
      expect(walkAll(second, filter)).toEqual(plainReport(all.slice(0, 40), filter));
      second.close();
      const stored = new Database(join(copy, 'audit-index.sqlite'), { readonly: true });
      expect(stored.prepare("SELECT value FROM marks WHERE name = 'seen'").pluck().get()).toBe('1');
      stored.close();
      database.close();
    },
  );

  test('rebuilds an index that is damaged, missing, or of another database', longTest, () => {
    const file = join(directory, 'audit-index.sqlite');
    const filter: AuditFilter = { text: wordOfRank(60) };
    const expected = plainReport(runs, filter);
    const index = new Database(file);
    index.exec("UPDATE marks SET value = 'another' WHERE name = 'run-id'");
    index.close();
    expect(walkAll(openEngine(directory), filter)).toEqual(expected);
  });

  test('finds feedback and a workspace that were added after the block was sealed', longTest, async () => {
    const storage = openStorage({ directory });
    const { run } = runs.find(({ run: { workspaceId } }) => workspaceId === null)!;
    const engine = openEngine(directory);
    const text = 'a remark that nobody else made';
    const workspaceId = '77777777-7777-4777-8777-777777777777';
    expect(engine.report({ filter: { workspaceId }, pageSize: 5, position: null, hasFeedback: false }).next).toBeNull();
    storage.audit.giveFeedback(run, { scoreText: text }, { reviewerId: 'reviewer' });
    storage.runs.joinConversation({ ...run, workspaceId, name: '' });
    const matching = (filter: AuditFilter) => walkAll(engine, filter).map((line) => line.split(' ')[0]);
    expect([matching({ feedback: { scoreText: 'NOBODY ELSE' } }), matching({ workspaceId })]).toEqual([
      [run.conversationId],
      [run.conversationId],
    ]);
    expect(walkAll(engine, { text: wordOfRank(60) })).toEqual(plainReport(runs, { text: wordOfRank(60) }));
    await storage.close();
  });

  test('no longer finds removed runs', longTest, () => {
    const engine = openEngine(directory);
    const { run } = runs[100]!;
    const filter: AuditFilter = { conversationRunId: run.runId };
    expect(walkAll(engine, filter)).toHaveLength(1);
    const database = new Database(databaseFile(directory));
    database.exec(`
      DELETE FROM stored_texts WHERE run = 101; DELETE FROM feedback WHERE run = 101; DELETE FROM runs WHERE sequence = 101;
      INSERT INTO run_changes (run, kind) VALUES (101, 'run');
    `);
    database.close();
    expect(walkAll(engine, filter)).toEqual([]);
    const rest = runs.filter((other) => other.run.runId !== run.runId);
    const words: AuditFilter = { text: wordOfRank(60) };
    expect(walkAll(engine, words)).toEqual(plainReport(rest, words));
  });
});
