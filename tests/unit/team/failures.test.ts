// @module-tag slow
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { NewRun } from '../../../electron/storage/run-rows.ts';
import { parseTeamAddress } from '../../../shared/team-address.ts';
import { describeTeamFailure, openTeamConnection, type TeamConnection } from '../../../electron/team/connection.ts';
import { TeamEngine } from '../../../electron/team/team-engine.ts';
import type { AuditFilter } from '../../../shared/contract/audit.ts';
import { longTest } from '../../support/patience.ts';
import { describeWithPostgres, TestPostgres } from '../../support/postgres.ts';
import { createSmallDatabase } from '../../support/small-database.ts';
import { openEngine } from '../audit/test-engine.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';
import { connectTeam, createCopier, createTeamDatabase } from './team-world.ts';

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

type TestStorage = ReturnType<typeof openTestStorage>;

async function record(storage: TestStorage, run: Partial<NewRun> = {}, content = 'answer'): Promise<NewRun> {
  const recorded = sampleRun(run);
  storage.runs.begin(recorded);
  await storage.runs.finish(recorded.runId, sampleOutcome({ content }));
  return recorded;
}

async function recordMany(storage: TestStorage, count: number): Promise<string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index += 1) runs.push((await record(storage)).runId);
  return runs;
}

describeWithPostgres('the team database', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await TestPostgres.start({ port: await freePort() });
  });
  afterAll(() => server.remove());

  const storedIds = async (address: string) =>
    (await server.query<{ id: string }>(address, 'SELECT id FROM touchstone.runs ORDER BY id')).map(({ id }) => id);

  /** What a person reads when connecting fails. */
  async function failureOf(address: string, password: string | null = null): Promise<string> {
    const connected = openTeamConnection(parseTeamAddress(address), password);
    const failure = await connected.then(
      async ({ close }) => {
        await close();
        return null;
      },
      (error: Error) => error,
    );
    expect(failure).not.toBeNull();
    expect(failure!.message.match(/\./g)!.length).toBeGreaterThan(0);
    return failure!.message;
  }

  test('with the tables of an earlier version gets the times of its conversations', async () => {
    const storage = openTestStorage();
    const conversationId = randomUUID();
    const times = [3, 1, 2].map((day) => Date.UTC(2026, 0, day));
    for (const createdAt of times) await record(storage, { conversationId, createdAt });
    const single = await record(storage, { createdAt: times[0]! });
    const address = await createTeamDatabase(server);
    const connection = await connectTeam(address);
    await createCopier(storage, connection).copyAll();
    const read = () =>
      server.query(address, 'SELECT id, earliest_at, latest_at FROM touchstone.conversations ORDER BY earliest_at');
    const stored = [
      { id: conversationId, earliest_at: String(times[1]), latest_at: String(times[0]) },
      { id: single.conversationId, earliest_at: String(times[0]), latest_at: String(times[0]) },
    ];
    expect(await read()).toEqual(stored);
    await server.query(
      address,
      `ALTER TABLE touchstone.conversations DROP COLUMN earliest_at, DROP COLUMN latest_at;
       DROP FUNCTION touchstone.guard_state, touchstone.guard_feedback, touchstone.guard_credits, touchstone.guard_queue,
         touchstone.guard_item, touchstone.guard_reservation, touchstone.end_reservations CASCADE;
       ALTER TABLE touchstone.hosts DROP COLUMN removed_at; ALTER TABLE touchstone.credit_leases DROP COLUMN mark;
       ALTER TABLE touchstone.feedback_history DROP COLUMN question;
       ALTER TABLE touchstone.review_items DROP COLUMN second; DROP TABLE touchstone.review_comments;
       DROP FUNCTION touchstone.request_second_review, touchstone.add_review_comment;
       DELETE FROM touchstone.migrations WHERE number >= 5`,
    );
    await connectTeam(address);
    expect(await read()).toEqual(stored);
  });

  test('is reached again after a restart of PostgreSQL in the middle of copying', async () => {
    const storage = openTestStorage();
    const runs = await recordMany(storage, 30);
    const address = await createTeamDatabase(server);
    const connection = await connectTeam(address);
    const copier = createCopier(storage, connection);
    // However many steps the server still answers.
    const copyForever = async (): Promise<never> => {
      for (;;) await copier.step();
    };
    const copying = expect(copyForever()).rejects.toThrow();
    await server.stop();
    await copying;
    await server.run();
    await createCopier(storage, await connectTeam(address)).copyAll();
    expect(await storedIds(address)).toEqual(runs.toSorted());
  });

  test('has every run once after a backup of the device is restored, also where others took their positions', async () => {
    const address = await createTeamDatabase(server);
    const directory = temporaryDirectory();
    const backup = temporaryDirectory();
    const first = openTestStorage({ directory });
    const before = await recordMany(first, 3);
    await createCopier(first, await connectTeam(address)).copyAll();
    await first.close();
    cpSync(directory, backup, { recursive: true });
    const second = openTestStorage({ directory });
    const lost = await recordMany(second, 3);
    await createCopier(second, await connectTeam(address)).copyAll();
    await second.close();

    const restored = openTestStorage({ directory: backup });
    const again = await record(restored);
    restored.audit.giveFeedback(again, { score: 5 }, { reviewerId: 'reviewer' });
    const later = await recordMany(restored, 3);
    await createCopier(restored, await connectTeam(address)).copyAll();
    expect(await storedIds(address)).toEqual([...before, ...lost, again.runId, ...later].toSorted());
    expect(await server.query(address, 'SELECT id, score FROM touchstone.runs WHERE score IS NOT NULL')).toEqual([
      { id: again.runId, score: 5 },
    ]);
  });

  test('says that two hosts have the same data folder, and gets the runs of both', async () => {
    const address = await createTeamDatabase(server);
    const [directory, copy] = [temporaryDirectory(), temporaryDirectory()];
    const first = openTestStorage({ directory });
    const runs = await recordMany(first, 2);
    await first.close();
    cpSync(directory, copy, { recursive: true });
    const storages = [openTestStorage({ directory }), openTestStorage({ directory: copy })] as const;
    const connection = await connectTeam(address);
    const [one, two] = [createCopier(storages[0], connection), createCopier(storages[1], connection)];
    for (const { copyAll } of [one, two]) await copyAll();
    runs.push(...(await recordMany(storages[0], 3)));
    await one.copyAll();
    // Fewer than the other host has, and then more: none may be taken for those.
    for (const count of [1, 4]) {
      runs.push(...(await recordMany(storages[1], count)));
      await expect(two.copyAll()).rejects.toThrow(/^Another host has a copy of this data folder.* restart this one/);
    }
    await createCopier(storages[1], connection).copyAll();
    expect(await storedIds(address)).toEqual(runs.toSorted());
  });

  test('gets the missing runs after a backup of PostgreSQL is restored', async () => {
    const storage = openTestStorage();
    const address = await createTeamDatabase(server);
    const before = await recordMany(storage, 3);
    const connection = await connectTeam(address);
    await createCopier(storage, connection).copyAll();
    await connection.close();
    const [, name] = /\/([^/?]+)\?/.exec(address)!;
    await server.query('postgres', `CREATE DATABASE ${name}_backup TEMPLATE ${name}`);
    const after = await recordMany(storage, 3);
    await createCopier(storage, await connectTeam(address)).copyAll();
    const restored = address.replace(`/${name}?`, `/${name}_backup?`);
    expect(await storedIds(restored)).toEqual(before.toSorted());
    await createCopier(storage, await connectTeam(restored)).copyAll();
    expect(await storedIds(restored)).toEqual([...before, ...after].toSorted());
  });

  test('has the feedback that was given last, also by an auditor or on a host with a wrong clock', async () => {
    const address = await createTeamDatabase(server);
    const { database } = await connectTeam(address);
    const engine = new TeamEngine(database);
    const read = () =>
      server.query<{ score: number; at: number }>(address, 'SELECT score, feedback_at AS at FROM touchstone.runs');
    for (const [host, auditor] of [
      [Date.now(), Date.UTC(2001, 0)],
      [Date.UTC(2090, 0), Date.now()],
    ] as const) {
      await server.query(address, 'DELETE FROM touchstone.runs');
      const storage = openTestStorage();
      const run = await record(storage);
      const clock = vi.spyOn(Date, 'now').mockReturnValue(host);
      onTestFinished(() => clock.mockRestore());
      storage.audit.giveFeedback(run, { score: 5 }, { reviewerId: 'reviewer' });
      await createCopier(storage, { database } as TeamConnection).copyAll();
      const [first] = await read();
      clock.mockReturnValue(auditor);
      await engine.giveFeedback(run, { score: -5 }, 'Wren');
      const [last] = await read();
      expect([first!.score, last!.score]).toEqual([5, -5]);
      expect(Number(last!.at)).toBeGreaterThan(Number(first!.at));
      clock.mockRestore();
    }
  });

  test('orders and counts runs of hosts with a wrong clock as the embedded index does', async () => {
    const storage = openTestStorage();
    const conversationId = sampleRun().conversationId;
    for (const createdAt of [
      Date.UTC(2026, 4),
      1,
      Date.UTC(1999, 11, 31),
      Date.UTC(2150, 0),
      8.64e15 - 1,
      86_400_000,
    ]) {
      await record(storage, { createdAt });
      await record(storage, { createdAt, conversationId });
    }
    const { database } = await connectTeam(await createTeamDatabase(server));
    await createCopier(storage, { database } as Awaited<ReturnType<typeof connectTeam>>).copyAll();
    const [team, engine] = [new TeamEngine(database), openEngine(storage.directory)];
    for (const sort of ['newest', 'oldest'] as const) {
      const query = { filter: {}, sort, last: null, limit: 20 };
      const { last: _, ...found } = await team.search(query);
      const { last: __, ...expected } = engine.search(query);
      expect(found).toEqual(expected);
    }
    const { runs, buckets, bucketSize } = await team.summarize({ filter: {} });
    const expected = await engine.summarize({ filter: {} }, async () => {});
    expect({ runs, buckets, bucketSize }).toEqual({
      runs: expected.runs,
      buckets: expected.buckets,
      bucketSize: expected.bucketSize,
    });
  });

  test('finds letters of scripts without spaces as the embedded index does', async () => {
    const storage = openTestStorage();
    const texts = [
      '明日の東京の天気を教えてください',
      '北京今天天气怎么样？',
      'พรุ่งนี้อากาศในกรุงเทพเป็นอย่างไร',
      'Seoul: 서울 날씨 GPT東京',
      '京',
    ];
    for (const text of texts)
      await record(storage, { renderedPrompt: text, promptText: text }, [...text].toReversed().join(''));
    const { database } = await connectTeam(await createTeamDatabase(server));
    await createCopier(storage, { database } as Awaited<ReturnType<typeof connectTeam>>).copyAll();
    const [team, engine] = [new TeamEngine(database), openEngine(storage.directory)];
    const parts = texts.flatMap((text) => {
      const letters = [...text];
      return [1, 2, 3, 5].flatMap((length) => [
        letters.slice(0, length).join(''),
        letters.slice(2, 2 + length).join(''),
      ]);
    });
    const searches = [
      ...parts,
      '東京 天気',
      '"京の天"',
      '東京 NOT 大阪',
      '天*',
      '東*',
      '気天',
      'アア',
      'GPT東京',
      '天気 (東京',
    ];
    let matches = 0;
    for (const text of searches) {
      for (const textIn of [undefined, 'prompt', 'answer'] as const) {
        const filter: AuditFilter = { text, ...(textIn && { textIn }) };
        const query = { filter, sort: 'newest' as const, last: null, limit: 20 };
        const ids = (await team.search(query)).rows.map(({ conversationId }) => conversationId);
        expect(ids, JSON.stringify(filter)).toEqual(
          engine.search(query).rows.map(({ conversationId }) => conversationId),
        );
        matches += ids.length;
      }
    }
    expect(matches).toBeGreaterThan(60);
  });

  test('stores texts that PostgreSQL or its search index would reject', async () => {
    const storage = openTestStorage();
    const long = 'é' + 'a'.repeat(498);
    const texts = [
      '',
      'one\0two',
      `half \ud83d of a pair`,
      `back\\slash 'quoted' "twice" {braces}, [brackets]`,
      // Cut in the middle of a letter, where both become the same word.
      `${long}\u{1e900} ${long}\u{10c80}`,
      'again '.repeat(20_000),
      Array.from({ length: 90_000 }, (_, index) => `w${index}`).join(' '),
    ];
    const runs: NewRun[] = [];
    for (const text of texts) runs.push(await record(storage, { renderedPrompt: text, promptText: text }, text));
    const address = await createTeamDatabase(server);
    const connection = await connectTeam(address);
    await createCopier(storage, connection).copyAll();
    const stored = await server.query<{ text: string; is_sorted: boolean }>(
      address,
      `SELECT contents::text AS text, words::text = words::text::tsvector::text AS is_sorted FROM touchstone.run_texts ORDER BY sequence`,
    );
    const contents = stored.map(({ text }) => (JSON.parse(text) as { content: string }).content);
    expect(contents.map((content, index) => content === texts[index]!.toWellFormed())).toEqual(texts.map(() => true));
    expect(stored.map((row) => row.is_sorted)).toEqual(texts.map(() => true));
    const engine = new TeamEngine(connection.database);
    const found = async (text: string) =>
      (await engine.search({ filter: { text }, sort: 'oldest', last: null, limit: 20 })).rows.map(
        ({ conversationId }) => conversationId,
      );
    for (const [word, index] of [
      ['two', 1],
      ['pair', 2],
      ['quoted', 3],
      ['again', 5],
      ['w7', 6],
    ] as const)
      expect(await found(word), word).toEqual([runs[index]!.conversationId]);
  });

  test('of an older version says what to do', async () => {
    const address = await server.createDatabase();
    await server.query(
      address,
      `ALTER FUNCTION pg_catalog.current_setting(text) RENAME TO real_setting;
       CREATE FUNCTION pg_catalog.current_setting(text) RETURNS text LANGUAGE sql
       AS $$ SELECT '130010' $$`,
    );
    expect(await failureOf(address)).toBe('The team database is PostgreSQL 13. Update it to version 14 or later.');
  });

  test('runs no function that somebody added to the schema of everybody', async () => {
    const address = await createTeamDatabase(server);
    await server.query(
      address,
      `CREATE ROLE everybody LOGIN; GRANT CREATE ON SCHEMA public TO everybody; SET ROLE everybody;
       CREATE TABLE public.called (at text);
       CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE plpgsql
         AS $$ BEGIN INSERT INTO public.called VALUES ('format'); RETURN 'touchstone.runs'; END $$;
       GRANT INSERT ON public.called TO PUBLIC`,
    );
    await connectTeam(address);
    expect(await server.query(address, 'SELECT * FROM public.called')).toEqual([]);
  });

  test('names a certificate file that is a folder, a pipe or far too large, and never waits for it', async () => {
    const directory = temporaryDirectory();
    const [pipe, large] = [join(directory, 'pipe.pem'), join(directory, 'large.pem')];
    execFileSync('mkfifo', [pipe]);
    writeFileSync(large, '');
    truncateSync(large, 1_073_741_824);
    for (const file of [directory, pipe, large])
      expect(await failureOf(`postgres://wren@127.0.0.1:1/x?sslrootcert=${file}`)).toContain(`${file} can't be read`);
  });

  test('in another encoding says what to do', async () => {
    await server.query('postgres', "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    expect(await failureOf(server.address('latin'))).toBe(
      "The team database is encoded as LATIN1. Create one with ENCODING 'UTF8'.",
    );
  });

  test('rejects a wrong password, and a missing one', async () => {
    const address = await server.createDatabase('strict');
    await server.query(address, "CREATE ROLE strict LOGIN PASSWORD 'right'");
    const access = join(server.folder, 'pg_hba.conf');
    writeFileSync(access, `local all strict scram-sha-256\n${readFileSync(access, 'utf8')}`);
    await server.query(address, 'SELECT pg_reload_conf()');
    expect(await failureOf(address, 'wrong')).toBe(
      'The team database rejected the password of "strict". Enter it again in Settings, Team database, or set PGPASSWORD for --team.',
    );
    expect(await failureOf(address)).toBe(
      'The team database needs a password for "strict". Enter it in Settings, Team database, or set PGPASSWORD for --team.',
    );
    expect(await failureOf(server.address('postgres', 'stranger'))).toBe(
      'The team database has no user "stranger". Check the name, or ask its administrator to create the user.',
    );
    await server.query(address, 'CREATE ROLE writers NOLOGIN');
    expect(await failureOf(server.address('postgres', 'writers'))).toBe(
      '"writers" is a role of the team database without the right to sign in. Use the name of a user who has the role.',
    );
  });

  test('leaves no connection open for want of a password', async () => {
    const closed = Promise.withResolvers<void>();
    const asking = createServer((socket) => {
      const send = (kind: number, text: string) => {
        const body = Buffer.from(text);
        const head = Buffer.alloc(9, 'R');
        head.writeInt32BE(body.length + 8, 1);
        head.writeInt32BE(kind, 5);
        socket.write(Buffer.concat([head, body]));
      };
      socket.once('data', () => {
        send(10, 'SCRAM-SHA-256\0\0');
        socket.once('data', (first) => {
          const [, nonce] = /r=([^,]+)$/.exec(first.toString()) ?? [];
          send(11, `r=${nonce}server,s=c2FsdA==,i=4096`);
        });
      });
      socket.on('error', () => undefined).on('close', () => closed.resolve());
    }).listen(0, '127.0.0.1');
    await once(asking, 'listening');
    const { port } = asking.address() as AddressInfo;
    expect(await failureOf(`postgres://wren@127.0.0.1:${port}/x?sslmode=disable`)).toContain(
      'needs a password for "wren"',
    );
    await closed.promise;
    asking.close();
  });

  test('is said to be busy, not away, while long queries hold all connections', async () => {
    const pool = new pg.Pool({ connectionString: await createTeamDatabase(server), max: 1 });
    onTestFinished(() => pool.end());
    const held = await pool.connect();
    pool.options.connectionTimeoutMillis = 1;
    const failure = await pool.connect().catch((error: unknown) => error);
    held.release();
    const { code, message } = describeTeamFailure(failure, parseTeamAddress('postgres://u@db.example/d'));
    expect([code, message]).toEqual(['team_unavailable', expect.stringMatching(/^All connections .* are busy/)]);
  });

  test('ends queries that take too long, but no copying', async () => {
    const address = await createTeamDatabase(server);
    const { database, copying } = await connectTeam(address);
    const limitOf = async (used: typeof database) =>
      (await sql`SELECT current_setting('statement_timeout') AS milliseconds`.execute(used)).rows;
    expect(await limitOf(database)).toEqual([{ milliseconds: '5min' }]);
    expect(await limitOf(copying)).toEqual([{ milliseconds: '0' }]);
    const slow = database.transaction().execute(async (transaction) => {
      await sql`SET LOCAL statement_timeout = 1`.execute(transaction);
      await sql`SELECT pg_sleep(3600)`.execute(transaction);
    });
    const failure = await slow.catch((error: unknown) => describeTeamFailure(error, parseTeamAddress(address)));
    expect(failure).toMatchObject({ code: 'team_unavailable', message: expect.stringMatching(/took too long/) });
  });

  test('names the address of a program that is not PostgreSQL', async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await failureOf(`postgres://wren@127.0.0.1:${port}/x?sslmode=disable`)).toBe(
      `127.0.0.1, port ${port}, ended the connection. Check that PostgreSQL is there, or try again in a moment if it is restarting.`,
    );
    other.close();
  });

  describe('with encryption', () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-team-tls-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    /** Serves with a certificate of its own. Returns the file that clients trust. */
    async function useCertificate(
      name: string,
      { startsAt = Date.now() - 2 * 86_400_000, expiresAt = Date.now() + 2 * 86_400_000 } = {},
    ): Promise<string> {
      const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
        keyType: 'ec',
        notBeforeDate: new Date(startsAt),
        notAfterDate: new Date(expiresAt),
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
      });
      const { uid, gid } = statSync(server.folder);
      for (const [file, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
        writeFileSync(join(server.folder, file), text, { mode: 0o600 });
        chownSync(join(server.folder, file), uid, gid);
      }
      await server.query('postgres', 'ALTER SYSTEM SET ssl = on');
      await server.query('postgres', 'SELECT pg_reload_conf()');
      const trusted = join(folder, `${name}.pem`);
      writeFileSync(trusted, cert);
      return trusted;
    }

    const overTcp = (database: string, query = '') =>
      `postgres://owner@localhost:${server.port}/${/\/([^/?]+)\?/.exec(database)![1]}${query}`;

    test('requires a trusted, valid certificate for the name in the address', longTest, async () => {
      const database = await createTeamDatabase(server);
      expect(await failureOf(overTcp(database))).toBe(
        "localhost doesn't encrypt connections. Enable ssl there, or add sslmode=disable in a trusted network.",
      );
      const trusted = await useCertificate('localhost');
      await waitForCertificate(trusted);
      expect(await failureOf(overTcp(database))).toMatch(
        /^The certificate of localhost is signed by an unknown authority\./,
      );
      const { close, isWritable } = await openTeamConnection(
        parseTeamAddress(overTcp(database, `?sslrootcert=${trusted}`)),
        null,
      );
      await close();
      expect(isWritable).toBe(true);
      const expired = await useCertificate('localhost', { expiresAt: Date.now() - 60_000 });
      await waitForCertificate(expired);
      expect(await failureOf(overTcp(database, `?sslrootcert=${expired}`))).toBe(
        'The certificate of localhost has expired. Ask its administrator to renew it.',
      );
      const early = await useCertificate('localhost', { startsAt: Date.now() + 86_400_000 });
      await waitForCertificate(early);
      expect(await failureOf(overTcp(database, `?sslrootcert=${early}`))).toBe(
        "The certificate of localhost isn't valid yet. Check the date of this device, or ask its administrator for another one.",
      );
      const other = await useCertificate('db.example');
      await waitForCertificate(other);
      expect(await failureOf(overTcp(database, `?sslrootcert=${other}`))).toBe(
        "The certificate of the team database isn't for localhost. Use the name in the certificate as the address.",
      );
    });

    /** A signal reaches the server some milliseconds later. */
    async function waitForCertificate(file: string): Promise<void> {
      const expected = readFileSync(file, 'utf8').replaceAll(/\s/g, '');
      const served = () => {
        try {
          return execFileSync(
            'openssl',
            ['s_client', '-starttls', 'postgres', '-connect', `127.0.0.1:${server.port}`],
            {
              input: '',
              encoding: 'utf8',
              stdio: ['pipe', 'pipe', 'ignore'],
            },
          );
        } catch (error) {
          return String((error as { stdout?: string }).stdout ?? '');
        }
      };
      await expect.poll(() => served().replaceAll(/\s/g, '').includes(expected), { timeout: 20_000 }).toBe(true);
    }
  });

  test('with a full disk says so, and gets the rest when there is space', longTest, async () => {
    const small = await createSmallDatabase(server, 24);
    if (small === null) return;
    const { address } = small;
    const storage = openTestStorage();
    const runs: string[] = [];
    for (let index = 0; index < 200; index += 1)
      runs.push((await record(storage, {}, randomBytes(30_000).toString('base64'))).runId);
    const failure = await createCopier(storage, await connectTeam(address))
      .copyAll()
      .then(
        () => null,
        (error: unknown) => error,
      );
    // What a new connection fails with there, after the server has changed its tables.
    const rejected = { code: 'XX000', message: 'could not write init file' };
    for (const each of [failure, rejected])
      expect(describeTeamFailure(each, parseTeamAddress(address)).message).toBe(
        'The disk of the team database is full. Free some space there. Copying then continues.',
      );
    small.grow();
    await createCopier(storage, await connectTeam(address)).copyAll();
    expect(await storedIds(address)).toEqual(runs.toSorted());
  });
});
