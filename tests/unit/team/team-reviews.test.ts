// @module-tag slow
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryKeyStore } from '../../../electron/key-store/key-store.ts';
import type { NewQueue } from '../../../electron/storage/reviews/queue-rows.ts';
import { createTeam } from '../../../electron/team/create-team.ts';
import { TeamReviews } from '../../../electron/team/team-reviews.ts';
import { longTest } from '../../support/patience.ts';
import { describeWithPostgres } from '../../support/postgres.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import { connectTeam, createTeamDatabase, usePostgres } from './team-world.ts';

const itemAt = (position: number) => ({
  id: randomUUID(),
  conversationId: randomUUID(),
  runId: randomUUID(),
  stratum: 0,
  isFlagged: false,
  needed: 1,
  content: null,
  position,
});

describeWithPostgres('review queues in the team database', () => {
  const server = usePostgres();

  /** A queue with two items, and a client with the rights of a reviewing host. */
  async function startQueue({ isShown = true } = {}) {
    const team = await createTeamDatabase(server());
    const roles = await server().query('postgres', "SELECT 1 FROM pg_roles WHERE rolname = 'desktop_1'");
    for (const [, statements] of readFileSync('docs/team.md', 'utf8').matchAll(/```sql\n(.*?)```/gs))
      await server().query(team, roles.length === 0 ? statements! : statements!.replaceAll(/^CREATE ROLE.*$/gm, ''));
    const { database } = await connectTeam(team.replace('owner@', 'desktop_1@'));
    const reviews = new TeamReviews(database);
    const queueId = randomUUID();
    await reviews.publish({ id: queueId, queue: { name: 'All' } as NewQueue });
    await reviews.append({ queueId, items: [itemAt(0), itemAt(1)] });
    if (isShown) await reviews.show({ queueId });
    const query = (sql: string, values: unknown[] = []) => server().query(team, sql, values);
    const items = async (id = queueId) =>
      (await query('SELECT 1 FROM touchstone.review_items WHERE queue_id = $1', [id])).length;
    return { team, reviews, queueId, query, items };
  }

  test('are removed with all texts, or not at all if the connection breaks', longTest, async () => {
    const { reviews, queueId, query, items } = await startQueue();
    await query(`CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`);
    await query('CREATE TRIGGER break BEFORE DELETE ON touchstone.review_items EXECUTE FUNCTION break()');
    await expect(reviews.remove({ queueId })).rejects.toThrow();
    expect(await reviews.queues()).toMatchObject([{ id: queueId, isRemoved: false }]);
    await query('DROP TRIGGER break ON touchstone.review_items');
    await reviews.remove({ queueId });
    expect(await reviews.queues()).toMatchObject([{ id: queueId, isRemoved: true }]);
    expect(await items()).toBe(0);
  });

  test('take nothing after they were removed', longTest, async () => {
    const { reviews, queueId, items } = await startQueue({ isShown: false });
    await reviews.remove({ queueId });
    await expect(reviews.append({ queueId, items: [itemAt(2)] })).rejects.toThrow('deleted');
    await expect(reviews.show({ queueId })).rejects.toThrow('deleted');
    expect(await items()).toBe(0);
    expect(await reviews.read({ queueId })).toBeNull();
    expect(await reviews.queues()).toEqual([]);
  });

  test(
    'say so themselves if a step is impossible, and otherwise that their database is missing',
    longTest,
    async () => {
      const { team, reviews: published, queueId } = await startQueue();
      await published.remove({ queueId });
      const storage = openTestStorage();
      const { reviews, close } = createTeam({
        dataDirectory: storage.directory,
        storage,
        keyStore: createMemoryKeyStore(),
        team,
        environment: {},
        log: () => undefined,
      });
      onTestFinished(close);
      await expect(reviews('show', { queueId })).rejects.toMatchObject({
        code: 'conflict',
        message: 'This review queue was deleted on another host.',
      });
      const failure = await reviews('show', { queueId: 'none' }).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'team_unavailable',
        message: expect.stringMatching(/^This review queue is shared in the team database. The team database failed/),
      });
    },
  );

  test('lose their texts a day after their host has stopped publishing them', longTest, async () => {
    const { reviews, queueId, query, items } = await startQueue({ isShown: false });
    await reviews.removeAbandoned();
    expect(await items()).toBe(2);
    await query("UPDATE touchstone.review_queues SET created_at = now() - interval '25 hours'");
    const shown = randomUUID();
    await reviews.publish({ id: shown, queue: { name: 'Shown' } as NewQueue });
    await reviews.append({ queueId: shown, items: [itemAt(0)] });
    await reviews.show({ queueId: shown });
    await reviews.removeAbandoned();
    expect([await items(), await items(shown)]).toEqual([0, 1]);
    expect(await reviews.read({ queueId })).toBeNull();
    // An earlier version could remove a queue and leave its items.
    await query('UPDATE touchstone.review_queues SET is_removed = true');
    await reviews.removeAbandoned();
    expect(await items(shown)).toBe(0);
  });

  test('are discarded unless others have worked on them', longTest, async () => {
    const { reviews, queueId, query, items } = await startQueue();
    await query('UPDATE touchstone.review_queues SET last_change = 1');
    expect(await reviews.discard({ queueId })).toBe(false);
    expect(await items()).toBe(2);
    await query(
      'ALTER TABLE touchstone.review_queues DISABLE TRIGGER USER; UPDATE touchstone.review_queues SET last_change = 0',
    );
    for (let time = 0; time < 2; time += 1) expect(await reviews.discard({ queueId })).toBe(true);
    expect(await reviews.discard({ queueId: randomUUID() })).toBe(true);
    expect(await items()).toBe(0);
  });
});
