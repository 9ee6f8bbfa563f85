// @module-tag slow
import Database from 'better-sqlite3';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { databaseFile } from '../../../electron/storage/database.ts';
import { createRunRemoval } from '../../../electron/storage/retention-store.ts';
import type { NewRun } from '../../../electron/storage/run-rows.ts';
import { createLocalRuns } from '../../../electron/team/local-runs.ts';
import { TeamEngine } from '../../../electron/team/team-engine.ts';
import { patience } from '../../support/patience.ts';
import { describeWithPostgres } from '../../support/postgres.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import { connectTeam, createCopier, createTeamDatabase, usePostgres } from './team-world.ts';

type TestStorage = ReturnType<typeof openTestStorage>;

function begin(storage: TestStorage, run: Partial<NewRun> = {}): NewRun {
  const recorded = sampleRun(run);
  storage.runs.begin(recorded);
  return recorded;
}

async function record(storage: TestStorage, run: Partial<NewRun> = {}): Promise<NewRun> {
  const recorded = begin(storage, run);
  await storage.runs.finish(recorded.runId, sampleOutcome());
  return recorded;
}

function edit(storage: TestStorage, change: (database: Database.Database) => void): void {
  storage.flush();
  const database = new Database(databaseFile(storage.directory));
  database.transaction(change)(database);
  database.close();
}

function remove(storage: TestStorage, { runId }: NewRun): void {
  edit(storage, (database) => {
    const run = database
      .prepare<[string], { sequence: number; conversation: number }>(
        'SELECT sequence, conversation FROM runs WHERE id = ?',
      )
      .get(runId)!;
    createRunRemoval(database).remove([run]);
  });
}

function answerQuestion(storage: TestStorage, { runId }: NewRun, question: string): void {
  edit(storage, (database) => {
    database
      .prepare(
        `INSERT INTO feedback_history (run, id, reviewer, rubric_item_id, value_json, question, created_at)
         SELECT sequence, ?, 'Ann', ?, 'true', ?, 1 FROM runs WHERE id = ?`,
      )
      .run(randomUUID(), randomUUID(), question, runId);
    database
      .prepare("INSERT INTO run_changes (run, kind) SELECT sequence, 'feedback' FROM runs WHERE id = ?")
      .run(runId);
  });
}

describeWithPostgres('copying to the team database', () => {
  const server = usePostgres();

  test('waits for no run that was removed before it was copied', async () => {
    const storage = openTestStorage();
    const copier = createCopier(storage, await connectTeam(await createTeamDatabase(server())));
    await record(storage);
    await copier.copyAll();
    remove(storage, await record(storage));
    await copier.step();
    expect(await copier.step()).toMatchObject({ copied: 0, waiting: 0 });
    await record(storage);
    storage.flush();
    expect(await copier.step()).toMatchObject({ copied: 1, waiting: 0 });
  });

  test('has every change of a run, whatever the question of a review is', async () => {
    const storage = openTestStorage();
    const address = await createTeamDatabase(server());
    const copier = createCopier(storage, await connectTeam(address));
    const run = await record(storage, { renderedPrompt: 'A secret of Mrs Smith' });
    await copier.copyAll();
    answerQuestion(storage, run, 'Is it \0 good?');
    expect(storage.retention.apply('anonymise', Date.UTC(2030, 0, 1), 100)).toBe(1);
    await copier.copyAll();
    expect(await server().query(address, 'SELECT rejected FROM touchstone.hosts')).toEqual([{ rejected: '0' }]);
    expect(
      await server().query(address, `SELECT 1 FROM touchstone.run_texts WHERE contents::text LIKE '%Mrs Smith%'`),
    ).toEqual([]);
  });

  test("leaves out only the run or the change that can't be stored, and counts it", async () => {
    const storage = openTestStorage();
    const address = await createTeamDatabase(server());
    const copier = createCopier(storage, await connectTeam(address));
    const [first, bad, last] = [begin(storage), begin(storage), begin(storage)];
    await copier.copyAll();
    for (const { runId } of [first, bad, last]) await storage.runs.finish(runId, sampleOutcome());
    const added = await record(storage);
    await server().query(
      address,
      `CREATE FUNCTION touchstone.reject() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'too long' USING ERRCODE = '54000'; END $$;
       CREATE TRIGGER reject BEFORE INSERT ON touchstone.runs FOR EACH ROW
         WHEN (NEW.id = '${bad.runId}') EXECUTE FUNCTION touchstone.reject();
       CREATE TRIGGER reject_change BEFORE UPDATE ON touchstone.runs FOR EACH ROW
         WHEN (NEW.id = '${last.runId}') EXECUTE FUNCTION touchstone.reject()`,
    );
    const state = async () => [
      (await server().query<{ id: string }>(address, 'SELECT id FROM touchstone.runs')).map(({ id }) => id).toSorted(),
      await server().query(address, 'SELECT rejected FROM touchstone.hosts'),
    ];
    const stored = [first, last, added].map(({ runId }) => runId).toSorted();
    await copier.copyAll();
    expect(await state()).toEqual([stored, [{ rejected: '1' }]]);
    answerQuestion(storage, last, 'Is it good?');
    await copier.copyAll();
    expect(await state()).toEqual([stored, [{ rejected: '2' }]]);
  });

  test("removes other hosts' comments on a run that is anonymised", async () => {
    const storage = openTestStorage();
    const address = await createTeamDatabase(server());
    const connection = await connectTeam(address);
    const copier = createCopier(storage, connection);
    const run = await record(storage);
    await copier.copyAll();
    const comment = { score: 1, scoreText: 'Of Mrs Smith', scoreTags: null };
    await new TeamEngine(connection.database).giveFeedback(run, comment, 'auditor');
    expect(storage.retention.apply('anonymise', Date.UTC(2030, 0, 1), 100)).toBe(1);
    await copier.copyAll();
    for (const table of ['runs', 'feedback_history'])
      expect(await server().query(address, `SELECT score, score_text FROM touchstone.${table}`), table).toEqual([
        { score: 1, score_text: null },
      ]);
  });

  test('leaves the name and the workspace to a conversation that another host continues, until it is anonymised', async () => {
    const [one, other] = [openTestStorage(), openTestStorage()];
    const connection = await connectTeam(await createTeamDatabase(server()));
    const copiers = [one, other].map((storage) => createCopier(storage, connection));
    const [conversationId, workspaceId] = [randomUUID(), randomUUID()];
    await record(one, { conversationId, workspaceId, renderedPrompt: 'First' });
    await record(other, { conversationId, renderedPrompt: 'And then?' });
    for (const copier of copiers) await copier.copyAll();
    const engine = new TeamEngine(connection.database);
    const named = async () => {
      const { name, workspaceId: id } = (await engine.readConversation({ id: conversationId, hasFeedback: false }))!;
      return [name, id];
    };
    expect(await named()).toEqual(['First', workspaceId]);
    expect(other.retention.apply('anonymise', Date.UTC(2030, 0, 1), 100)).toBe(1);
    for (const copier of copiers) await copier.copyAll();
    expect(await named()).toEqual(['Anonymised', workspaceId]);
  });

  test("shows a caller no run that another one has under the same conversation's ID", async () => {
    const [one, other] = [openTestStorage(), openTestStorage()];
    const connection = await connectTeam(await createTeamDatabase(server()));
    const [conversationId, callerId] = [randomUUID(), randomUUID()];
    const { runId } = await record(one, { conversationId, callerId });
    await record(other, { conversationId, callerId: randomUUID() });
    for (const storage of [one, other]) await createCopier(storage, connection).copyAll();
    const read = async (options: object) =>
      (await new TeamEngine(connection.database).readConversation({
        id: conversationId,
        hasFeedback: false,
        ...options,
      }))!;
    expect((await read({})).runs).toHaveLength(2);
    const own = await read({ callerId });
    expect([own.callerId, own.runs.map((run) => run.conversationRunId)]).toEqual([callerId, [runId]]);
  });

  test('gives a query that starts the feedback and the removals until then', async () => {
    const storage = openTestStorage();
    const connection = await connectTeam(await createTeamDatabase(server()));
    const copier = createCopier(storage, connection);
    const runs = [];
    for (let day = 1; day <= 5; day += 1) runs.push(await record(storage, { createdAt: Date.UTC(2026, 10, day) }));
    await copier.copyAll();
    const engine = new TeamEngine(connection.database);
    const walk = { filter: {}, pageSize: 2, position: null, hasFeedback: false };
    const rated = { filter: { hasFeedback: true }, sort: 'newest' as const, last: null, limit: 10 };
    expect((await engine.report(walk)).conversations).toHaveLength(2);
    expect((await engine.search(rated)).total).toBe(0);
    await engine.giveFeedback(runs[0]!, { score: 1, scoreText: null, scoreTags: null }, 'auditor');
    expect((await engine.search(rated)).total).toBe(1);
    for (const run of runs.slice(2, 4)) remove(storage, run);
    await copier.copyAll();
    const first = await engine.report(walk);
    const second = await engine.report({ ...walk, position: first.next });
    const pages = [first, second].map(({ conversations }) =>
      conversations.map(({ runs: [run] }) => run!.conversationRunId),
    );
    expect(pages).toEqual([[runs[4]!.runId, runs[1]!.runId], [runs[0]!.runId]]);
  });

  test('compares feedback by the clock of the database, also from a device whose clock is behind', async () => {
    const storage = openTestStorage();
    const runs = [await record(storage), await record(storage)];
    const connection = await connectTeam(await createTeamDatabase(server()));
    const copier = createCopier(storage, connection);
    await copier.copyAll();
    const engine = new TeamEngine(connection.database);
    const feedback = (score: number) => ({ score, scoreText: null, scoreTags: null });
    const now = Date.now.bind(Date);
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 600_000);
    onTestFinished(() => clock.mockRestore());
    await engine.giveFeedback(runs[0]!, feedback(-5), 'auditor');
    for (const run of runs) storage.audit.giveFeedback(run, feedback(7), { reviewerId: 'reviewer' });
    await engine.giveFeedback(runs[1]!, feedback(-5), 'auditor');
    await copier.copyAll();
    const read = async ({ conversationId: id }: NewRun) =>
      (await engine.readConversation({ id, hasFeedback: true }))?.runs[0]?.feedback?.score;
    expect([await read(runs[0]!), await read(runs[1]!)]).toEqual([7, -5]);
  });

  test('replaces the words of all runs once its position is set back', async () => {
    const storage = openTestStorage();
    for (let count = 0; count < 3; count += 1) await record(storage, { renderedPrompt: 'мой чай' });
    const address = await createTeamDatabase(server());
    const connection = await connectTeam(address);
    const copier = createCopier(storage, connection);
    await copier.copyAll();
    await server().query(address, "UPDATE touchstone.run_texts SET words = ''::tsvector");
    const found = async () =>
      (await new TeamEngine(connection.database).summarize({ filter: { text: 'чай' } })).conversations;
    expect(await found()).toBe(0);
    const [statement] = /UPDATE touchstone\.hosts SET copied_run[^`]+/.exec(readFileSync('docs/team.md', 'utf8'))!;
    await server().query(address, statement);
    await copier.copyAll();
    expect(await found()).toBe(3);
  });

  test('has no removed run once all runs are compared again, and has one that is imported again', async () => {
    const storage = openTestStorage();
    const address = await createTeamDatabase(server());
    const runs = [await record(storage), await record(storage), await record(storage)];
    await createCopier(storage, await connectTeam(address)).copyAll();
    // As by a copy of the data folder that recorded another run.
    await server().query(address, `UPDATE touchstone.hosts SET copied_run_id = '${randomUUID()}'`);
    remove(storage, runs[0]!);
    remove(storage, runs[1]!);
    const { runId, conversationId } = runs[1]!;
    await record(storage, { runId, conversationId });
    await createCopier(storage, await connectTeam(address)).copyAll();
    const stored = await server().query<{ id: string }>(address, 'SELECT id FROM touchstone.runs');
    expect(stored.map(({ id }) => id).toSorted()).toEqual([runId, runs[2]!.runId].toSorted());
  });

  test('leaves a run as it is that another host copied under the same ID', async () => {
    const [first, second] = [openTestStorage(), openTestStorage()];
    const [runId, conversationId] = [randomUUID(), randomUUID()];
    await record(first, { runId, conversationId, renderedPrompt: 'of the first' });
    await record(second, { runId, renderedPrompt: 'of the second' });
    const connection = await connectTeam(await createTeamDatabase(server()));
    await createCopier(first, connection).copyAll();
    await createCopier(second, connection).copyAll();
    const found = await new TeamEngine(connection.database).readConversation({
      id: conversationId,
      hasFeedback: false,
    });
    expect(found?.runs.map(({ input }) => input.renderedPrompt)).toEqual(['of the first']);
  });

  test('waits with the first run of a month for those who read, and nobody waits for it', async () => {
    const [one, other] = [openTestStorage(), openTestStorage()];
    const address = await createTeamDatabase(server());
    const copiers = await Promise.all(
      [one, other].map(async (storage) => createCopier(storage, await connectTeam(address))),
    );
    const early = await record(one, { createdAt: Date.UTC(2025, 2, 3) });
    const later = await record(other);
    const { database } = await connectTeam(address);
    const [read, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    onTestFinished(() => ended.resolve());
    const reading = database.transaction().execute(async (transaction) => {
      await sql`SELECT count(*) FROM touchstone.runs`.execute(transaction);
      read.resolve();
      await ended.promise;
    });
    await read.promise;
    const waiting = copiers[0]!.copyAll();
    await vi.waitFor(async () => {
      expect(await server().query(address, 'SELECT 1 AS waits FROM pg_locks WHERE NOT granted')).not.toEqual([]);
    }, patience);
    await copiers[1]!.copyAll();
    const search = { filter: {}, sort: 'newest' as const, last: null, limit: 10 };
    const { rows } = await new TeamEngine((await connectTeam(address)).database).search(search);
    expect(rows.map(({ conversationId }) => conversationId)).toEqual([later.conversationId]);
    ended.resolve();
    await Promise.all([reading, waiting]);
    const partitions = await server().query(address, 'SELECT id FROM touchstone.runs_2025_03');
    expect(partitions).toEqual([{ id: early.runId }]);
  });

  test('has the partition of the next month before its first run', async () => {
    const storage = openTestStorage();
    const address = await createTeamDatabase(server());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2031, 11, 31) });
    onTestFinished(() => void vi.useRealTimers());
    await record(storage);
    await createCopier(storage, await connectTeam(address)).copyAll();
    expect(await server().query(address, 'SELECT id FROM touchstone.runs_2032_01')).toEqual([]);
  });

  test('reads batches of about 4 MB, whatever is long', async () => {
    const storage = openTestStorage();
    for (let count = 0; count < 8; count += 1) await record(storage, { systemMessage: 's'.repeat(1_000_000) });
    storage.flush();
    const local = new Database(databaseFile(storage.directory), { readonly: true });
    const { runs } = createLocalRuns(local).after(0, 1000);
    local.close();
    expect(runs).toHaveLength(4);
  });
});
