import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import type { ApiKey, ApiKeyInput } from '../../shared/contract/api-keys.ts';
import { scopes, type Scope } from '../../shared/contract/endpoint.ts';
import { prepareQuery, valuesOf } from './queries.ts';
import { createSharedKeys, type SharedKeys } from './shared-keys.ts';
import type { ApiKeyRow } from './schema.ts';
import type { ApiKeyChange, ApiKeyStore, AuthenticatedKey } from './storage.ts';

/** Max delay of `lastUsedAt`. A write for each request would take longer than the rest of authentication. */
const lastUseMilliseconds = 60_000;

/** `ts_` and 256 random bits. */
const keyForm = /^ts_[A-Za-z0-9_-]{43}$/;

export interface ApiKeys extends ApiKeyStore {
  readonly shared: SharedKeys;
  /** Writes the last use of each key. */
  writeLastUses(): void;
}

/** The API keys of the database. Several processes may issue and revoke keys at the same time. */
export function createApiKeys(database: Database.Database): ApiKeys {
  const queries = apiKeyQueries(database);
  const lastUses = createLastUses(database, queries);
  let sharesKeys = false;

  /** A key of another host is valid while the team database has it. */
  const isKnown = ({ is_foreign: isForeign, team_json: base }: Pick<ApiKeyRow, 'is_foreign' | 'team_json'>): boolean =>
    isForeign === 0 || (sharesKeys && base !== null);

  const shown = (row: Omit<ApiKeyRow, 'sequence' | 'hash'>): ApiKey => apiKeyOf(row, lastUses.of(row.id));

  function require(id: string): Omit<ApiKeyRow, 'sequence' | 'hash'> {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', 'No API key has this ID.');
    return row;
  }

  return {
    writeLastUses: lastUses.write,
    shared: createSharedKeys(database),
    shareKeys() {
      sharesKeys = true;
    },
    issue(input) {
      const key = `ts_${randomBytes(32).toString('base64url')}`;
      const row = newRow(input, key);
      queries.insert.run(row);
      return { ...shown(require(row.id)), key };
    },
    list: () => queries.list.all({}).filter(isKnown).map(shown),
    update(id, change) {
      const row = require(id);
      queries.change.run(changedRow(row, change));
      return shown(require(id));
    },
    revoke(id) {
      queries.revoke.run({ id: require(id).id, revoked_at: Date.now() });
    },
    authenticate(key) {
      if (!keyForm.test(key)) return null;
      const digest = hash('sha256', key, 'buffer');
      const row = queries.authenticate.first({ hash: digest });
      if (!row || row.revoked_at !== null || !timingSafeEqual(row.hash, digest) || !isKnown(row)) return null;
      lastUses.note(row.id);
      return authenticatedOf(row);
    },
    find(id) {
      const row = queries.find.first({ id });
      return !row || row.revoked_at !== null || !isKnown(row) ? null : authenticatedOf(row);
    },
    charge: (id, credits) => queries.charge.run({ id, credits }),
  };
}

/** When keys were used last. Writes a use at once only if the last write was long ago. */
function createLastUses(database: Database.Database, { use }: ReturnType<typeof apiKeyQueries>) {
  const lastUses = new Map<string, number>();
  let writtenAt = 0;

  function write(): void {
    if (lastUses.size === 0) return;
    writtenAt = Date.now();
    database
      .transaction(() => {
        for (const [id, time] of lastUses) use.run({ id, last_used_at: time });
      })
      .immediate();
    lastUses.clear();
  }

  return {
    write,
    note(id: string): void {
      const now = Date.now();
      lastUses.set(id, now);
      if (now - writtenAt >= lastUseMilliseconds) write();
    },
    /** Undefined once it is written. */
    of: (id: string) => lastUses.get(id),
  };
}

function newRow(input: ApiKeyInput, key: string): Omit<ApiKeyRow, 'sequence'> {
  return {
    id: randomUUID(),
    name: input.name,
    caller_id: randomUUID(),
    hash: hash('sha256', key, 'buffer'),
    scopes: scopes.filter((scope) => input.scopes?.includes(scope) ?? true).join(),
    credit_limit: input.creditLimit ?? null,
    credits_used: 0,
    requests_per_minute: input.requestsPerMinute ?? null,
    tokens_per_minute: input.tokensPerMinute ?? null,
    record_level: input.recordLevel ?? 'all',
    created_at: Date.now(),
    last_used_at: null,
    revoked_at: null,
    team_json: null,
    is_foreign: 0,
    credits_elsewhere: 0,
  };
}

function changedRow(row: Omit<ApiKeyRow, 'sequence' | 'hash'>, change: ApiKeyChange) {
  const { creditLimit, requestsPerMinute, tokensPerMinute, recordLevel } = change;
  return {
    id: row.id,
    record_level: recordLevel ?? row.record_level,
    name: change.name ?? row.name,
    credit_limit: creditLimit === undefined ? row.credit_limit : creditLimit,
    requests_per_minute: requestsPerMinute === undefined ? row.requests_per_minute : requestsPerMinute,
    tokens_per_minute: tokensPerMinute === undefined ? row.tokens_per_minute : tokensPerMinute,
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function authenticatedOf(row: Omit<ApiKeyRow, 'sequence' | 'hash'>): AuthenticatedKey {
  return {
    id: row.id,
    callerId: row.caller_id,
    scopes: row.scopes.split(',') as Scope[],
    creditLimit: row.credit_limit,
    creditsUsed: row.credits_used,
    creditsElsewhere: row.credits_elsewhere,
    isShared: row.is_foreign === 1 || row.team_json !== null,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    recordLevel: row.record_level,
  };
}

function apiKeyOf(row: Omit<ApiKeyRow, 'sequence' | 'hash'>, lastUse: number | undefined): ApiKey {
  return {
    id: row.id,
    name: row.name,
    callerId: row.caller_id,
    scopes: row.scopes.split(',') as Scope[],
    creditLimit: row.credit_limit,
    creditsUsed: row.credits_used + row.credits_elsewhere,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    recordLevel: row.record_level,
    createdAt: new Date(row.created_at).toISOString(),
    lastUsedAt: isoTime(lastUse ?? row.last_used_at),
    revokedAt: isoTime(row.revoked_at),
  };
}

const shownColumns = [
  'id',
  'name',
  'caller_id',
  'scopes',
  'credit_limit',
  'credits_used',
  'requests_per_minute',
  'tokens_per_minute',
  'record_level',
  'created_at',
  'last_used_at',
  'revoked_at',
  'team_json',
  'is_foreign',
  'credits_elsewhere',
] as const satisfies (keyof ApiKeyRow)[];

const changedColumns = ['name', 'credit_limit', 'requests_per_minute', 'tokens_per_minute', 'record_level'] as const;

const insertedColumns = [...shownColumns, 'hash'] as const satisfies (keyof ApiKeyRow)[];

function apiKeyQueries(database: Database.Database) {
  return {
    insert: prepareQuery(database, (tables, input: Omit<ApiKeyRow, 'sequence'>) =>
      tables.insertInto('api_keys').values(valuesOf(input, insertedColumns)),
    ),
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('api_keys').select(shownColumns).where('id', '=', input.id),
    ),
    list: prepareQuery(database, (tables) =>
      tables.selectFrom('api_keys').select(shownColumns).orderBy('sequence', 'desc'),
    ),
    authenticate: prepareQuery(database, (tables, input: { hash: Uint8Array }) =>
      tables
        .selectFrom('api_keys')
        .select([...shownColumns, 'hash'])
        .where('hash', '=', input.hash),
    ),
    change: prepareQuery(database, (tables, input: Pick<ApiKeyRow, 'id' | (typeof changedColumns)[number]>) =>
      tables.updateTable('api_keys').set(valuesOf(input, changedColumns)).where('id', '=', input.id),
    ),
    charge: prepareQuery(database, (tables, input: { id: string; credits: number }) =>
      tables
        .updateTable('api_keys')
        .set((expression) => ({ credits_used: expression('credits_used', '+', input.credits) }))
        .where('id', '=', input.id),
    ),
    use: prepareQuery(database, (tables, input: { id: string; last_used_at: number }) =>
      tables.updateTable('api_keys').set({ last_used_at: input.last_used_at }).where('id', '=', input.id),
    ),
    revoke: prepareQuery(database, (tables, input: { id: string; revoked_at: number }) =>
      tables
        .updateTable('api_keys')
        .set({ revoked_at: input.revoked_at })
        .where('id', '=', input.id)
        .where('revoked_at', 'is', null),
    ),
  };
}
