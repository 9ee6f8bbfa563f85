import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { AppError } from '../../shared/app-error.ts';
import type { TeamAddress } from '../../shared/team-address.ts';
import { migrations } from './schema.ts';
import { tlsOptions } from './tls-options.ts';

/** Builds statements. The tables have no types here, because every statement is written in SQL. */
export type TeamDatabase = Kysely<Record<never, never>>;

export interface TeamConnection {
  readonly database: TeamDatabase;
  /** With a connection of its own, so that no long query keeps copying waiting. */
  readonly copying: TeamDatabase;
  /** Whether the user may write, and the tables are of this version. */
  readonly isWritable: boolean;
  /** Why it isn't writable; null if it is. */
  readonly readOnlyReason: string | null;
  close(): Promise<void>;
}

const connectMs = 10_000;

/** Sent by the server as text; every number here is far below 2^53. */
const parsesAsNumber: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

/** Its code for a statement that was ended by its limit, or by an administrator. */
const tookTooLong = '57014';

const fullDisk = 'The disk of the team database is full. Free some space there. Copying then continues.';

/** PostgreSQL has one code for these, and messages in English unless its administrator chose another language. */
function describeSignIn({ user }: TeamAddress, detail: string): string {
  if (detail.includes('does not exist'))
    return `The team database has no user "${user}". Check the name, or ask its administrator to create the user.`;
  if (detail.includes('not permitted to log in'))
    return `"${user}" is a role of the team database without the right to sign in. Use the name of a user who has the role.`;
  return `The team database doesn't let "${user}" sign in from here. Ask its administrator to add the user to pg_hba.conf.`;
}

const messagesByCode: Readonly<Record<string, (address: TeamAddress, detail: string) => string>> = {
  ENOTFOUND: ({ host }) => `Couldn't find the host ${host} of the team database. Check the address.`,
  EAI_AGAIN: ({ host }) => `Couldn't look up the host ${host} of the team database. Check the network.`,
  ECONNREFUSED: ({ host, port }) =>
    `No database is listening at ${host}, port ${port}. Check the address and that PostgreSQL is running.`,
  ENOENT: ({ host, port }) =>
    `No database is listening at ${host}, port ${port}. Check the address and that PostgreSQL is running.`,
  ETIMEDOUT: ({ host, port }) => `${host}, port ${port}, doesn't respond. Check the address and the firewall.`,
  EHOSTUNREACH: ({ host }) => `The team database's host ${host} can't be reached. Check the network.`,
  ENETUNREACH: ({ host }) => `The team database's host ${host} can't be reached. Check the network.`,
  '28P01': ({ user }) =>
    `The team database rejected the password of "${user}". Enter it again in Settings, Team database, or set PGPASSWORD for --team.`,
  '28000': describeSignIn,
  '3D000': ({ database }) => `The team database "${database}" doesn't exist. Check the address, or create it.`,
  '42501': ({ user }, detail) =>
    `"${user}" is missing a right in the team database (${detail}). Ask its owner to run the SQL in docs/team.md.`,
  '53100': () => fullDisk,
  [tookTooLong]: () =>
    'The team database ended a query that took too long. Narrow it down, for example with a start date.',
  '53300': () => 'The team database has too many connections. Raise max_connections, or try again later.',
  '25006': () => 'This server of the team database only reads. Use the address of the primary server to copy runs.',
  CERT_NOT_YET_VALID: ({ host }) =>
    `The certificate of ${host} isn't valid yet. Check the date of this device, or ask its administrator for another one.`,
  CERT_HAS_EXPIRED: ({ host }) => `The certificate of ${host} has expired. Ask its administrator to renew it.`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host }) =>
    `The certificate of the team database isn't for ${host}. Use the name in the certificate as the address.`,
};

const untrusted =
  'is signed by an unknown authority. Choose the file with its certificate in Settings, Team database, or add sslrootcert=FILE to the address.';
for (const code of [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]) {
  (messagesByCode as Record<string, (address: TeamAddress) => string>)[code] = ({ host }) =>
    `The certificate of ${host} ${untrusted}`;
}

/** Failures of the library without a code, and of the server without a code of their own, by a part of their message. */
const messagesByText: readonly (readonly [string, (address: TeamAddress) => string])[] = [
  [
    'does not support SSL',
    ({ host }) => `${host} doesn't encrypt connections. Enable ssl there, or add sslmode=disable in a trusted network.`,
  ],
  [
    'password must be a string',
    ({ user }) =>
      `The team database needs a password for "${user}". Enter it in Settings, Team database, or set PGPASSWORD for --team.`,
  ],
  [
    'timeout expired',
    ({ host, port }) => `${host}, port ${port}, doesn't respond. Check the address and the firewall.`,
  ],
  // A server whose disk is full rejects new connections so after its tables have changed.
  ['could not write init file', () => fullDisk],
];

/** Of the pool, while queries hold all its connections. */
const waitedForConnection = 'timeout exceeded when trying to connect';
const busy = 'All connections of this host to the team database are busy with long queries. Try again in a moment.';

/** A failure of the database as one sentence with its remedy. It never contains the password. */
export function describeTeamFailure(failure: unknown, address: TeamAddress): AppError {
  if (failure instanceof AppError) return failure;
  const { code = '', message = '' } = failure as { code?: string; message?: string };
  if (message.includes(waitedForConnection)) return new AppError('team_unavailable', busy, { cause: failure });
  const byText = messagesByText.find(([part]) => message.includes(part));
  const described = messagesByCode[code]?.(address, message) ?? byText?.[1](address);
  const kind = code === tookTooLong ? 'team_unavailable' : 'conflict';
  if (described !== undefined) return new AppError(kind, described, { cause: failure });
  return new AppError('conflict', describeOther(code, message, address), { cause: failure });
}

function describeOther(code: string, message: string, { host, port }: TeamAddress): string {
  // 57P: stopping or starting. 08: lost connections.
  if (/^(57P|08)/.test(code))
    return 'The team database ended the connection, perhaps because it is restarting. Try again in a moment.';
  // Without a word of PostgreSQL, so it may be another program.
  if (/^(EPIPE|ECONNRESET)/.test(code) || message.includes('Connection terminated'))
    return `${host}, port ${port}, ended the connection. Check that PostgreSQL is there, or try again in a moment if it is restarting.`;
  if (tlsCode.test(code))
    return `The connection to ${host} can't be encrypted (${code}). Ask its administrator to check its certificate.`;
  return `The team database failed (${code === '' ? 'no code' : code}). See its log for the reason.`;
}

/** What OpenSSL finds wrong with a certificate, and failures of the protocol. Those of PostgreSQL have five characters. */
const tlsCode = /^(CERT_|CRL_|INVALID_|UNABLE_|HOSTNAME_|PATH_LENGTH_|ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO)/;

/** Connections that are held at once for queries. */
const maxConnections = 4;

/** Among five million runs the slowest query took half a minute. A query that never ended would hold one of few connections. */
const maxStatementMs = 300_000;

export interface PoolOptions {
  readonly max?: number;
  /** A query that takes longer fails. */
  readonly queryMs?: number;
  /** The server ends a statement that takes longer. */
  readonly statementMs?: number;
}

/** Without a password, or with another failure of its own, pg's client leaves its connection open, and PostgreSQL waits for it for a minute. */
class ClosingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
    // The pool passes a callback.
    if (callback === undefined) return super.connect();
    return super.connect((error: Error | null) => {
      if (error) this.end(() => undefined);
      callback(error as Error);
    });
  }
}

export function createPool(
  address: TeamAddress,
  password: string | null,
  { max = maxConnections, queryMs, statementMs }: PoolOptions = {},
): pg.Pool {
  const pool = new pg.Pool({
    Client: ClosingClient,
    host: address.host,
    port: address.port,
    user: address.user,
    database: address.database,
    // An empty password isn't replaced by one from the environment or a file.
    password: password ?? '',
    ssl: tlsOptions(address),
    max,
    ...(queryMs !== undefined && { query_timeout: queryMs }),
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    application_name: 'touchstone',
    types: {
      getTypeParser: ((oid: number, format: 'text') =>
        parsesAsNumber.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  // A connection that ends is replaced by the next query, which reports the failure. While it is in use, the pool doesn't listen to it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    // Runs are joined with their texts month by month. Otherwise a search for a rare word reads all runs to join them: 290 instead of
    // 35 ms among a million. As a statement, because connection poolers reject it as an option of the connection.
    // And before PostgreSQL 15 every user may add functions to the schema `public`: one that fits better would run with this user's rights.
    const limit = statementMs === undefined ? '' : `; SET statement_timeout = ${statementMs}`;
    const settings = `SET enable_partitionwise_join = on; SET search_path = pg_catalog, pg_temp${limit}`;
    client.query(settings).catch(() => undefined);
  });
  return pool;
}

interface ServerState {
  readonly version: number;
  readonly encoding: string;
  readonly standby: boolean;
  readonly migrated: boolean;
}

async function readServer(database: TeamDatabase): Promise<ServerState> {
  const { rows } = await sql<ServerState>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS standby, to_regclass('touchstone.migrations') IS NOT NULL AS migrated`.execute(database);
  const server = rows[0]!;
  if (server.version < 140_000) {
    const version = Math.floor(server.version / 10_000);
    throw new AppError('conflict', `The team database is PostgreSQL ${version}. Update it to version 14 or later.`);
  }
  if (server.encoding !== 'UTF8') {
    throw new AppError(
      'conflict',
      `The team database is encoded as ${server.encoding}. Create one with ENCODING 'UTF8'.`,
    );
  }
  return server;
}

async function appliedMigrations(database: TeamDatabase): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM touchstone.migrations`.execute(
    database,
  );
  return rows[0]!.count;
}

/** Any number that no other program uses for an advisory lock. */
const migrationLock = 7_420_515_118;

/** Updates the tables in one transaction. Hosts that start together wait for one another. */
async function migrate(database: TeamDatabase): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${migrationLock})`.execute(transaction);
    await sql`CREATE SCHEMA IF NOT EXISTS touchstone`.execute(transaction);
    await sql`CREATE TABLE IF NOT EXISTS touchstone.migrations (
      number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`.execute(transaction);
    const applied = await appliedMigrations(transaction);
    for (const [index, change] of migrations.slice(applied).entries()) {
      await sql.raw(change).execute(transaction);
      await sql`INSERT INTO touchstone.migrations (number) VALUES (${applied + index + 1})`.execute(transaction);
    }
  });
}

/** What the role touchstone_writer of docs/team.md has, and copying needs. */
const neededRights: readonly (readonly [right: string, table: string])[] = [
  ...[
    'conversations',
    'runs',
    'run_texts',
    'feedback_history',
    'terms',
    'day_models',
    'day_terms',
    'day_durations',
  ].flatMap((table) => ['INSERT', 'UPDATE', 'DELETE'].map((right) => [right, table] as const)),
  ...['hosts', 'callers'].flatMap((table) => ['INSERT', 'UPDATE'].map((right) => [right, table] as const)),
  ['UPDATE', 'state'],
];

/** Asks for one at a time: of a list, PostgreSQL says whether any is granted. */
async function missingRights(database: TeamDatabase): Promise<string[]> {
  const { rows } = await sql<{ missing: string }>`
    SELECT format('%s on %s', needed.right, needed.table) AS missing
    FROM unnest(${neededRights.map(([right]) => right)}::text[], ${neededRights.map(([, table]) => table)}::text[])
      AS needed ("right", "table")
    WHERE NOT has_table_privilege(format('touchstone.%I', needed.table), needed.right)
    UNION ALL SELECT 'EXECUTE on create_partition' WHERE NOT has_function_privilege('touchstone.create_partition(date)', 'EXECUTE')
  `.execute(database);
  return rows.map(({ missing }) => missing);
}

const newerTables =
  'A newer version of Touchstone updated the team database, so this one only reads it. Update this one to copy its runs.';

/** Throws `conflict` if a newer version has updated the tables, also if that was just now. */
export async function requireKnownTables(database: TeamDatabase): Promise<void> {
  if ((await appliedMigrations(database)) > migrations.length) throw new AppError('conflict', newerTables);
}

async function lackOfRights(database: TeamDatabase, address: TeamAddress): Promise<string | null> {
  const missing = await missingRights(database);
  if (missing.length === 0) return null;
  // Someone who only lacks a part was meant to write, for example before an update added a table.
  if (missing.length < neededRights.length) return messagesByCode['42501']!(address, missing.slice(0, 3).join(', '));
  return `"${address.user}" may only read the team database. To copy runs, sign in with the role touchstone_writer.`;
}

export interface InspectedTables {
  /** Migrations, and those of this version. */
  readonly applied: number;
  readonly expected: number;
  readonly readOnlyReason: string | null;
  /** Whether this user may create or update the tables. */
  readonly mayCreate: boolean;
}

/** Changes nothing. */
export async function inspectTables(database: TeamDatabase, address: TeamAddress): Promise<InspectedTables> {
  const server = await readServer(database);
  const applied = server.migrated ? await appliedMigrations(database) : 0;
  const { rows } = await sql<{ mayCreate: boolean }>`
    SELECT coalesce((SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'touchstone'),
      has_database_privilege(current_database(), 'CREATE')) AS "mayCreate"`.execute(database);
  const expected = migrations.length;
  const standby = server.standby ? messagesByCode['25006']!(address, '') : null;
  const rights = applied === expected && standby === null ? await lackOfRights(database, address) : null;
  return { applied, expected, readOnlyReason: applied > expected ? newerTables : (standby ?? rights), ...rows[0]! };
}

async function prepare(database: TeamDatabase, address: TeamAddress): Promise<string | null> {
  const { applied, expected, readOnlyReason } = await inspectTables(database, address);
  if (readOnlyReason !== null || applied === expected) return readOnlyReason;
  await migrate(database);
  return lackOfRights(database, address);
}

/** How long a connection that is closed may end its queries. A server that doesn't answer would never. */
const closeMs = 2000;

function openDatabase(pool: pg.Pool): { database: TeamDatabase; close: () => Promise<void> } {
  const clients = new Set<pg.Client>();
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  const database: TeamDatabase = new Kysely({ dialect: new PostgresDialect({ pool }) });
  const cut = () => {
    for (const { connection } of clients) connection.stream.destroy();
  };
  return {
    database,
    async close() {
      const timer = setTimeout(cut, closeMs);
      await database.destroy().finally(() => clearTimeout(timer));
    },
  };
}

/** Connects, and creates or updates the tables. Throws an `AppError` with one sentence that has the remedy. */
export async function openTeamConnection(address: TeamAddress, password: string | null): Promise<TeamConnection> {
  let copying: ReturnType<typeof openDatabase> | null = null;
  try {
    const { database: unlimited, close: closeCopying } = (copying = openDatabase(
      createPool(address, password, { max: 1 }),
    ));
    // An update of the tables can take long.
    const readOnlyReason = await prepare(unlimited, address);
    const { database, close: closeQueries } = openDatabase(
      createPool(address, password, { statementMs: maxStatementMs }),
    );
    const close = async () => void (await Promise.all([closeQueries(), closeCopying()]));
    return { database, copying: unlimited, readOnlyReason, isWritable: readOnlyReason === null, close };
  } catch (failure) {
    await copying?.close().catch(() => undefined);
    throw describeTeamFailure(failure, address);
  }
}
