import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import type { CreditLease, CreditRequest } from '../credits/credits.ts';
import type { ApiKeyRow } from '../storage/schema.ts';
import { baseOf, type SharedKeyRow, type SharedKeyUse, sharedFields } from '../storage/shared-keys.ts';
import { AppError } from '../../shared/app-error.ts';
import type { TeamAddress } from '../../shared/team-address.ts';
import { createPool, requireKnownTables, type TeamDatabase } from './connection.ts';
import { storableText } from './copied-run.ts';

/** What a step found. The host stores it. */
export interface KeyChanges {
  /** Identifies the team database. */
  readonly team: string;
  readonly changed: readonly SharedKeyRow[];
  /** IDs of keys that the team database doesn't have any more. */
  readonly missing: readonly string[];
  readonly uses: readonly SharedKeyUse[];
  /** IDs of keys whose unused credits this host must give back. */
  readonly reclaimed: readonly string[];
}

/** A query or a lost connection mustn't keep callers waiting. */
const queryMs = 5000;
const maxConnections = 3;
const usesEveryMs = 5000;
const renewEveryMs = 10_000;
const reclaimMs = 150;
const reclaimTries = 3;
/** The share of the free credits that a host keeps in reserve. Of the last few, it keeps none. */
const spareShare = 1 / 64;
const maxSpare = 200;
/** What all hosts may hold together of a key's limit. Hosts that were killed and never come back, however many, keep no more in reserve. */
const maxHeldShare = 1 / 16;
const unlimited = Number.MAX_SAFE_INTEGER;

export interface SharedKeysOptions {
  readonly address: TeamAddress;
  readonly password: string | null;
  /** The recorded runs of this host; read-only. */
  readonly local: Database.Database;
  readonly hostId: string;
  /** How long this host may use what it has reserved without being heard of. Nobody can remove it before. */
  readonly leaseMs: number;
  /** Whether this process has been connected before, so that what it has reserved stays. */
  readonly isResumed: boolean;
  /** The session of its connection before this one, which the server may not know as ended. */
  readonly earlierSession: Session | null;
  /** IDs of keys whose unused credits this host must give back. They outlive this connection if it ends before a step has returned them. */
  readonly reclaimed: Set<string>;
  /** Another host has changed something. */
  readonly onNotify: () => void;
}

/** A session of the server. */
export interface Session {
  readonly pid: number;
  readonly startedAt: string;
}

/** The same after a restart, and another one for a copy of the data folder. Where a file system has no time of birth, it is the last change. */
function markOf({ name }: Database.Database): string {
  const { ino, birthtimeNs, ctimeNs } = statSync(name, { bigint: true });
  return birthtimeNs === ctimeNs ? `${ino}` : `${ino}-${birthtimeNs}`;
}

/**
 * The thread's side of shared keys. What was changed here goes to the team database; what was changed there is returned. Its connections
 * are separate, so that no long query of an auditor keeps a caller waiting.
 */
export class SharedKeysConnection {
  readonly #options: SharedKeysOptions;
  readonly #pool: pg.Pool;
  readonly #database: TeamDatabase;
  readonly #readLocal: Database.Statement<[], ApiKeyRow>;
  readonly #readSpent: Database.Statement<[string], number>;
  readonly #sentSpent = new Map<string, number>();
  readonly #mark: string;
  #listener: pg.PoolClient | null = null;
  #isLost = false;
  #session: Session | null = null;
  #team = '';
  #version = -1;
  #usesAt = -Infinity;
  #renewedAt = -Infinity;

  private constructor(options: SharedKeysOptions) {
    this.#options = options;
    this.#mark = markOf(options.local);
    const { address, password, local } = options;
    this.#pool = createPool(address, password, { max: maxConnections, queryMs });
    this.#database = new Kysely({ dialect: new PostgresDialect({ pool: this.#pool }) });
    this.#readLocal = local.prepare('SELECT * FROM api_keys');
    this.#readSpent = local.prepare<[string], number>('SELECT credits_used FROM api_keys WHERE id = ?').pluck();
  }

  static async open(options: SharedKeysOptions): Promise<SharedKeysConnection> {
    const connection = new SharedKeysConnection(options);
    try {
      await connection.#begin();
      return connection;
    } catch (failure) {
      await connection.close();
      throw failure;
    }
  }

  async #begin(): Promise<void> {
    const { rows } = await sql<{ team: string }>`
      SELECT encode(sha256(token_secret::bytea), 'hex') AS team FROM touchstone.state`.execute(this.#database);
    this.#team = rows[0]!.team;
    const listener = (this.#listener = await this.#pool.connect());
    const lose = () => {
      this.#isLost = true;
      this.#options.onNotify();
    };
    listener.on('error', lose);
    listener.on('end', lose);
    listener.on('notification', ({ channel, payload }) => {
      if (channel === 'touchstone_credits' && payload) this.#options.reclaimed.add(payload);
      this.#options.onNotify();
    });
    await this.#requireOnlyHost(listener);
    await this.#claim();
    await listener.query('LISTEN touchstone_keys');
    await listener.query('LISTEN touchstone_credits');
  }

  /** Two hosts with copies of one data folder would use one reserve twice. A lock of the session tells, and ends with it. */
  async #requireOnlyHost(listener: pg.PoolClient): Promise<void> {
    const { hostId, earlierSession } = this.#options;
    // The server notices within half a minute that this device is gone, and lets a restarted one in.
    await listener.query('SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3');
    const { rows } = await listener.query<Session & { isFree: boolean }>(
      `SELECT pid, backend_start::text AS "startedAt", pg_try_advisory_lock(hashtextextended($1, 7420515120)) AS "isFree"
       FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
      [hostId],
    );
    this.#session = rows[0]!;
    if (rows[0]!.isFree) return;
    const { pid = 0, startedAt = '' } = earlierSession ?? {};
    await listener.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2',
      [pid, startedAt],
    );
    throw new AppError(
      'conflict',
      'Another host with a copy of this data folder is connected. Stop that host, or give it a folder of its own.',
    );
  }

  /**
   * A process that was killed can't give back what it had reserved, so the next one does. What a host with a copy of this data folder has
   * reserved counts as used: it may use that without the database.
   */
  async #claim(): Promise<void> {
    const { hostId, isResumed } = this.#options;
    const local = this.#readLocal.all();
    const mark = this.#mark;
    // In a transaction, here and below: what the server gets late, after this connection was given up, isn't committed.
    await this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ key_id: string }>`
        UPDATE touchstone.credit_leases AS lease SET mark = ${mark}, spent = claimed.spent, ceiling = claimed.spent
        FROM (SELECT key_id, greatest(lease.spent, input.spent,
            CASE WHEN mark = ${mark} OR mark IS NULL THEN 0 ELSE ceiling END) AS spent
          FROM touchstone.credit_leases AS lease LEFT JOIN unnest(${local.map(({ id }) => id)}::uuid[],
            ${local.map((row) => row.credits_used)}::bigint[]) AS input (id, spent) ON id = key_id
          WHERE host_id = ${hostId}::uuid AND (NOT ${isResumed} OR mark IS DISTINCT FROM ${mark}) FOR UPDATE OF lease) AS claimed
        WHERE lease.key_id = claimed.key_id AND host_id = ${hostId}::uuid RETURNING lease.key_id`.execute(transaction);
      for (const row of rows) this.#options.reclaimed.add(row.key_id);
    });
  }

  /** What the server may take for connected after a lost connection. */
  get session(): Session | null {
    return this.#session;
  }

  async close(): Promise<void> {
    this.#listener?.release(true);
    this.#listener = null;
    await this.#database.destroy().catch(() => undefined);
  }

  /** Exchanges what has changed since the last step. */
  async step(): Promise<KeyChanges> {
    if (this.#isLost) throw new Error('Connection terminated');
    await requireKnownTables(this.#database);
    const local = this.#readLocal.all();
    await this.#upload(local);
    const isFirst = this.#version < 0;
    const changed = await this.#download();
    const missing = isFirst ? await this.#uploadMissing(local, new Set(changed.map(({ id }) => id))) : [];
    await this.#uploadSpent(local);
    await this.#renew();
    const uses = await this.#readUses();
    const reclaimed = [...this.#options.reclaimed];
    this.#options.reclaimed.clear();
    return { team: this.#team, changed, missing, uses, reclaimed };
  }

  /** New keys of this host, and changes of known ones. */
  async #upload(local: readonly ApiKeyRow[]): Promise<void> {
    for (const row of local) {
      const base = baseOf(row, this.#team);
      if (base === null) {
        if (row.is_foreign === 0 && row.revoked_at === null) await this.#insert(row);
        continue;
      }
      const changes = sharedFields
        .filter((name) => row[name] !== base[name])
        .map((name) => sql`${sql.ref(name)} = ${typeof row[name] === 'string' ? storableText(row[name]) : row[name]}`);
      if (row.revoked_at !== null && base.revoked_at === null) changes.push(sql`revoked_at = ${row.revoked_at}`);
      if (changes.length === 0) continue;
      await sql`UPDATE touchstone.api_keys SET ${sql.join(changes)} WHERE id = ${row.id}::uuid`.execute(this.#database);
    }
  }

  async #insert(row: ApiKeyRow): Promise<void> {
    await sql`
      INSERT INTO touchstone.api_keys (id, version, name, caller_id, hash, scopes, credit_limit, requests_per_minute,
        tokens_per_minute, record_level, created_at, revoked_at)
      VALUES (${row.id}::uuid, 0, ${storableText(row.name)}, ${row.caller_id}::uuid, ${row.hash}, ${row.scopes},
        ${row.credit_limit}, ${row.requests_per_minute}, ${row.tokens_per_minute}, ${row.record_level}, ${row.created_at},
        ${row.revoked_at})
      ON CONFLICT DO NOTHING`.execute(this.#database);
  }

  async #download(): Promise<SharedKeyRow[]> {
    const { rows } = await sql<SharedKeyRow & { version: number }>`
      SELECT id, version, name, caller_id, hash, scopes, credit_limit, requests_per_minute, tokens_per_minute, record_level,
        created_at, revoked_at
      FROM touchstone.api_keys WHERE version > ${this.#version} ORDER BY version`.execute(this.#database);
    this.#version = rows.at(-1)?.version ?? Math.max(this.#version, 0);
    return rows;
  }

  /** Keys that were there before its database was restored from a backup: a host sends its own again. */
  async #uploadMissing(local: readonly ApiKeyRow[], present: ReadonlySet<string>): Promise<string[]> {
    const missing = local.filter((row) => row.team_json !== null && !present.has(row.id));
    const own = missing.filter((row) => row.is_foreign === 0 && baseOf(row, this.#team) !== null);
    for (const row of own) await this.#insert(row);
    return missing.filter((row) => row.is_foreign === 1).map(({ id }) => id);
  }

  /** Credits that this host has used since the last step. */
  async #uploadSpent(local: readonly ApiKeyRow[]): Promise<void> {
    const changed = local.filter(
      ({ id, credits_used: spent, team_json: base }) => base !== null && spent > 0 && this.#sentSpent.get(id) !== spent,
    );
    if (changed.length === 0) return;
    await sql`
      INSERT INTO touchstone.credit_leases AS lease (key_id, host_id, spent, ceiling, expires_at, mark)
      SELECT input.id, ${this.#options.hostId}::uuid, input.spent, 0, now(), ${this.#mark}
      FROM unnest(${changed.map(({ id }) => id)}::uuid[], ${changed.map((row) => row.credits_used)}::bigint[])
        AS input (id, spent) JOIN touchstone.api_keys ON api_keys.id = input.id
      ON CONFLICT (key_id, host_id) DO UPDATE SET spent = excluded.spent WHERE lease.spent < excluded.spent`.execute(
      this.#database,
    );
    for (const row of changed) this.#sentSpent.set(row.id, row.credits_used);
  }

  /** A host that wasn't heard of may have been removed meanwhile, and others use what it had in reserve. */
  async #renew(): Promise<void> {
    if (performance.now() - this.#renewedAt < renewEveryMs) return;
    const { hostId, leaseMs } = this.#options;
    const { rows } = await sql<{ key_id: string; is_over: boolean }>`
      UPDATE touchstone.credit_leases AS lease SET expires_at = now() + ${leaseMs} * interval '1 millisecond'
      FROM (SELECT key_id, expires_at <= now() AS is_over FROM touchstone.credit_leases
        WHERE host_id = ${hostId}::uuid AND (ceiling > spent OR expires_at < now() + ${leaseMs / 2} * interval '1 millisecond')
        FOR UPDATE) AS own
      WHERE lease.key_id = own.key_id AND host_id = ${hostId}::uuid RETURNING lease.key_id, is_over`.execute(
      this.#database,
    );
    this.#renewedAt = performance.now();
    for (const { key_id: id, is_over: isOver } of rows) if (isOver) this.#options.reclaimed.add(id);
  }

  async #readUses(): Promise<SharedKeyUse[]> {
    if (performance.now() - this.#usesAt < usesEveryMs) return [];
    const { hostId } = this.#options;
    const { rows } = await sql<SharedKeyUse>`
      SELECT key_id AS id, coalesce(sum(spent) FILTER (WHERE host_id = ${hostId}::uuid), 0) AS own,
        coalesce(sum(spent) FILTER (WHERE host_id <> ${hostId}::uuid), 0) AS elsewhere
      FROM touchstone.credit_leases GROUP BY key_id`.execute(this.#database);
    this.#usesAt = performance.now();
    return rows;
  }

  /** Raises the ceiling of this host as far as the key's limit allows. Other hosts give back what they don't use first. */
  async acquire(request: CreditRequest): Promise<CreditLease> {
    for (let tries = 1; ; tries += 1) {
      const { lease, held } = await this.#tryAcquire(request);
      const isEnough = lease.ceiling >= request.used + request.needed;
      if (isEnough || held === 0 || tries === reclaimTries) return lease;
      await sql`SELECT pg_notify('touchstone_credits', ${request.keyId})`.execute(this.#database);
      await new Promise((resolve) => setTimeout(resolve, reclaimMs));
    }
  }

  #tryAcquire({ keyId, used, needed }: CreditRequest): Promise<{ lease: CreditLease; held: number }> {
    const { hostId, leaseMs } = this.#options;
    return this.#database.transaction().execute(async (transaction) => {
      // One host at a time counts what is left.
      const limits = await sql<{ credit_limit: number | null }>`
        SELECT credit_limit FROM touchstone.api_keys WHERE id = ${keyId}::uuid FOR UPDATE`.execute(transaction);
      const limit = limits.rows[0]?.credit_limit;
      if (limit === undefined) throw new Error('The key is not in the team database yet.');
      // Also of hosts that aren't heard of: they may be cut off and go on.
      const others = await sql<{ taken: number; reserved: number; held: number }>`
        SELECT coalesce(sum(greatest(spent, ceiling)), 0) AS taken, coalesce(sum(greatest(ceiling - spent, 0)), 0) AS reserved,
          coalesce(sum(greatest(ceiling - spent, 0)) FILTER (WHERE expires_at > clock_timestamp()), 0) AS held
        FROM touchstone.credit_leases WHERE key_id = ${keyId}::uuid AND host_id <> ${hostId}::uuid`.execute(
        transaction,
      );
      const { taken, reserved, held } = others.rows[0]!;
      const total = limit ?? unlimited;
      const left = total - taken - used - needed;
      const mayHold = Math.floor(total * maxHeldShare) - reserved;
      const spare = Math.max(0, Math.min(maxSpare, Math.floor(left * spareShare), mayHold));
      const ceiling = Math.max(used, used + needed + Math.min(left, spare));
      const { rows } = await sql<{ spent: number }>`
        INSERT INTO touchstone.credit_leases AS lease (key_id, host_id, spent, ceiling, expires_at, mark)
        VALUES (${keyId}::uuid, ${hostId}::uuid, ${this.#readSpent.get(keyId) ?? 0}, ${ceiling},
          now() + ${leaseMs} * interval '1 millisecond', ${this.#mark})
        ON CONFLICT (key_id, host_id) DO UPDATE SET spent = greatest(lease.spent, excluded.spent),
          ceiling = excluded.ceiling, expires_at = excluded.expires_at
        RETURNING spent`.execute(transaction);
      return { lease: { ceiling, spare, spent: rows[0]!.spent, elsewhere: taken }, held };
    });
  }

  /** Lowers the ceiling of a key, so that other hosts can use what this one doesn't. */
  async lower(keyId: string, ceiling: number): Promise<void> {
    await this.#database.transaction().execute((transaction) =>
      sql`
        UPDATE touchstone.credit_leases SET ceiling = ${ceiling}, spent = greatest(spent, ${this.#readSpent.get(keyId) ?? 0})
        WHERE key_id = ${keyId}::uuid AND host_id = ${this.#options.hostId}::uuid`.execute(transaction),
    );
  }

  /** Gives back everything that the runs of this host haven't used. For a host that stops. */
  async release(): Promise<void> {
    await this.#uploadSpent(this.#readLocal.all());
    await sql`UPDATE touchstone.credit_leases SET ceiling = spent WHERE host_id = ${this.#options.hostId}::uuid`.execute(
      this.#database,
    );
  }
}
