// @module-tag slow
import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SharedKeysConnection } from '../../electron/team/shared-keys.ts';
import { parseTeamAddress } from '../../shared/team-address.ts';
import type { ApiKey } from '../../shared/contract/api-keys.ts';
import type { TeamMembers } from '../../shared/contract/team.ts';
import { longTest, patience } from '../support/patience.ts';
import { describeWithPostgres } from '../support/postgres.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { type Answer, type SharingHost, startSharingHost } from '../support/sharing-hosts.ts';
import { usePostgres } from '../unit/team/team-world.ts';

interface KeyHost extends SharingHost {
  /** Calls a model, which costs a credit. */
  readonly run: (key: string) => Promise<Answer<never>>;
  readonly issue: (input?: object) => Promise<ApiKey & { key: string }>;
}

interface StartOptions {
  readonly team: string;
  readonly provider?: ScriptedProvider;
  readonly offlineMinutes?: number;
  readonly directory?: string;
}

/** A socket between a host and the server, which can be cut. */
async function startNetwork(folder: string) {
  const own = await mkdtemp(join(tmpdir(), 'ts-net-'));
  const sockets = new Set<Socket>();
  let isCut = false;
  const listener = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(join(folder, '.s.PGSQL.5432'));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  }).listen(join(own, '.s.PGSQL.5432'));
  await new Promise((resolve) => listener.once('listening', resolve));
  onTestFinished(async () => {
    listener.close();
    await rm(own, { recursive: true });
  });
  return {
    folder: own,
    async cut() {
      isCut = true;
      const ended = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve).destroy()));
      sockets.clear();
      await Promise.all(ended);
    },
    restore: () => (isCut = false),
  };
}

async function startHost({ provider, ...options }: StartOptions): Promise<KeyHost> {
  const started = await startSharingHost({ ...options, ...(provider && { providerAddress: provider.baseAddress }) });
  onTestFinished(started.close);
  const completion = { promptText: 'Say hello', aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
  return {
    ...started,
    run: (key) => started.call('POST', '/api/completions/sync', completion, key),
    issue: async (input = {}) =>
      (await started.call<ApiKey & { key: string }>('POST', '/window/api-keys', { name: 'Program', ...input })).body,
  };
}

async function startProvider(): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider((call) => call.chatAnswer({ content: 'Hello' }));
  onTestFinished(() => provider.close());
  return provider;
}

const credits = async (host: KeyHost, key: string) =>
  (await host.call('GET', '/credits', undefined, key)).body as { consumed: number; remaining: number | null };

const until = <Result>(check: () => Promise<Result> | Result) => vi.waitFor(check, patience);

const statusOf = async (host: KeyHost, key: string) => (await host.call('GET', '/credits', undefined, key)).status;

function countStatuses(answers: readonly Answer<unknown>[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describeWithPostgres('API keys that hosts share', () => {
  const server = usePostgres();

  test('a host closes while it connects', longTest, async () => {
    const team = await server().createDatabase();
    const first = await startHost({ team });
    await until(() => server().query(team, 'SELECT 1 FROM touchstone.reviews'));
    await first.close();
    // The connection for keys reads this table first.
    const gate = new pg.Client(team);
    await gate.connect();
    await gate.query('BEGIN; LOCK TABLE touchstone.state');
    const second = await startHost({ team });
    const waiting = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    await until(async () => expect(await server().query(team, waiting)).not.toEqual([{ count: 0 }]));
    const closed = second.close();
    await gate.query('COMMIT');
    await gate.end();
    await closed;
    const left = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'touchstone'";
    await until(async () => expect(await server().query(team, left)).toEqual([]));
  });

  test('work on all hosts, are changed and revoked on all, and are stored only as hashes', longTest, async () => {
    const team = await server().createDatabase();
    const [one, two] = [await startHost({ team }), await startHost({ team })];
    const { key, id, callerId } = await one.issue({ creditLimit: 7, scopes: ['run', 'audit'] });
    await until(async () => expect(await statusOf(two, key)).toBe(200));
    const listed = (host: KeyHost) => host.host.storage.apiKeys.list().find((one_) => one_.id === id);
    expect(listed(two)).toMatchObject({ callerId, scopes: ['run', 'audit'], creditLimit: 7, creditsUsed: 0 });

    // A host that didn't create it changes it, and both change different fields at once.
    await Promise.all([
      two.call('PATCH', `/window/api-keys/${id}`, { creditLimit: 5 }),
      one.call('PATCH', `/window/api-keys/${id}`, { name: 'Renamed' }),
    ]);
    for (const host of [one, two]) {
      await until(() => expect(listed(host)).toMatchObject({ creditLimit: 5, name: 'Renamed' }));
    }
    await server().query(team, `UPDATE touchstone.api_keys SET scopes = 'run' WHERE id = $1`, [id]);
    await until(() => expect(listed(one)).toMatchObject({ scopes: ['run'] }));

    const stored = await server().query<{ row: string }>(team, 'SELECT api_keys::text AS row FROM touchstone.api_keys');
    expect(stored).toHaveLength(1);
    expect(stored[0]!.row).not.toContain(key.slice(3));

    await two.call('DELETE', `/window/api-keys/${id}`);
    await until(async () => expect(await statusOf(one, key)).toBe(401));
    // Nobody makes a revoked key valid again.
    await server().query(team, 'UPDATE touchstone.api_keys SET revoked_at = NULL');
    expect(await server().query(team, 'SELECT 1 FROM touchstone.api_keys WHERE revoked_at IS NULL')).toEqual([]);
  });

  test('64 callers of three hosts use exactly the credits that a key has', longTest, async () => {
    const team = await server().createDatabase();
    const provider = await startProvider();
    const hosts = await Promise.all([1, 2, 3].map(() => startHost({ team, provider })));
    const { key } = await hosts[0]!.issue({ creditLimit: 10 });
    for (const host of hosts) await until(async () => expect(await statusOf(host, key)).toBe(200));
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => hosts[index % 3]!.run(key)));
    expect(countStatuses(answers)).toEqual({ 200: 10, 402: 54 });
    for (const host of hosts) {
      await until(async () => expect(await credits(host, key)).toMatchObject({ consumed: 10, remaining: 0 }));
    }
  });

  test('a host gives back what it has in reserve before another rejects a caller', longTest, async () => {
    const team = await server().createDatabase();
    const provider = await startProvider();
    const [one, two] = [await startHost({ team, provider }), await startHost({ team, provider })];
    const { key } = await one.issue({ creditLimit: 100 });
    await until(async () => expect(await statusOf(two, key)).toBe(200));
    expect((await one.run(key)).status).toBe(200);
    const leases = () =>
      server().query<{ reserve: string }>(team, 'SELECT ceiling - spent AS reserve FROM touchstone.credit_leases');
    expect(Number((await leases())[0]!.reserve)).toBeGreaterThan(0);
    const answers: Answer<unknown>[] = [];
    for (let run = 0; run < 100; run += 1) answers.push(await two.run(key));
    expect(countStatuses(answers)).toEqual({ 200: 99, 402: 1 });
  });

  test('what a cut off host has in reserve is counted until it is back, or somebody removes it', longTest, async () => {
    const team = await server().createDatabase();
    const provider = await startProvider();
    const network = await startNetwork(server().folder);
    const two = await startHost({ team, provider });
    const [lasting, removed] = [await two.issue({ creditLimit: 200 }), await two.issue({ creditLimit: 100 })];
    const one = await startHost({ team: team.replace(server().folder, network.folder), provider });
    for (const { key } of [lasting, removed]) {
      await until(async () => expect(await statusOf(one, key)).toBe(200));
      expect((await one.run(key)).status).toBe(200);
    }
    await until(async () => {
      const { hosts } = (await two.call<TeamMembers>('GET', '/team/members')).body;
      expect(hosts).toMatchObject([{}, {}]);
    });
    const oneId = one.host.storage.windowCallerId;
    const remove = (id: string, host = two) =>
      host.call<{ error?: { message: string } }>('DELETE', `/team/hosts/${id}`);
    expect((await remove(oneId)).body.error?.message).toContain('is connected');
    expect((await remove(two.host.storage.windowCallerId)).status).toBe(409);
    expect((await remove('00000000-0000-4000-8000-000000000001')).status).toBe(404);

    const spent = () => server().query(team, 'SELECT spent FROM touchstone.credit_leases WHERE host_id = $1', [oneId]);
    await until(async () => expect(await spent()).toEqual([{ spent: '1' }, { spent: '1' }]));

    await network.cut();
    await until(async () => expect((await remove(oneId)).body.error?.message).toMatch(/without the database. Remove/));
    await server().query(team, 'UPDATE touchstone.credit_leases SET expires_at = now() WHERE host_id = $1', [oneId]);
    const runs = async (host: KeyHost, key: string, count: number) => {
      const answers: Answer<unknown>[] = [];
      for (let run = 0; run < count; run += 1) answers.push(await host.run(key));
      return countStatuses(answers);
    };
    const reserve = 3;
    expect(await runs(two, lasting.key, 200 - reserve)).toEqual({ 200: 200 - 1 - reserve, 402: 1 });
    expect(await runs(one, lasting.key, reserve + 1)).toEqual({ 200: reserve, 503: 1 });

    expect(await runs(two, removed.key, 99)).toEqual({ 200: 98, 402: 1 });
    const { hosts } = (await two.call<TeamMembers>('GET', '/team/members')).body;
    expect(hosts?.[0]).toMatchObject({ id: oneId, reserved: reserve + 1, isRemovable: true });
    expect((await remove(oneId)).status).toBe(204);
    const left = (await two.call<TeamMembers>('GET', '/team/members')).body.hosts;
    expect(left).toMatchObject([{ isThisHost: true, isRemovable: false }]);
    expect(await runs(two, removed.key, 2)).toEqual({ 200: 1, 402: 1 });

    // The one that was removed comes back: its reserve is gone, and what it has used counts.
    network.restore();
    await until(async () => expect(await credits(two, lasting.key)).toMatchObject({ consumed: 200, remaining: 0 }));
    await until(async () => expect(await credits(one, removed.key)).toMatchObject({ consumed: 100, remaining: 0 }));
    expect((await one.run(removed.key)).status).toBe(402);
  });

  test('a host that was killed gives its reserve back when it starts again', longTest, async () => {
    const team = await server().createDatabase();
    const directory = await mkdtemp(join(tmpdir(), 'touchstone-sharing-'));
    const first = await startHost({ team, directory });
    const { id } = await first.issue({ creditLimit: 100 });
    await until(async () => expect(await server().query(team, 'SELECT 1 FROM touchstone.api_keys')).toHaveLength(1));
    const hostId = first.host.storage.windowCallerId;
    await first.host.close();
    const leases = () => server().query(team, 'SELECT spent, ceiling FROM touchstone.credit_leases');
    const restartWith = async (mark: string | null) => {
      await server().query(
        team,
        `INSERT INTO touchstone.credit_leases VALUES ($1, $2, 5, 9, now() + interval '1 hour', $3)
         ON CONFLICT (key_id, host_id) DO UPDATE SET ceiling = 9, mark = coalesce($3, credit_leases.mark)`,
        [id, hostId, mark],
      );
      const again = await startHost({ team, directory });
      await until(async () => expect(await leases()).not.toMatchObject([{ ceiling: '9', spent: '5' }]));
      await again.host.close();
      return leases();
    };
    expect(await restartWith(null)).toEqual([{ spent: '5', ceiling: '5' }]);
    expect(await restartWith(null)).toEqual([{ spent: '5', ceiling: '5' }]);
    // That of a host with a copy of the folder may be in use.
    expect(await restartWith('a copy')).toEqual([{ spent: '9', ceiling: '9' }]);
  });

  test('two hosts with copies of one data folder never share a reserve', longTest, async () => {
    const team = await server().createDatabase();
    const provider = await startProvider();
    const [directory, copy] = [await mkdtemp(join(tmpdir(), 'ts-a-')), await mkdtemp(join(tmpdir(), 'ts-b-'))];
    const before = await startHost({ team, directory });
    const { key } = await before.issue({ creditLimit: 500 });
    await until(async () => expect(await server().query(team, 'SELECT 1 FROM touchstone.api_keys')).toHaveLength(1));
    await before.host.close();
    cpSync(directory, copy, { recursive: true });
    const one = await startHost({ team, directory, provider });
    await until(async () => expect((await one.run(key)).status).toBe(200));
    const two = await startHost({ team, directory: copy, provider });
    expect(await two.run(key)).toMatchObject({
      status: 503,
      body: { error: { message: expect.stringContaining('a copy of this data folder is connected') } },
    });
    expect((await one.run(key)).status).toBe(200);
    // As after a cut: the server still knows the session, and lets only the same process take its turn.
    await server().query(
      team,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'touchstone' AND query LIKE 'LISTEN%'",
    );
    await until(async () => expect(countStatuses([await one.run(key), await two.run(key)])[503]).toBe(1));
    await one.close();
    await until(async () => expect((await two.run(key)).status).toBe(200));
  });

  /** A limited key, and connections of other hosts to its database. */
  async function startOtherHosts(creditLimit: number) {
    const team = await server().createDatabase();
    const host = await startHost({ team });
    const { id } = await host.issue({ creditLimit });
    await until(async () => expect(await server().query(team, 'SELECT 1 FROM touchstone.api_keys')).toHaveLength(1));
    const local = new Database(join(host.directory, 'touchstone.sqlite'), { readonly: true });
    onTestFinished(() => void local.close());
    const open = (hostId: string, isResumed = false) =>
      SharedKeysConnection.open({
        address: parseTeamAddress(team),
        password: null,
        local,
        hostId,
        leaseMs: 60_000,
        isResumed,
        earlierSession: null,
        reclaimed: new Set(),
        onNotify: () => undefined,
      });
    return { id, open, query: <Row extends pg.QueryResultRow>(text: string) => server().query<Row>(team, text) };
  }

  test('hosts with a new data folder at each start keep no more than a share of a limit', longTest, async () => {
    const { id, open, query } = await startOtherHosts(640);
    for (let start = 0; start < 30; start += 1) {
      const connection = await open(randomUUID());
      await connection.acquire({ keyId: id, used: 0, needed: 1 });
      await connection.close();
    }
    const [held] = await query<{ sum: string }>('SELECT sum(ceiling) FROM touchstone.credit_leases');
    // With the run that each has asked for.
    expect(Number(held!.sum)).toBeLessThanOrEqual(640 / 16 + 30);
  });

  test('a host that comes back learns that somebody removed it before it accepts a call', longTest, async () => {
    const { id, open, query } = await startOtherHosts(640);
    const hostId = randomUUID();
    for (const [isRemoved, reclaimed] of [
      [false, []],
      [true, [id]],
    ] as const) {
      const before = await open(hostId, true);
      await before.acquire({ keyId: id, used: 0, needed: 1 });
      await before.close();
      if (isRemoved) await query('UPDATE touchstone.credit_leases SET ceiling = spent, expires_at = now()');
      const after = await open(hostId, true);
      expect((await after.step()).reclaimed).toEqual(reclaimed);
      await after.close();
    }
  });

  test(
    'a host without the database accepts known keys for a time and uses what it has in reserve',
    longTest,
    async () => {
      const team = await server().createDatabase();
      const provider = await startProvider();
      const patient = await startHost({ team, provider });
      const strict = await startHost({ team, provider, offlineMinutes: 0 });
      const limited = await patient.issue({ creditLimit: 1000 });
      const unlimited = await patient.issue();
      await until(async () => expect(await statusOf(strict, unlimited.key)).toBe(200));
      await until(async () => expect((await patient.run(limited.key)).status).toBe(200));
      const reserve = 15;

      await server().kill();
      await until(async () => expect(await statusOf(strict, unlimited.key)).toBe(503));
      const rejected = await strict.run(unlimited.key);
      expect(rejected).toMatchObject({
        status: 503,
        body: { error: { code: 'team_unavailable', message: expect.stringContaining('--team-offline-minutes') } },
      });
      expect((await strict.call('GET', '/window/api-keys')).status).toBe(200);

      expect((await patient.run(unlimited.key)).status).toBe(200);
      const offline: Answer<unknown>[] = [];
      for (let run = 0; run < reserve + 1; run += 1) offline.push(await patient.run(limited.key));
      expect(countStatuses(offline)).toEqual({ 200: reserve, 503: 1 });
      expect(offline.at(-1)).toMatchObject({ body: { error: { code: 'team_unavailable' } } });

      await server().run();
      await until(async () => expect((await strict.run(unlimited.key)).status).toBe(200));
      // What was used offline is counted on all hosts.
      await until(async () => expect(await credits(strict, limited.key)).toMatchObject({ consumed: reserve + 1 }));
    },
  );

  test('a host without the right keeps its own keys, and says what is missing', longTest, async () => {
    const team = await server().createDatabase();
    const owner = await startHost({ team });
    const { key } = await owner.issue();
    await until(async () => expect(await server().query(team, 'SELECT 1 FROM touchstone.api_keys')).toHaveLength(1));
    await server().query(
      team,
      `CREATE ROLE writer_only LOGIN; GRANT USAGE ON SCHEMA touchstone TO writer_only;
       GRANT SELECT ON touchstone.migrations, touchstone.state, touchstone.hosts TO writer_only;`,
    );
    const provider = await startProvider();
    // Also after its offline time, because it isn't offline.
    const other = await startHost({ team: team.replace('owner@', 'writer_only@'), provider, offlineMinutes: 0 });
    const own = await other.issue({ creditLimit: 1 });
    await until(() => expect(other.log.join()).toContain("API keys and credits aren't shared at the moment."));
    expect(await statusOf(other, own.key)).toBe(200);
    expect(countStatuses([await other.run(own.key), await other.run(own.key)])).toEqual({ 200: 1, 402: 1 });
    expect(await statusOf(other, key)).toBe(401);
  });
});
