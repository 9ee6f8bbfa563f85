// @module-tag slow
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { generate } from 'selfsigned';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHost, type Host } from '../../electron/create-host.ts';
import { createMemoryKeyStore, type KeyStore } from '../../electron/key-store/key-store.ts';
import type { ConversationDetail } from '../../shared/contract/conversations.ts';
import type { AuditFacetCounts, AuditPage, AuditReport, AuditSummary } from '../../shared/contract/audit.ts';
import type { TeamMembers, TeamState, TeamTest } from '../../shared/contract/team.ts';
import { recordRun } from '../support/audit-runs.ts';
import { patience } from '../support/patience.ts';
import { describeWithPostgres } from '../support/postgres.ts';
import { connectTeam, createTeamDatabase, usePostgres } from '../unit/team/team-world.ts';

interface TeamHost {
  readonly host: Host;
  readonly log: string[];
  call<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  callWithKey<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  /** Resolves with the state once it passes the test. */
  until(passes: (state: TeamState) => boolean): Promise<TeamState>;
}

async function startHost(
  options: { team?: string; keyStore?: KeyStore; environment?: Record<string, string>; directory?: string } = {},
): Promise<TeamHost> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'touchstone-team-')));
  const log: string[] = [];
  const host = await createHost({
    dataDirectory: directory,
    providerBases: {},
    endpoints: [],
    capabilities: [],
    environment: options.environment ?? {},
    keyStore: options.keyStore ?? createMemoryKeyStore(),
    team: options.team ?? null,
    log: (message) => void log.push(message),
  });
  onTestFinished(async () => {
    await host.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  });
  const { key } = host.storage.apiKeys.issue({ name: 'Auditor' });
  const send =
    (access: 'window' | 'network') =>
    async (method: string, path: string, body?: unknown): Promise<{ status: number; body: never }> => {
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(access === 'network' && { authorization: `Bearer ${key}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await host.api.fetch(request, { access });
      return { status: response.status, body: (await response.json()) as never };
    };
  const call = send('window');
  return {
    host,
    log,
    call,
    callWithKey: send('network'),
    until: (passes) =>
      vi.waitFor(async () => {
        const { body } = (await call('GET', '/window/team')) as { body: TeamState };
        expect(passes(body), JSON.stringify(body)).toBe(true);
        return body;
      }, patience),
  };
}

const isCopied = ({ status, waiting }: TeamState): boolean => status === 'up-to-date' && waiting === 0;

describeWithPostgres('the team database', () => {
  const server = usePostgres();

  /** Queries that wait for a lock. A host also exchanges its reviewers, soon after it has connected and now and then. */
  const countWaiting = async (team: string, text = ''): Promise<number> => {
    const waiting = 'SELECT query FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted';
    return (await server().query<{ query: string }>(team, waiting)).filter(({ query }) => query.includes(text)).length;
  };

  /** Parts of the queries that wait: of members for the reviewers, and of a conversation for its row. */
  const membersQuery = 'GROUP BY reviewer_id';
  const conversationQuery = 'turns_before FROM touchstone.conversations';

  /** Until the result is called, queries about members wait. */
  async function lockReviewers(team: string): Promise<() => Promise<void>> {
    const { database } = await connectTeam(team);
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    onTestFinished(() => released.resolve());
    const lock = database.transaction().execute(async (transaction) => {
      await sql`LOCK touchstone.reviewers IN ACCESS EXCLUSIVE MODE`.execute(transaction);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    return () => {
      released.resolve();
      return lock;
    };
  }

  test('shows an auditor the runs of another host, whose feedback and conversations it reads and gives', async () => {
    // Empty: the two hosts create the tables together.
    const team = await server().createDatabase();
    const [one, two] = [await startHost({ team }), await startHost({ team })];
    const run = await recordRun(one.host, { renderedPrompt: 'the heron waits', model: 'gpt-4o' });
    await recordRun(two.host, { renderedPrompt: 'the osprey dives' });
    await one.until(isCopied);
    await two.until(isCopied);

    const search = (source?: string) =>
      two.call<AuditPage>('POST', '/window/audit/search', { filter: { text: 'heron' }, ...(source && { source }) });
    expect((await search()).body.rows).toEqual([]);
    const { body: page } = await search('team');
    expect(page.rows.map(({ run: found }) => found.runId)).toEqual([run.runId]);
    const { body: summary } = await two.call<AuditSummary>('POST', '/window/audit/summary', {
      filter: {},
      source: 'team',
    });
    expect(summary.runs).toBe(2);
    const { body: counts } = await two.call<AuditFacetCounts>('POST', '/window/audit/facets', {
      filter: {},
      source: 'team',
    });
    expect(counts.statuses).toEqual([{ status: 'Completed', runs: 2 }]);
    expect((await two.call<{ runs: number }>('GET', '/window/audit/facets?source=team')).body.runs).toBe(2);

    const path = `/conversations/${run.conversationId}`;
    const feedback = { score: 7, scoreText: 'patient', scoreTags: 'bird' };
    expect((await two.callWithKey('PUT', `${path}/runs/${run.runId}/feedback`, feedback)).status).toBe(200);
    const { body: report } = await two.callWithKey<AuditReport>('POST', '/audit/conversations', {
      feedback: { score: 7 },
      includeFeedback: true,
    });
    expect(report.conversations.map(({ id, runs }) => [id, runs[0]!.feedback?.scoreText])).toEqual([
      [run.conversationId, 'patient'],
    ]);
    const { body: conversation } = await two.callWithKey<{ runs: unknown[] }>('GET', path);
    expect(conversation.runs).toHaveLength(1);
  });

  test('reads a conversation of two hosts as a whole on each, and gives the runs of both feedback', async () => {
    const team = await createTeamDatabase(server());
    const [one, two] = [await startHost({ team }), await startHost({ team })];
    const conversationId = '10000000-0000-4000-8000-000000000001';
    const runs: Awaited<ReturnType<typeof recordRun>>[] = [];
    for (const [index, { host }] of [one, two, one].entries())
      runs.push(await recordRun(host, { conversationId, createdAt: Date.UTC(2026, 10, 20) + index }));
    await one.until(isCopied);
    await two.until(isCopied);
    // It may not be copied yet.
    runs.push(await recordRun(two.host, { conversationId }));
    const path = `/conversations/${conversationId}`;
    const read = async (isIncomplete?: true) => {
      const { body } = await two.callWithKey<ConversationDetail>('GET', path);
      expect(body.isIncomplete).toBe(isIncomplete);
      return body.runs.map(({ conversationRunId: id }) => runs.findIndex(({ runId }) => runId === id));
    };
    expect(await read()).toEqual([0, 1, 2, 3]);
    for (const { runId } of runs) {
      const feedback = `${path}/runs/${runId}/feedback`;
      expect((await two.callWithKey('PUT', feedback, { score: 3 })).status).toBe(200);
      expect((await two.callWithKey<unknown[]>('GET', feedback)).body).toHaveLength(1);
    }
    await server().stop();
    await two.until(({ status }) => status === 'offline');
    expect(await read(true)).toEqual([1, 3]);
    await server().run();
  });

  test('says that a conversation is without the runs of others, if they are too long', async () => {
    const team = await createTeamDatabase(server());
    const [one, two] = [await startHost({ team }), await startHost({ team })];
    const conversationId = randomUUID();
    for (let count = 0; count < 17; count += 1)
      await recordRun(one.host, { conversationId, renderedPrompt: 'x'.repeat(1_000_000) });
    const { runId } = await recordRun(two.host, { conversationId });
    await one.until(isCopied);
    const { body } = await two.callWithKey<ConversationDetail>('GET', `/conversations/${conversationId}`);
    expect(body.isIncomplete).toBe(true);
    expect(body.runs.map(({ conversationRunId: id }) => id)).toEqual([runId]);
  });

  test('reads a conversation of any length, and continues after it', async () => {
    const team = await createTeamDatabase(server());
    const [one, two] = [await startHost({ team }), await startHost({ team })];
    const appHeaders = { team: 'red' };
    const old = await recordRun(one.host, { appHeaders, createdAt: Date.UTC(2026, 10, 1) });
    const conversationId = randomUUID();
    const runs: [id: string, text: string, isMatching: boolean][] = [];
    for (let index = 0; index < 17; index += 1) {
      const renderedPrompt = `${index} ${'x'.repeat(1_000_000)}`;
      const matching = index % 3 === 0 ? { appHeaders } : {};
      const { runId } = await recordRun(one.host, { conversationId, renderedPrompt, ...matching });
      runs.push([runId, renderedPrompt, index % 3 === 0]);
    }
    const query = { appHeaders, pageSize: 1 };
    await one.until(isCopied);
    const first = await two.callWithKey<AuditReport>('POST', '/audit/conversations', query);
    const [long] = first.body.conversations;
    const shown = long!.runs.map(({ conversationRunId, input, matched }) => [
      conversationRunId,
      input.renderedPrompt,
      matched,
    ]);
    expect([long!.id, shown]).toEqual([conversationId, runs]);
    const second = await two.callWithKey<AuditReport>('POST', '/audit/conversations', {
      ...query,
      continuationToken: first.body.continuationToken,
    });
    expect(second.body.conversations.map(({ id }) => id)).toEqual([old.conversationId]);
    expect(second.body.continuationToken).toBeNull();
  });

  test('continues the pages of one host on another', async () => {
    const team = await createTeamDatabase(server());
    const [one, two] = [await startHost({ team }), await startHost({ team })];
    for (let index = 0; index < 5; index += 1) await recordRun(one.host);
    await one.until(isCopied);
    const { body: first } = await one.callWithKey<AuditReport>('POST', '/audit/conversations', { pageSize: 3 });
    const { body: second } = await two.callWithKey<AuditReport>('POST', '/audit/conversations', {
      pageSize: 3,
      continuationToken: first.continuationToken,
    });
    const ids = [...first.conversations, ...second.conversations].map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(second.continuationToken).toBeNull();
  });

  test('catches up after a restart of PostgreSQL, and says why it waits', async () => {
    const team = await createTeamDatabase(server());
    const { host, until, call } = await startHost({ team });
    await until(isCopied);
    await server().kill();
    const { conversationId, runId } = await recordRun(host);
    const rated = await call('PUT', `/conversations/${conversationId}/runs/${runId}/feedback`, { score: 3 });
    expect(rated.status).toBe(200);
    const offline = await until(({ status, waiting }) => status === 'offline' && waiting > 0);
    expect(offline).toMatchObject({ waitingRuns: 1, since: expect.any(String), retryAt: expect.any(String) });
    expect(offline.waiting).toBe(offline.waitingRuns + offline.waitingChanges);
    expect((await call<TeamState>('POST', '/window/team/retry')).body.status).toBe('offline');
    expect((await call('GET', '/team/members')).status).toBe(409);
    expect(offline.message).toMatch(
      /^No database is listening at .*Check the address and that PostgreSQL is running\.$/,
    );
    const rejected = await call<{ error: { message: string } }>('POST', '/window/audit/search', {
      filter: {},
      source: 'team',
    });
    expect(rejected).toMatchObject({ status: 409, body: { error: { message: offline.message } } });
    expect((await call<AuditPage>('POST', '/window/audit/search', { filter: {} })).body.rows).toHaveLength(1);
    await server().run();
    expect((await call('POST', '/window/team/retry')).status).toBe(200);
    await until(isCopied);
    expect(await server().query(team, 'SELECT count(*)::int FROM touchstone.runs')).toEqual([{ count: 1 }]);
  });

  test('answers everybody who waits until all runs are copied', async () => {
    const { host, until, call } = await startHost({ team: await createTeamDatabase(server()) });
    await until(isCopied);
    await recordRun(host);
    host.storage.flush();
    const answers = await Promise.all([1, 2].map(() => call<TeamState>('POST', '/window/team/retry')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('copies while long queries hold all other connections', async () => {
    const team = await createTeamDatabase(server());
    const { host, until, call } = await startHost({ team });
    await recordRun(host);
    await until(isCopied);
    const release = await lockReviewers(team);
    const queries = [1, 2, 3, 4].map(() => call<TeamMembers>('GET', '/team/members'));
    await expect.poll(() => countWaiting(team), patience).toBe(queries.length);
    await recordRun(host);
    await until(({ waiting, copied }) => waiting === 0 && copied === 2);
    expect(await countWaiting(team)).toBe(queries.length);
    await release();
    expect((await Promise.all(queries)).map(({ status }) => status)).toEqual(queries.map(() => 200));
  });

  test('delays no conversation of this device for long', async () => {
    const team = await createTeamDatabase(server());
    const { host, until, callWithKey } = await startHost({ team });
    const { conversationId, runId } = await recordRun(host);
    await until(isCopied);
    const { database } = await connectTeam(team);
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    onTestFinished(() => released.resolve());
    const lock = database.transaction().execute(async (transaction) => {
      await sql`LOCK touchstone.runs, touchstone.conversations IN ACCESS EXCLUSIVE MODE`.execute(transaction);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    // Only the first one waits.
    for (const time of [1, 2, 3]) {
      const { body } = await callWithKey<{ runs: unknown }>('GET', `/conversations/${conversationId}`);
      expect(body.runs, `${time}`).toMatchObject([{ conversationRunId: runId }]);
    }
    expect(await countWaiting(team, conversationQuery)).toBe(1);
    released.resolve();
    await lock;
  });

  test('is left at once while a query is never answered', async () => {
    const team = await createTeamDatabase(server());
    const { host, until, call } = await startHost();
    await call('PUT', '/window/team', { address: team });
    await recordRun(host);
    await until(isCopied);
    const release = await lockReviewers(team);
    const query = call('GET', '/team/members');
    await expect.poll(() => countWaiting(team, membersQuery), patience).toBe(1);
    const { body } = await call<TeamState>('DELETE', '/window/team');
    expect([body.status, (await query).status]).toEqual(['off', 409]);
    await release();
  });

  test('gets no run once another address replaced its own, also while a query was still open', async () => {
    const [first, second, third] = [
      await createTeamDatabase(server()),
      await createTeamDatabase(server()),
      await createTeamDatabase(server()),
    ];
    const { host, until, call } = await startHost();
    await call('PUT', '/window/team', { address: first });
    await recordRun(host);
    await until(isCopied);
    const { database } = await connectTeam(first);
    const released = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = database.transaction().execute(async (transaction) => {
      await sql`LOCK touchstone.runs IN ACCESS EXCLUSIVE MODE`.execute(transaction);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const search = call('POST', '/window/audit/search', { filter: { text: 'a' }, source: 'team' });
    await vi.waitFor(async () => {
      expect(await server().query(first, 'SELECT 1 AS waits FROM pg_locks WHERE NOT granted')).not.toEqual([]);
    }, patience);
    await call('PUT', '/window/team', { address: second });
    await call('DELETE', '/window/team');
    released.resolve();
    await Promise.all([lock, search]);
    // A copier would have copied the run by the end of these.
    for (let count = 0; count < 20; count += 1) await call('POST', '/window/team/test', { address: second });
    await call('PUT', '/window/team', { address: third });
    await until(isCopied);
    await recordRun(host);
    host.storage.flush();
    await call('POST', '/window/team/retry');
    const countRuns = async (address: string) =>
      (await server().query(address, 'SELECT 1 FROM touchstone.runs')).length;
    expect([await countRuns(first), await countRuns(second), await countRuns(third)]).toEqual([1, 0, 2]);
  });

  test('is connected and left in the settings, with its password in the keychain only', async () => {
    const team = await createTeamDatabase(server());
    const keyStore = createMemoryKeyStore();
    const directory = await mkdtemp(join(tmpdir(), 'touchstone-team-'));
    const first = await startHost({ keyStore, directory });
    expect((await first.call('PUT', '/window/team', { address: team, password: 'se"cret/1' })).status).toBe(200);
    const state = await first.until(isCopied);
    expect(state).toMatchObject({ address: team.replace('&port=5432', ''), hasPassword: true, isFixed: false });
    expect(JSON.stringify(state)).not.toContain('cret/1');
    await first.host.close();
    expect(readFileSync(join(directory, 'touchstone.sqlite')).includes('cret/1')).toBe(false);

    const again = await startHost({ keyStore, directory });
    await again.until(isCopied);
    const { body: off } = await again.call<TeamState>('DELETE', '/window/team');
    expect(off).toMatchObject({ address: null, hasPassword: false, status: 'off' });
    const search = await again.call('POST', '/window/audit/search', { filter: {}, source: 'team' });
    expect(search.status).toBe(409);
  });

  test('counts what waits also after a restart without the database', async () => {
    const team = await createTeamDatabase(server());
    const directory = await mkdtemp(join(tmpdir(), 'touchstone-team-'));
    const first = await startHost({ team, directory });
    await recordRun(first.host);
    await first.until(({ status, copied }) => status === 'up-to-date' && copied > 0);
    await first.host.close();
    await server().kill();
    const again = await startHost({ team, directory });
    await again.until(({ status, waiting }) => status === 'offline' && waiting === 0);
    await recordRun(again.host);
    await again.until(({ status, waitingRuns }) => status === 'offline' && waitingRuns === 1);
    await server().run();
    await again.until(isCopied);
  });

  test('shows the steps of a test, which changes nothing, and the members', async () => {
    const empty = await server().createDatabase();
    const host = await startHost();
    const { body: tested } = await host.call<TeamTest>('POST', '/window/team/test', { address: empty });
    expect(tested).toMatchObject({ failure: null, readOnlyReason: null, authority: null });
    expect(tested.steps.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['dns', 'not-needed'],
      ['port', 'passed'],
      ['tls', 'not-needed'],
      ['sign-in', 'passed'],
      ['tables', 'passed'],
    ]);
    expect(await server().query(empty, "SELECT to_regnamespace('touchstone') AS found")).toEqual([{ found: null }]);

    await host.call('PUT', '/window/team', { address: empty });
    await recordRun(host.host);
    await host.until(({ status, copied }) => status === 'up-to-date' && copied > 0);
    expect((await host.call('POST', '/reviewers', { name: 'Wren' })).status).toBeLessThan(300);
    await vi.waitFor(async () => {
      const { body } = await host.call<TeamMembers>('GET', '/team/members');
      expect(body.reviewers).toMatchObject([{ name: 'Wren', kind: 'person', hasPin: false, reviewed: 0 }]);
      expect(body.hosts).toMatchObject([{ isThisHost: true, rejected: 0 }]);
    }, patience);
  });

  test('stores the certificates of an authority without the rest of their file', async () => {
    const team = 'postgres://wren@127.0.0.1:1/x';
    const keyStore = createMemoryKeyStore();
    const directory = await mkdtemp(join(tmpdir(), 'touchstone-team-'));
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'db' }]);
    const authority = { name: 'nordwind-ca.pem', certificates: `${key}\n${cert}` };
    const first = await startHost({ keyStore, directory });
    for (const certificates of ['', 'no certificate', cert.replace(/[A-Z]{4}/, 'AAAA').slice(0, 80) + cert.slice(90)]) {
      const rejected = await first.call<{ error: { message: string } }>('PUT', '/window/team', {
        address: team,
        authority: { name: 'x.pem', certificates },
      });
      expect([rejected.status, rejected.body.error.message]).toEqual([
        400,
        expect.stringMatching(/^The certificate file/),
      ]);
    }
    const { body } = await first.call<TeamState>('PUT', '/window/team', { address: team, authority });
    expect(body.authority).toMatchObject({ name: 'nordwind-ca.pem', isGiven: true });
    expect(Date.parse(body.authority!.expiresAt)).toBeGreaterThan(Date.now());
    const file = join(directory, 'team-authority.pem');
    expect(readFileSync(file, 'utf8').trim()).toBe(cert.trim().replaceAll('\r', ''));
    await first.host.close();

    const again = await startHost({ keyStore, directory });
    expect((await again.call<TeamState>('GET', '/window/team')).body.authority?.name).toBe('nordwind-ca.pem');
    await again.host.close();
    writeFileSync(file, (await generate([{ name: 'commonName', value: 'other' }])).cert);
    const changed = await startHost({ keyStore, directory });
    expect((await changed.call<TeamState>('GET', '/window/team')).body.status).toBe('off');
    expect(changed.log.join()).toMatch(/isn't the one that was chosen/);
    await changed.call('PUT', '/window/team', { address: team, authority });
    const { body: removed } = await changed.call<TeamState>('PUT', '/window/team', { address: team, authority: null });
    expect(removed.authority).toBeNull();
    expect(existsSync(file)).toBe(false);
  });

  test("a database from somebody else doesn't copy runs to their address", async () => {
    const team = await createTeamDatabase(server());
    const directory = await mkdtemp(join(tmpdir(), 'touchstone-team-'));
    const theirs = await startHost({ directory });
    await theirs.call('PUT', '/window/team', { address: team });
    await theirs.host.close();
    const mine = await startHost({ directory });
    expect((await mine.call<TeamState>('GET', '/window/team')).body.status).toBe('off');
    expect(mine.log.join()).toMatch(/was only in memory/);
  });

  test.for([
    ['another scheme', 'http://db.example/x', /must be like postgres:/],
    ['no database', 'postgres://wren@db.example', /needs a user and a database/],
    ['TLS without a check', 'postgres://wren@db.example/x?sslmode=require', /sslmode must be verify-full/],
    ['an unknown parameter', 'postgres://wren@db.example/x?user=me', /unknown parameter: user/],
    ['an unreadable certificate', 'postgres://wren@db.example/x?sslrootcert=/none', /\/none can't be read/],
    ['nothing at the port', 'postgres://wren@127.0.0.1:1/x', /^No database is listening at 127\.0\.0\.1, port 1\./],
  ] as const)('%s is rejected with one sentence that has the remedy', async ([, address, expected]) => {
    const { call } = await startHost();
    const { status, body } = await call<{ failure?: string; error?: { message: string } }>(
      'POST',
      '/window/team/test',
      {
        address,
        password: 'hidden-password',
      },
    );
    const message = body.failure ?? body.error!.message;
    expect(message).toMatch(expected);
    expect(message).not.toContain('hidden');
    expect([200, 400]).toContain(status);
  });

  test('a wrong password, a missing database and a missing right are described', async () => {
    const { call } = await startHost();
    const failureOf = async (address: string, password?: string) =>
      (await call<{ failure: string }>('POST', '/window/team/test', { address, password })).body.failure;
    const database = await createTeamDatabase(server());
    await server().query('postgres', "CREATE ROLE nobody_special LOGIN PASSWORD 'right'");
    expect(await failureOf(server().address('missing'))).toMatch(/^The team database "missing" doesn't exist/);
    expect(await failureOf(database.replace('owner@', 'nobody_special@'))).toMatch(
      /is missing a right .* docs\/team\.md/,
    );
    expect(await failureOf(database.replace('owner@', 'stranger@'))).toMatch(/"stranger"/);
  });

  test('a newer schema is read, but never written', async () => {
    const team = await createTeamDatabase(server());
    const first = await startHost({ team });
    await recordRun(first.host);
    await first.until(isCopied);
    await first.host.close();
    await server().query(team, 'INSERT INTO touchstone.migrations (number) VALUES (99)');
    const older = await startHost({ team });
    await recordRun(older.host);
    const state = await older.until(({ status }) => status === 'read-only');
    expect(state.message).toMatch(/^A newer version of Touchstone updated the team database/);
    const { body } = await older.call<AuditPage>('POST', '/window/audit/search', { filter: {}, source: 'team' });
    expect(body.rows).toHaveLength(1);
    expect(await server().query(team, 'SELECT count(*)::int FROM touchstone.hosts')).toEqual([{ count: 1 }]);
  });

  test('copies once a missing right is granted', async () => {
    const team = await createTeamDatabase(server());
    await server().query(
      team,
      `CREATE ROLE late LOGIN; GRANT USAGE ON SCHEMA touchstone TO late; GRANT SELECT ON ALL TABLES IN SCHEMA touchstone TO late;
       CREATE POLICY late ON touchstone.conversations TO late USING (true); CREATE POLICY late ON touchstone.runs TO late USING (true);
       CREATE POLICY late ON touchstone.run_texts TO late USING (true)`,
    );
    const late = await startHost({ team: team.replace('owner@', 'late@') });
    await recordRun(late.host);
    await late.until(({ status }) => status === 'read-only');
    await server().query(
      team,
      `GRANT ALL ON ALL TABLES IN SCHEMA touchstone TO late; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA touchstone TO late`,
    );
    await vi.waitFor(async () => {
      const { body } = await late.call<AuditPage>('POST', '/window/audit/search', { filter: {}, source: 'team' });
      expect(body.rows).toHaveLength(1);
    }, patience);
    await late.until(isCopied);
  });

  test('the roles of docs/team.md let hosts write, auditors read, and workspace auditors see their workspaces', async () => {
    const workspaceId = '7f3c8e52-0000-4000-8000-000000000000';
    const team = await createTeamDatabase(server());
    const owner = await startHost({ team });
    await owner.until(isCopied);
    await owner.host.close();
    const [roles, users] = [...readFileSync('docs/team.md', 'utf8').matchAll(/```sql\n(.*?)```/gs)].map(
      ([, statements]) => statements!,
    );
    await server().query(team, roles!);
    await server().query(team, users!);
    await server().query(team, 'CREATE ROLE heron LOGIN IN ROLE touchstone_auditor');

    const writer = await startHost({ team: team.replace('owner@', 'host_1@') });
    const hidden = await recordRun(writer.host, { createdAt: Date.UTC(2031, 4), renderedPrompt: 'a public bird' });
    const shown = await recordRun(writer.host, { workspaceId, renderedPrompt: 'a secret bird' });
    await writer.until(isCopied);
    // The host shares its keys, and a desktop can't read them.
    writer.host.storage.apiKeys.issue({ name: 'Shared' });
    const keys = "SELECT name FROM touchstone.api_keys WHERE name = 'Shared'";
    await vi.waitFor(async () => expect(await server().query(team, keys)).toHaveLength(1), patience);
    await expect(server().query(team, `SET ROLE desktop_1; ${keys}`)).rejects.toThrow('permission denied');
    const seen = async (user: string) => {
      const host = await startHost({ team: team.replace('owner@', `${user}@`) });
      expect((await host.until(({ status }) => status === 'read-only')).message).toMatch(/may only read/);
      const query = { filter: { text: 'bird' }, source: 'team' };
      const { body } = await host.call<AuditPage>('POST', '/window/audit/search', query);
      const { body: facets } = await host.call<{ runs: number }>('GET', '/window/audit/facets?source=team');
      expect(facets.runs).toBe(body.rows.length);
      for (const filter of [{}, { text: 'bird' }, { startDate: '2020-01-01T00:00:00Z' }]) {
        const { body: figures } = await host.call<AuditSummary>('POST', '/window/audit/summary', {
          filter,
          source: 'team',
        });
        expect([figures.runs, figures.conversations]).toEqual([facets.runs, facets.runs]);
        const { body: counts } = await host.call<AuditFacetCounts>('POST', '/window/audit/facets', {
          filter,
          source: 'team',
        });
        expect(counts.statuses).toEqual([{ status: 'Completed', runs: facets.runs }]);
      }
      const readable = [hidden, shown].map(async ({ conversationId, runId }) => {
        const conversation = await host.callWithKey('GET', `/conversations/${conversationId}`);
        const run = await host.call('GET', `/window/runs/${runId}`);
        const selection = { conversationIds: [conversationId], source: 'team' };
        const preview = await host.call('POST', '/window/audit/exports/preview', {
          selection,
          columns: ['content'],
          rules: [],
        });
        return [conversation.status, run.status, preview.status, (preview.body as { runs: number }).runs];
      });
      return { workspaces: body.rows.map(({ workspaceId: id }) => id), readable: await Promise.all(readable) };
    };
    // Without one of the rights, for example of a table that an update added, nothing is written and the missing ones are named.
    await server().query(team, 'REVOKE INSERT ON touchstone.day_terms FROM touchstone_writer');
    const partial = await startHost({ team: team.replace('owner@', 'desktop_1@') });
    expect((await partial.until(({ status }) => status === 'read-only')).message).toBe(
      '"desktop_1" is missing a right in the team database (INSERT on day_terms). Ask its owner to run the SQL in docs/team.md.',
    );
    const all = [200, 200, 200, 1];
    expect(await seen('heron')).toEqual({ workspaces: [null, workspaceId], readable: [all, all] });
    expect(await seen('wren')).toEqual({ workspaces: [workspaceId], readable: [[404, 404, 200, 0], all] });
    // Neither names of the keys of other workspaces, nor what seals the tokens of all hosts.
    await server().query(team, "INSERT INTO touchstone.callers VALUES (gen_random_uuid(), 'Another workspace')");
    const callersOf = async (user: string) => {
      const { database } = await connectTeam(team.replace('owner@', `${user}@`));
      return (await sql<{ name: string }>`SELECT name FROM touchstone.callers`.execute(database)).rows;
    };
    expect(await callersOf('heron')).toContainEqual({ name: 'Another workspace' });
    expect(await callersOf('wren')).not.toContainEqual({ name: 'Another workspace' });
    const secret = server().query(team, 'SET ROLE wren; SELECT token_secret FROM touchstone.state');
    await expect(secret).rejects.toThrow(/permission denied/);
    for (const table of ['terms', 'day_models', 'day_terms', 'day_durations', 'hosts']) {
      const query = server().query(team, `SET ROLE wren; SELECT * FROM touchstone.${table}`);
      await expect(query).rejects.toThrow(/permission denied/);
    }
  });
});
