// @module-tag slow
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ReviewItemDetail } from '../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../shared/contract/review-queues.ts';
import type { ReviewReservation } from '../../shared/contract/reviews.ts';
import type { Rubric } from '../../shared/contract/rubrics.ts';
import { recordRun } from '../support/audit-runs.ts';
import { reviewDiscussions } from '../../electron/team/review-discussions.ts';
import { migrations } from '../../electron/team/schema.ts';
import { runUntilKilled } from '../support/kill-process.ts';
import { longTest, patience } from '../support/patience.ts';
import { describeWithPostgres, type TestPostgres } from '../support/postgres.ts';
import { flagged } from '../support/review-world.ts';
import { createSmallDatabase } from '../support/small-database.ts';
import { createSharedQueue, type SharingHost, startSharingHost } from '../support/sharing-hosts.ts';
import { temporaryDirectory } from '../unit/storage/test-storage.ts';
import { usePostgres } from '../unit/team/team-world.ts';

const until = <Result>(check: () => Promise<Result> | Result) => vi.waitFor(check, patience);

async function startHosts(team: string, count: number): Promise<SharingHost[]> {
  const hosts: SharingHost[] = [];
  for (let index = 0; index < count; index += 1) hosts.push(await startSharingHost({ team }));
  onTestFinished(async () => {
    for (const host of hosts) await host.close();
  });
  return hosts;
}

/** The roles of the documentation, and a user of each. */
async function grantRoles(server: TestPostgres, team: string): Promise<void> {
  const [owner] = await startHosts(team, 1);
  await until(() => server.query(team, 'SELECT 1 FROM touchstone.reviews'));
  await owner!.close();
  for (const [, statements] of readFileSync('docs/team.md', 'utf8').matchAll(/```sql\n(.*?)```/gs))
    await server.query(team, statements!);
}

/** A shared queue of so many runs of the first host, once all hosts have it. */
async function shareQueue(hosts: readonly SharingHost[], items: number, input: object = {}): Promise<ReviewQueue> {
  const created = await createSharedQueue(hosts[0]!, items, input);
  expect(created).toMatchObject({ status: 201, body: { isShared: true } });
  for (const host of hosts)
    await until(async () => expect((await host.call('GET', `/review-queues/${created.body.id}`)).status).toBe(200));
  return created.body;
}

const pathOf = ({ id }: ReviewQueue) => `/review-queues/${id}`;

const answersOf = ({ rubric }: ReviewQueue, value: boolean) => ({
  answers: [{ rubricItemId: rubric.items[0]!.id, value }],
});

const issue = (host: SharingHost, name: string): string => host.host.storage.apiKeys.issue({ name }).key;

async function reserve(host: SharingHost, queue: ReviewQueue, key: string | null, itemId?: string) {
  return host.call<ReviewReservation>('POST', `${pathOf(queue)}/reservations`, itemId ? { itemId } : {}, key);
}

async function listItems(host: SharingHost, queue: ReviewQueue): Promise<readonly { id: string }[]> {
  return (await host.call<{ data: { id: string }[] }>('GET', `${pathOf(queue)}/items?limit=1`)).body.data;
}

const publishingProcess = fileURLToPath(new URL('../support/publishing-process.ts', import.meta.url));
const refillingProcess = fileURLToPath(new URL('../support/refilling-process.ts', import.meta.url));
const reservingProcess = fileURLToPath(new URL('../support/reserving-process.ts', import.meta.url));

/** Reserves and reviews until nothing is left. */
async function reviewAll(host: SharingHost, queue: ReviewQueue, key: string): Promise<number> {
  for (let count = 0; ; count += 1) {
    const reserved = await reserve(host, queue, key);
    if (reserved.status === 204) return count;
    const path = `${pathOf(queue)}/items/${reserved.body.item.id}/reviews`;
    expect((await host.call('POST', path, answersOf(queue, count % 3 > 0), key)).status).toBe(201);
  }
}

describeWithPostgres('review queues that hosts share', () => {
  // One test kills it: nothing that was committed before may be lost.
  const server = usePostgres({ settings: ['synchronous_commit=on'] });

  test('every item is reviewed exactly as often as it needs, by 12 reviewers on three hosts', longTest, async () => {
    const team = await server().createDatabase();
    const hosts = await startHosts(team, 3);
    const queue = await shareQueue(hosts, 60, { reviewersPerItem: 3 });
    const counts = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const host = hosts[index % 3]!;
        return reviewAll(host, queue, issue(host, `Reviewer ${index}`));
      }),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(180);
    const perItem = await server().query(
      team,
      'SELECT count(*)::int AS reviews, count(DISTINCT reviewer_id)::int AS reviewers FROM touchstone.reviews GROUP BY item_id',
    );
    expect(perItem).toEqual(Array.from({ length: 60 }, () => ({ reviews: 3, reviewers: 3 })));
    for (const host of hosts) {
      await until(async () => {
        const { body } = await host.call<ReviewQueue>('GET', pathOf(queue));
        expect(body).toMatchObject({ isComplete: true, counts: { items: 60, done: 60, reviews: 180 } });
      });
    }
    // All hosts measure the same.
    const [one, two, three] = await Promise.all(
      hosts.map(async (host) => (await host.call<{ items: unknown }>('GET', `${pathOf(queue)}/agreement`)).body.items),
    );
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    // The consensus is the feedback where the runs are.
    const { body: item } = await hosts[0]!.call<{ data: { runId: string }[] }>('GET', `${pathOf(queue)}/items?limit=1`);
    expect(hosts[0]!.host.storage.runs.read(item.data[0]!.runId)).not.toBeNull();
  });

  test('changes and deletions of reviewers made offline reach the team, also after a restart', longTest, async () => {
    const team = await server().createDatabase();
    const directory = temporaryDirectory();
    const first = await startSharingHost({ team, directory });
    const create = (name: string, pin: string | null) =>
      first.call<{ id: string }>('POST', '/reviewers', { name, pin });
    const created = [await create('Wren', '1234'), await create('Heron', null), await create('Osprey', '1234')];
    const [changed, deleted, other] = created.map(({ body }) => body.id) as [string, string, string];
    const present = () => server().query(team, 'SELECT id FROM touchstone.reviewers WHERE NOT is_removed');
    await until(async () => expect(await present()).toHaveLength(3));
    // What was sent is compared once more, and stored.
    await until(() => expect(first.host.storage.reviewers.teamStates()).toHaveLength(3));
    await first.host.close();
    await server().kill();
    const offline = await startSharingHost({ team, directory });
    const pin = await offline.call('PATCH', `/reviewers/${changed}`, {
      name: 'Wren 2',
      currentPin: '1234',
      pin: '5678',
    });
    expect([pin.status, (await offline.call('DELETE', `/reviewers/${deleted}`)).status]).toEqual([200, 204]);
    const { pinHash } = offline.host.storage.reviewers.read(changed);
    await offline.host.close();
    await server().run();
    await server().query(team, `UPDATE touchstone.reviewers SET name = 'Osprey 2' WHERE id = '${other}'`);

    const again = await startSharingHost({ team, directory });
    onTestFinished(() => again.close());
    const names = 'SELECT id, name, pin_hash FROM touchstone.reviewers WHERE NOT is_removed ORDER BY name';
    await until(async () =>
      expect(await server().query(team, names)).toEqual([
        { id: other, name: 'Osprey 2', pin_hash: expect.any(String) },
        { id: changed, name: 'Wren 2', pin_hash: pinHash },
      ]),
    );
    await until(() => expect(again.host.storage.reviewers.read(other).name).toBe('Osprey 2'));
    expect(again.host.storage.reviewers.read(changed)).toMatchObject({ name: 'Wren 2', pinHash });
    expect(again.host.storage.reviewers.find(deleted)).toBeNull();
  });

  test('a reviewer is one person on all hosts, and blind to others on them', longTest, async () => {
    const team = await server().createDatabase();
    await grantRoles(server(), team);
    const [one, two] = (await startHosts(team.replace('owner@', 'host_1@'), 2)) as [SharingHost, SharingHost];
    const queue = await shareQueue([one, two], 1, { reviewersPerItem: 2, plan: { kind: 'newest', perDay: 1 } });
    // Also with that role the queue takes the items of new days.
    expect((await one.call('PATCH', pathOf(queue), { isOpen: true })).status).toBe(200);
    const [wren, heron] = [issue(one, 'Wren'), issue(one, 'Heron')];
    await until(async () => expect((await two.call('GET', '/credits', undefined, heron)).status).toBe(200));
    const { body: first } = await reserve(one, queue, wren);
    // The same key on the other host has the same reservation.
    const again = await reserve(two, queue, wren);
    expect(again.body.item.id).toBe(first.item.id);
    const path = `${pathOf(queue)}/items/${first.item.id}`;
    expect((await two.call('POST', `${path}/reviews`, answersOf(queue, true), wren)).status).toBe(201);
    expect((await reserve(one, queue, wren)).status).toBe(204);
    // Without its reservation, a review is rejected on every host.
    const late = await one.call('POST', `${path}/reviews`, answersOf(queue, true), heron);
    expect(late).toMatchObject({ status: 409 });

    const { body: seen } = await reserve(two, queue, heron);
    expect(seen.item).toMatchObject({ reviews: [], hiddenReviews: 1, runs: [{ input: 'Question 0' }] });
    expect((await two.call('POST', `${path}/reviews`, answersOf(queue, false), heron)).status).toBe(201);
    await until(async () => {
      const { body } = await one.call<ReviewItemDetail>('GET', path, undefined, wren);
      expect(body.reviews.map(({ reviewer }) => reviewer)).toEqual(['Wren', 'Heron']);
    });
    // The role of hosts adds reviews, and can't change any. The user is stored with them.
    await expect(server().query(team, "SET ROLE host_1; UPDATE touchstone.reviews SET note = 'x'")).rejects.toThrow(
      'permission denied',
    );
    const writers = 'SELECT DISTINCT written_by FROM touchstone.reviews';
    expect(await server().query(team, writers)).toEqual([{ written_by: 'host_1' }]);
    // Decided on one host, seen on the other.
    expect((await two.call('PUT', `${path}/gold`, answersOf(queue, true))).status).toBe(200);
    await until(async () => {
      const { body } = await one.call<ReviewItemDetail>('GET', path);
      expect(body.gold).toMatchObject({ answers: [{ value: true }] });
    });
  });

  test('nobody changes an own review after the others could be seen', longTest, async () => {
    const team = await server().createDatabase();
    const [one] = (await startHosts(team, 1)) as [SharingHost];
    const queue = await shareQueue([one], 2, { reviewersPerItem: 2 });
    const [wren, heron] = [issue(one, 'Wren'), issue(one, 'Heron')];
    const { id } = (await reserve(one, queue, wren)).body.item;
    const path = `${pathOf(queue)}/items/${id}`;
    expect((await one.call('POST', `${path}/reviews`, answersOf(queue, true), wren)).status).toBe(201);
    expect((await reserve(one, queue, wren, id)).status).toBe(200);
    // Who changes a review doesn't take the place of the next reviewer.
    expect((await reserve(one, queue, heron)).body.item.id).toBe(id);
    expect((await reserve(one, queue, heron, id)).status).toBe(200);
    expect((await one.call('POST', `${path}/reviews`, answersOf(queue, false), heron)).status).toBe(201);
    expect((await one.call('POST', `${path}/reviews`, answersOf(queue, false), wren)).status).toBe(409);
    expect((await reserve(one, queue, wren)).body.item.id).not.toBe(id);
    const left = 'SELECT count(*)::int AS count FROM touchstone.review_reservations WHERE item_id = ';
    expect(await server().query(team, `${left}'${id}'`)).toEqual([{ count: 0 }]);
  });

  test('without the database, shared queues say so and own queues go on', longTest, async () => {
    const team = await server().createDatabase();
    const [one, two] = (await startHosts(team, 2)) as [SharingHost, SharingHost];
    const shared = await shareQueue([one, two], 2);
    const own = await one.call<ReviewQueue>('POST', '/review-queues', {
      name: 'Own',
      filter: shared.filter,
      itemType: 'run',
      plan: { kind: 'all' },
      rubricId: shared.rubric.id,
    });
    await server().kill();
    const rejected = await reserve(two, shared, null);
    expect(rejected).toMatchObject({
      status: 503,
      body: { error: { code: 'team_unavailable', message: expect.stringContaining('shared in the team database') } },
    });
    expect((await reserve(one, own.body, null)).status).toBe(200);
    expect((await two.call('GET', pathOf(shared))).status).toBe(200);
    await server().run();
    await until(async () => expect((await reserve(two, shared, null)).status).toBe(200));

    // A deleted queue is deleted on all hosts, with its texts.
    expect((await two.call('DELETE', pathOf(shared))).status).toBe(204);
    await until(async () => expect((await one.call('GET', pathOf(shared))).status).toBe(404));
    expect(await server().query(team, 'SELECT 1 FROM touchstone.review_items')).toEqual([]);
  });

  test('tables of a newer version are not written, also by hosts that were connected before', longTest, async () => {
    const team = await server().createDatabase();
    const hosts = (await startHosts(team, 2)) as [SharingHost, SharingHost];
    const queue = await shareQueue(hosts, 1);
    const { conversationId, runId } = await recordRun(hosts[0].host, { renderedPrompt: 'elsewhere' });
    const stored = `SELECT score FROM touchstone.runs WHERE id = '${runId}'`;
    await until(async () => expect(await server().query(team, stored)).toEqual([{ score: null }]));
    await server().query(team, 'INSERT INTO touchstone.migrations (number) VALUES (99)');
    const [later] = (await startHosts(team, 1)) as [SharingHost];
    const statusOf = (host: SharingHost) =>
      until(async () => {
        const { body } = await host.call<{ status: string }>('GET', '/window/team');
        expect(body.status).toBe('read-only');
      });
    await statusOf(later);
    for (const host of [hosts[1], later]) {
      expect((await host.call('POST', '/reviewers', { name: 'Old' })).status).toBe(201);
      const feedback = await host.call('PUT', `/conversations/${conversationId}/runs/${runId}/feedback`, { score: 3 });
      expect(feedback).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('newer') } } });
      host.host.storage.apiKeys.issue({ name: 'Old' });
    }
    expect(await reserve(hosts[1], queue, null)).toMatchObject({
      status: 503,
      body: { error: { code: 'team_unavailable' } },
    });
    await recordRun(hosts[1].host);
    // It says so once it has noticed while copying.
    await statusOf(hosts[1]);
    expect(await server().query(team, stored)).toEqual([{ score: null }]);
    for (const table of ['reviewers', 'api_keys'])
      expect(await server().query(team, `SELECT 1 FROM touchstone.${table} WHERE name = 'Old'`)).toEqual([]);
    expect(await server().query(team, 'SELECT 1 FROM touchstone.review_reservations')).toEqual([]);
    expect(await server().query(team, 'SELECT 1 FROM touchstone.runs')).toHaveLength(2);
  });

  test('the items of new days come to all hosts, each once', longTest, async () => {
    const team = await server().createDatabase();
    const hosts = await startHosts(team, 2);
    const [one, two] = hosts as [SharingHost, SharingHost];
    const wren = issue(two, 'Wren');
    const queue = await shareQueue(hosts, 1, { plan: { kind: 'newest', perDay: 2 } });
    expect(await reviewAll(two, queue, wren)).toBe(1);
    const workspaceId = (queue.filter as { workspaceId: string }).workspaceId;
    for (let index = 0; index < 25; index += 1)
      await recordRun(one.host, {
        workspaceId,
        createdAt: Date.UTC(2026, 8, 1 + (index % 13)),
        renderedPrompt: `Later ${index}`,
      });
    // Only the host that made the queue chooses its items.
    const other = await two.call('PATCH', pathOf(queue), { isOpen: true });
    expect(other).toMatchObject({ status: 409 });
    for (let time = 0; time < 2; time += 1)
      expect(await one.call('PATCH', pathOf(queue), { isOpen: true })).toMatchObject({
        status: 200,
        body: { counts: { items: 26 } },
      });
    await until(async () => {
      const { body } = await two.call<ReviewQueue>('GET', pathOf(queue));
      expect(body).toMatchObject({ counts: { items: 26 }, population: 26, isOpen: true });
    });
    expect(await reviewAll(two, queue, wren)).toBe(25);
    await until(async () => {
      const { body } = await one.call<ReviewQueue>('GET', pathOf(queue));
      expect(body).toMatchObject({ isComplete: true, counts: { done: 26, reviews: 26 } });
    });
    const items = await server().query(team, 'SELECT count(*)::int AS items FROM touchstone.review_items');
    expect(items).toEqual([{ items: 26 }]);
    expect([...one.log, ...two.log].filter((line) => line.includes('review queue'))).toEqual([]);
  });

  test('second reviews, discussions and names reach all hosts, and nobody sees them too early', longTest, async () => {
    const team = await server().createDatabase();
    const hosts = await startHosts(team, 2);
    const [one, two] = hosts as [SharingHost, SharingHost];
    const [wren, heron, osprey] = (
      [
        [one, 'Wren'],
        [two, 'Heron'],
        [two, 'Osprey'],
      ] as const
    ).map(([host, name]) => host.host.storage.apiKeys.issue({ name, scopes: ['audit'] }).key) as [
      string,
      string,
      string,
    ];
    const queue = await shareQueue(hosts, 1);
    const { id } = (await listItems(one, queue))[0]!;
    const item = `${pathOf(queue)}/items/${id}`;
    const request = { reason: 'my view' };
    expect((await two.call('POST', `${item}/second-review`, request, heron)).status).toBe(409);
    await reserve(one, queue, wren, id);
    const requested = await one.call<ReviewItemDetail>('POST', `${item}/second-review`, request, wren);
    expect(requested).toMatchObject({
      status: 201,
      body: { reviewsNeeded: 2, secondReview: { requestedBy: 'Wren', reason: 'my view' } },
    });
    // The other host doesn't know it yet, perhaps, and the database decides.
    expect((await two.call('POST', `${item}/second-review`, request, null)).status).toBe(409);
    expect((await one.call('POST', `${item}/reviews`, answersOf(queue, true), wren)).status).toBe(201);
    const { body: second } = await reserve(two, queue, heron);
    expect(second.item).toMatchObject({ id, hiddenReviews: 1, secondReview: { requestedBy: 'Wren', reason: null } });
    expect((await one.call('POST', `${item}/comments`, { text: 'Early' }, wren)).status).toBe(409);
    expect((await two.call('POST', `${item}/reviews`, answersOf(queue, false), heron)).status).toBe(201);
    expect((await reserve(two, queue, osprey)).status).toBe(204);

    expect((await one.call('POST', `${item}/comments`, { text: 'The terms say so.' }, wren)).status).toBe(201);
    await until(async () => {
      const { body } = await two.call<ReviewItemDetail>('GET', item, undefined, heron);
      expect(body).toMatchObject({
        state: 'done',
        secondReview: { reason: 'my view' },
        comments: [{ reviewer: 'Wren', text: 'The terms say so.', isYours: false }],
      });
    });
    const { body: hidden } = await two.call<ReviewItemDetail>('GET', item, undefined, osprey);
    expect(hidden.reviewsDone).toBe(2);

    expect(await two.call('PATCH', pathOf(queue), { name: 'Elsewhere' })).toMatchObject({ status: 409 });
    expect(await one.call('PATCH', pathOf(queue), { name: 'December' })).toMatchObject({ status: 200 });
    await until(async () =>
      expect((await two.call<ReviewQueue>('GET', pathOf(queue))).body).toMatchObject({
        name: 'December',
        counts: { done: 1, reviews: 2, reviewsNeeded: 2 },
      }),
    );
    // A host that comes later has all of it.
    const [three] = (await startHosts(team, 1)) as [SharingHost];
    await until(async () =>
      expect((await three.call<ReviewItemDetail>('GET', item)).body).toMatchObject({
        reviewsNeeded: 2,
        reviewsDone: 2,
        comments: [{ text: 'The terms say so.' }],
      }),
    );
    // Answers without a score are in the history of the run, also in the team's.
    await until(async () => {
      const [history] = await server().query<{ entries: number }>(
        team,
        'SELECT count(*)::int AS entries FROM touchstone.feedback_history WHERE rubric_item_id IS NOT NULL',
      );
      expect(history!.entries).toBe(2);
    });
    // Decisions of several questions add up, also of hosts that don't know of each other's yet.
    const decide = (rubricItemId: string, value: unknown) =>
      server().query(
        team,
        `SELECT touchstone.decide_review_item('${queue.id}', '${id}', '${JSON.stringify([{ rubricItemId, value }])}', 'Wren')`,
      );
    for (const [question, value] of [
      ['a', true],
      ['b', 3],
      ['a', false],
    ] as const)
      await decide(question, value);
    const [decided] = await server().query<{ gold: unknown }>(team, 'SELECT gold FROM touchstone.review_items');
    expect(decided!.gold).toEqual([
      { rubricItemId: 'b', value: 3 },
      { rubricItemId: 'a', value: false },
    ]);

    one.host.storage.retention.apply('anonymise', Date.now() + 1000, 1000);
    await until(async () => {
      const left = await server().query<{ text: string }>(
        team,
        "SELECT coalesce(string_agg(i::text, ''), '') || coalesce((SELECT string_agg(c::text, '') FROM touchstone.review_comments AS c), '') AS text FROM touchstone.review_items AS i",
      );
      expect(left[0]!.text).not.toMatch(/my view|The terms say so/);
    });
  });

  test('who may review before an update may also discuss after it', longTest, async () => {
    const team = await server().createDatabase();
    const before = migrations.slice(0, migrations.indexOf(reviewDiscussions));
    const role = `reviewer_${randomUUID().slice(0, 8)}`;
    for (const statement of [
      'CREATE SCHEMA touchstone',
      'CREATE TABLE touchstone.migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
      ...before,
      `INSERT INTO touchstone.migrations (number) SELECT generate_series(1, ${before.length})`,
      `CREATE ROLE "${role}" NOLOGIN; GRANT EXECUTE ON FUNCTION touchstone.add_review TO "${role}"`,
    ])
      await server().query(team, statement);
    await startHosts(team, 1);
    const rights = `SELECT has_table_privilege('${role}', 'touchstone.review_comments', 'SELECT') AS reads,
      has_function_privilege('${role}', 'touchstone.add_review_comment(uuid, uuid, uuid, uuid, text)', 'EXECUTE') AS discusses`;
    await until(async () => expect(await server().query(team, rights)).toEqual([{ reads: true, discusses: true }]));
  });

  test('what a killed host had reserved comes free after the time-out', longTest, async () => {
    const team = await server().createDatabase();
    const [one] = (await startHosts(team, 1)) as [SharingHost];
    const queue = await shareQueue([one], 1);
    const lines: string[] = [];
    await runUntilKilled(reservingProcess, [temporaryDirectory(), team, queue.id], (line) => lines.push(line) === 1);
    expect(lines).toEqual(['200']);
    const taken = await reserve(one, queue, null, (await listItems(one, queue))[0]!.id);
    expect(taken.body).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('reserved until') },
    });
    expect((await reserve(one, queue, null)).status).toBe(204);
    // The clock of the database decides.
    await server().query(team, 'UPDATE touchstone.review_reservations SET expires_at = clock_timestamp()');
    expect((await reserve(one, queue, null)).status).toBe(200);

    // As after restoring a backup of the database.
    await server().query(team, 'DELETE FROM touchstone.review_queues');
    expect((await reserve(one, queue, null)).body).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining("doesn't have this review queue any more") },
    });
  });

  /** Until the result is called, changes of queues to which the condition applies do what is given. */
  async function interrupt(team: string, condition: string, action: string): Promise<() => Promise<unknown>> {
    await server().query(
      team,
      `CREATE OR REPLACE FUNCTION interrupt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${action}; RETURN NEW; END $$`,
    );
    await server().query(
      team,
      `CREATE TRIGGER interrupt BEFORE UPDATE ON touchstone.review_queues FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION interrupt()`,
    );
    return () => server().query(team, 'DROP TRIGGER interrupt ON touchstone.review_queues');
  }

  test('a host that is killed while it shares a queue removes the texts at its next start', longTest, async () => {
    const team = await server().createDatabase();
    const [one] = (await startHosts(team, 1)) as [SharingHost];
    await until(() => server().query(team, 'SELECT 1 FROM touchstone.review_items'));
    const resume = await interrupt(team, 'NEW.is_ready', 'PERFORM pg_sleep(3600)');
    const directory = temporaryDirectory();
    let isSent = false;
    const killed = runUntilKilled(publishingProcess, [directory, team], () => isSent);
    const sleeping = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    await until(async () => expect(await server().query(team, `SELECT 1 ${sleeping}`)).toHaveLength(1));
    isSent = true;
    await killed;
    await server().query(team, `SELECT pg_terminate_backend(pid) ${sleeping}`);
    await resume();
    // Others leave it: it could still be published.
    expect(await server().query(team, 'SELECT 1 FROM touchstone.review_items')).toHaveLength(1);
    const again = await startSharingHost({ team, directory });
    onTestFinished(() => again.close());
    await until(async () => expect(await server().query(team, 'SELECT 1 FROM touchstone.review_items')).toEqual([]));
    for (const host of [one, again])
      expect((await host.call('GET', '/review-queues')).body).toMatchObject({ data: [] });
  });

  test(
    'a queue of which a host could not know that it was shared is removed unless others review it',
    longTest,
    async () => {
      const team = await server().createDatabase();
      const [one, two] = (await startHosts(team, 2)) as [SharingHost, SharingHost];
      await until(() => server().query(team, 'SELECT 1 FROM touchstone.review_queues'));
      for (const isReviewed of [false, true]) {
        const resume = await interrupt(
          team,
          'NEW.is_ready AND NOT OLD.is_ready OR NEW.is_removed',
          "RAISE EXCEPTION 'interrupted'",
        );
        expect((await createSharedQueue(one, 1)).status).toBe(503);
        // As if only the answer had been lost. The trigger doesn't apply to this connection.
        await server().query(
          team,
          'SET session_replication_role = replica; UPDATE touchstone.review_queues SET is_ready = true WHERE NOT is_removed',
        );
        const seen = await until(async () => {
          const { body } = await two.call<{ data: ReviewQueue[] }>('GET', '/review-queues');
          expect(body.data).toHaveLength(1);
          return two.call<ReviewQueue>('GET', pathOf(body.data[0]!));
        });
        expect((await one.call('GET', pathOf(seen.body))).status).toBe(404);
        if (isReviewed) expect(await reviewAll(two, seen.body, issue(two, 'Wren'))).toBe(1);
        await resume();
        if (isReviewed)
          await until(async () =>
            expect((await one.call('GET', pathOf(seen.body))).body).toMatchObject({
              isImported: false,
              counts: { reviews: 1 },
            }),
          );
        else await until(async () => expect((await two.call('GET', pathOf(seen.body))).status).toBe(404));
      }
    },
  );

  test('a queue that cannot be read does not keep back later ones', longTest, async () => {
    const team = await server().createDatabase();
    const hosts = await startHosts(team, 2);
    await until(() => server().query(team, 'SELECT 1 FROM touchstone.review_queues'));
    await server().query(
      team,
      "INSERT INTO touchstone.review_queues (id, queue, is_ready) VALUES (gen_random_uuid(), '{}', true)",
    );
    await shareQueue(hosts, 1);
  });

  test('the texts of anonymised runs leave all hosts, with their reviews', longTest, async () => {
    const team = await server().createDatabase();
    const [one, two] = (await startHosts(team, 2)) as [SharingHost, SharingHost];
    const queue = await shareQueue([one, two], 2);
    const { body } = await reserve(two, queue, null);
    const path = `${pathOf(queue)}/items/${body.item.id}/reviews`;
    expect((await two.call('POST', path, { ...answersOf(queue, true), note: 'secret note' })).status).toBe(201);
    one.host.storage.retention.apply('anonymise', Date.now() + 1000, 1000);
    for (const host of [one, two]) {
      await until(async () => {
        const { body: read } = await host.call<ReviewQueue>('GET', pathOf(queue));
        expect(read.counts).toMatchObject({ items: 0, removed: 2, reviews: 0 });
      });
    }
    const left = await server().query<{ text: string }>(
      team,
      "SELECT string_agg(i::text, '') || coalesce((SELECT string_agg(r::text, '') FROM touchstone.reviews AS r), '') AS text FROM touchstone.review_items AS i",
    );
    expect(left[0]!.text).not.toMatch(/Question|secret/);
  });

  test(
    "a queue of the team's runs has those of all hosts, and its results reach the host that recorded them",
    longTest,
    async () => {
      const team = await server().createDatabase();
      const [one, two] = (await startHosts(team, 2)) as [SharingHost, SharingHost];
      const workspaceId = randomUUID();
      const recorded = await recordRun(two.host, { workspaceId, renderedPrompt: 'Where does the kingfisher nest?' });
      await recordRun(one.host, { workspaceId, conversationId: randomUUID() });
      await until(async () => expect((await server().query(team, 'SELECT 1 FROM touchstone.runs')).length).toBe(2));
      const { body: rubric } = await one.call<Rubric>('POST', '/rubrics', {
        name: 'Usefulness',
        items: [{ kind: 'score', question: 'How useful is it?' }],
      });
      const input = {
        name: 'Of the team',
        filter: { workspaceId },
        source: 'team',
        itemType: 'conversation',
        plan: { kind: 'all' },
        rubricId: rubric.id,
      };
      const { name: _, rubricId: __, ...preview } = input;
      expect((await one.call('POST', '/review-queues/preview', preview)).body).toMatchObject({
        population: 2,
        items: 2,
      });
      const own = await one.call('POST', '/review-queues', { ...input, isShared: false });
      expect(own).toMatchObject({ status: 400, body: { error: { details: [{ field: 'isShared' }] } } });
      const { body: queue, status } = await one.call<ReviewQueue>('POST', '/review-queues', input);
      expect([status, queue.isShared, queue.source, queue.isImported]).toEqual([201, true, 'team', false]);

      const items = (await one.call<{ data: ReviewItemDetail[] }>('GET', `${pathOf(queue)}/items`)).body.data;
      const item = items.find(({ runId }) => runId === recorded.runId)!;
      const { body: reserved } = await reserve(one, queue, null, item.id);
      expect(reserved.item.runs).toMatchObject([{ input: 'Where does the kingfisher nest?' }]);
      const path = `${pathOf(queue)}/items/${item.id}/reviews`;
      const answers = [{ rubricItemId: rubric.items[0]!.id, value: 7 }];
      expect((await one.call('POST', path, { answers })).status).toBe(201);
      const scores = `/conversations/${recorded.conversationId}`;
      await until(async () =>
        expect((await two.call(`GET`, scores)).body).toMatchObject({ runs: [{ feedback: { score: 7 } }] }),
      );
      // Exports read the runs of other hosts, too.
      const evidence = await two.host.api.fetch(
        new Request(`http://127.0.0.1${pathOf(queue)}/export?format=evidence`),
        { access: 'window' },
      );
      expect(await evidence.text()).toContain('Of all hosts of the team database');

      // The run is deleted where it was recorded: its texts leave the queue everywhere.
      two.host.storage.retention.apply('delete', Date.now() + 1000, 1000);
      await until(async () =>
        expect((await one.call<ReviewQueue>('GET', pathOf(queue))).body.counts).toMatchObject({ items: 1, removed: 1 }),
      );
      const texts = await server().query<{ text: string }>(
        team,
        "SELECT string_agg(item::text, '') AS text FROM touchstone.review_items",
      );
      expect(texts[0]!.text).not.toContain('kingfisher');
    },
  );

  /** A queue of the newest of each day of the runs of two hosts, with one item. All hosts have it. */
  async function shareDailyQueue(team: string, [one, two]: readonly [SharingHost, SharingHost]): Promise<ReviewQueue> {
    const workspaceId = randomUUID();
    await recordRun(one.host, { workspaceId, createdAt: Date.UTC(2026, 7, 1) });
    await untilCopied(team, 1);
    return shareQueue([one, two], 0, { filter: { workspaceId }, source: 'team', plan: { kind: 'newest', perDay: 2 } });
  }

  const untilCopied = (team: string, runs: number) =>
    until(async () => expect(await server().query(team, 'SELECT 1 FROM touchstone.runs')).toHaveLength(runs));

  /** Two runs of each of so many days, one on each host. */
  async function recordDays(queue: ReviewQueue, hosts: readonly SharingHost[], days: number, text = ''): Promise<void> {
    const { workspaceId } = queue.filter as { workspaceId: string };
    for (let day = 0; day < days; day += 1)
      for (const { host } of hosts)
        await recordRun(host, { workspaceId, createdAt: Date.UTC(2026, 8, 1 + day), renderedPrompt: text });
  }

  const sharedItems = (team: string) =>
    server().query<{ position: number; run: string }>(
      team,
      "SELECT position, item ->> 'runId' AS run FROM touchstone.review_items ORDER BY position",
    );

  /** That the queue has each run once, in the same order on both hosts and in the team database. */
  async function expectEachOnce(team: string, queue: ReviewQueue, hosts: readonly SharingHost[], runs: number) {
    const shared = await sharedItems(team);
    expect(shared.map(({ position }) => position)).toEqual(Array.from({ length: runs }, (_, index) => index));
    expect(new Set(shared.map(({ run }) => run)).size).toBe(runs);
    for (const host of hosts)
      await until(async () => {
        const { body } = await host.call<{ data: ReviewItemDetail[] }>('GET', `${pathOf(queue)}/items?limit=100`);
        expect(body.data.map(({ runId }) => runId)).toEqual(shared.map(({ run }) => run));
        const read = await host.call<ReviewQueue>('GET', pathOf(queue));
        expect(read.body).toMatchObject({ population: runs, counts: { items: runs } });
      });
  }

  test("new days of the team's runs come once, also if the host is killed while it adds them", longTest, async () => {
    const team = await server().createDatabase();
    const [one, two] = (await startHosts(team, 2)) as [SharingHost, SharingHost];
    const queue = await shareDailyQueue(team, [one, two]);
    await recordDays(queue, [one, two], 14);
    await untilCopied(team, 29);
    await one.host.close();
    // It is killed before the first step, which has twenty items, and in the second one.
    for (const [present, condition] of [
      [1, 'NEW.queue::text <> OLD.queue::text'],
      [21, '(SELECT count(*) FROM touchstone.review_items) = 21'],
    ] as const) {
      const resume = await interrupt(team, 'true', `IF ${condition} THEN PERFORM pg_sleep(3600); END IF`);
      let isWaiting = false;
      const killed = runUntilKilled(refillingProcess, [one.directory, team, queue.id], () => isWaiting);
      const sleeping = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
      await until(async () => expect(await server().query(team, `SELECT 1 ${sleeping}`)).toHaveLength(1));
      isWaiting = true;
      await killed;
      await server().query(team, `SELECT pg_terminate_backend(pid) ${sleeping}`);
      await resume();
      expect(await sharedItems(team)).toHaveLength(present);
    }
    const again = await startSharingHost({ team, directory: one.directory });
    onTestFinished(() => again.close());
    await until(async () => {
      await again.call('PATCH', pathOf(queue), { isOpen: true });
      expect(await sharedItems(team)).toHaveLength(29);
    });
    await again.call('PATCH', pathOf(queue), { isOpen: true });
    await expectEachOnce(team, queue, [again, two], 29);
  });

  test('a queue that is renamed and closed at the same time has the new name on all hosts', longTest, async () => {
    const team = await server().createDatabase();
    const [one, two] = (await startHosts(team, 2)) as [SharingHost, SharingHost];
    const queue = await shareDailyQueue(team, [one, two]);
    const gate = new pg.Client({ connectionString: team });
    await gate.connect();
    await gate.query('SELECT pg_advisory_lock(1)');
    await interrupt(team, "NEW.queue ->> 'name' <> OLD.queue ->> 'name'", 'PERFORM pg_advisory_xact_lock(1)');

    const renamed = one.call('PATCH', pathOf(queue), { name: 'Refunds of the week' });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()";
    await until(async () => expect(await server().query(team, waiting)).toHaveLength(1));
    // The same queue, whatever the case of its ID.
    const closed = one.call('PATCH', `/review-queues/${queue.id.toUpperCase()}`, { isOpen: false });
    await gate.end();

    const state = { name: 'Refunds of the week', isOpen: false };
    expect(await renamed).toMatchObject({ status: 200 });
    expect(await closed).toMatchObject({ status: 200, body: state });
    await until(async () => expect((await two.call('GET', pathOf(queue))).body).toMatchObject(state));
    expect(await server().query(team, 'SELECT queue FROM touchstone.review_queues')).toMatchObject([{ queue: state }]);
  });

  test('a full disk of the database loses no item or review, and says what to do', longTest, async () => {
    const small = await createSmallDatabase(server(), 48);
    if (small === null) return;
    const { address: team } = small;
    const hosts = (await startHosts(team, 2)) as [SharingHost, SharingHost];
    const [one, two] = hosts;
    const queue = await shareDailyQueue(team, hosts);
    // Texts that can't be compressed. Each is copied twice: with its run, and with its item.
    await recordDays(queue, hosts, 14, randomBytes(60_000).toString('base64'));
    await untilCopied(team, 29);
    expect((await reserve(two, queue, null)).status).toBe(200);
    // With a full disk the server may reject a new one.
    const connected = new pg.Client({ connectionString: team });
    await connected.connect();
    await small.fill();
    const full = 'The disk of the team database is full. Free some space there. Copying then continues.';

    await one.call('PATCH', pathOf(queue), { isOpen: true });
    expect((await connected.query('SELECT position FROM touchstone.review_items')).rows).toHaveLength(1);
    await connected.end();
    const { filter, rubric, itemType } = queue;
    const input = { name: 'Another', filter, itemType, plan: { kind: 'all' }, rubricId: rubric.id, isShared: true };
    const another = await one.call('POST', '/review-queues', input);
    expect(another).toMatchObject({
      status: 503,
      body: { error: { code: 'team_unavailable', message: expect.stringContaining(full) } },
    });
    // Runs that aren't in the queue. Copying them says what is wrong.
    for (const { host } of hosts) await recordRun(host, { renderedPrompt: randomBytes(60_000).toString('base64') });
    for (const { log } of hosts) await until(() => expect(log.some((line) => line.startsWith(full))).toBe(true));

    small.grow();
    await untilCopied(team, 31);
    await until(async () => {
      await one.call('PATCH', pathOf(queue), { isOpen: true });
      expect(await sharedItems(team)).toHaveLength(29);
    });
    await expectEachOnce(team, queue, hosts, 29);
    expect(await reviewAll(two, queue, issue(two, 'Wren'))).toBe(28);
    expect((await one.call<{ data: unknown[] }>('GET', '/review-queues')).body.data).toHaveLength(1);
  });

  test(
    'plans choose the same runs from the team database as from the device that recorded them',
    longTest,
    async () => {
      const team = await server().createDatabase();
      const [host] = (await startHosts(team, 1)) as [SharingHost];
      const workspaceId = randomUUID();
      const conversations = Array.from({ length: 12 }, () => randomUUID());
      for (let index = 0; index < 40; index += 1) {
        const conversationId = conversations[index % 12]!;
        const { runId } = await recordRun(
          host.host,
          {
            workspaceId,
            conversationId,
            createdAt: Date.UTC(2026, 9, 1 + (index % 3), 12, index),
            model: `model-${index % 3}`,
          },
          index % 5 === 0 ? { moderation: flagged as never } : {},
        );
        if (index % 4 === 0) continue;
        const feedback = { score: (index % 21) - 10, scoreTags: index % 2 === 0 ? 'late,rude' : 'late' };
        const path = `/conversations/${conversationId}/runs/${runId}/feedback`;
        expect((await host.call('PUT', path, feedback)).status).toBe(200);
      }
      await until(async () => expect((await server().query(team, 'SELECT 1 FROM touchstone.runs')).length).toBe(40));
      const { body: rubric } = await host.call<Rubric>('POST', '/rubrics', {
        name: 'Refunds',
        items: [{ kind: 'yesNo', question: 'Is it right?' }],
      });
      const plans = [
        { kind: 'all' },
        { kind: 'random', count: 7 },
        { kind: 'stratified', by: 'model', share: 0.3 },
        { kind: 'stratified', by: 'tag', count: 3 },
        { kind: 'stratified', by: 'scoreBand', count: 3 },
        { kind: 'stratified', by: 'moderation', count: 2 },
        { kind: 'flagged', share: 0.2 },
        { kind: 'newest', perDay: 2 },
      ];
      for (const plan of plans)
        for (const itemType of ['run', 'conversation']) {
          const [own, shared] = await Promise.all(
            ['device', 'team'].map(async (source) => {
              const { body: queue } = await host.call<ReviewQueue>('POST', '/review-queues', {
                name: `${plan.kind} ${source}`,
                filter: { workspaceId },
                source,
                itemType,
                plan,
                seed: 4711,
                secondShare: 0.5,
                rubricId: rubric.id,
              });
              const { body } = await host.call<{ data: ReviewItemDetail[] }>('GET', `${pathOf(queue)}/items`);
              const items = body.data.map(({ runId, conversationId, stratum, isFlagged, reviewsNeeded }) => ({
                runId,
                conversationId,
                stratum,
                isFlagged,
                reviewsNeeded,
              }));
              return { population: queue.population, strata: queue.strata, items };
            }),
          );
          expect(shared).toEqual(own);
        }
    },
  );
});
