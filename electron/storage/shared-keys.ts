import type Database from 'better-sqlite3';
import { scopes as knownScopes } from '../../shared/contract/endpoint.ts';
import type { ApiKeyRow } from './schema.ts';

/** A key as the team database has it. */
export type SharedKeyRow = Pick<ApiKeyRow, 'id' | 'caller_id' | 'hash' | 'scopes' | 'created_at'> & SharedFields;

/** What hosts change of a key. */
export type SharedFields = Pick<ApiKeyRow, (typeof sharedFields)[number] | 'revoked_at'>;

export const sharedFields = [
  'name',
  'credit_limit',
  'requests_per_minute',
  'tokens_per_minute',
  'record_level',
] as const satisfies (keyof ApiKeyRow)[];

/** A key as the team database last had it. What differs here has been changed since, and isn't sent yet. */
export type SharedKeyBase = SharedFields & { readonly team: string };

/** Of one key: what this host and what the others have used, as the team database has it. */
export interface SharedKeyUse {
  readonly id: string;
  readonly own: number;
  readonly elsewhere: number;
}

/** The copies of the keys that several hosts share. */
export interface SharedKeys {
  /** Stores what the team database has. A field that was changed here since stays as it is, and a revoked key stays revoked. */
  store(team: string, rows: readonly SharedKeyRow[]): void;
  storeUse(uses: readonly SharedKeyUse[]): void;
  /** Forgets that the team database has these keys. Those of other hosts are invalid then. */
  forget(ids: readonly string[]): void;
}

/** The base of a key in a team database; null if the key isn't there, as far as this host knows. */
export function baseOf(row: Pick<ApiKeyRow, 'team_json'>, team: string): SharedKeyBase | null {
  if (row.team_json === null) return null;
  const base = JSON.parse(row.team_json) as SharedKeyBase;
  return base.team === team ? base : null;
}

function mergedFields(local: ApiKeyRow, base: SharedKeyBase | null, remote: SharedKeyRow): SharedFields {
  // Without a base, this host has just sent the key, and may have changed it again.
  const isChanged = (name: (typeof sharedFields)[number]): boolean =>
    base === null ? local.is_foreign === 0 : local[name] !== base[name];
  const fields = sharedFields.map((name) => [name, isChanged(name) ? local[name] : remote[name]]);
  return {
    ...(Object.fromEntries(fields) as Omit<SharedFields, 'revoked_at'>),
    revoked_at: local.revoked_at ?? remote.revoked_at,
  };
}

/** Without the scopes of a newer version. */
const supportedScopes = (scopes: string): string =>
  knownScopes.filter((scope) => scopes.split(',').includes(scope)).join();

export function createSharedKeys(database: Database.Database): SharedKeys {
  const find = database.prepare<[string], ApiKeyRow>('SELECT * FROM api_keys WHERE id = ?');
  const insert = database.prepare(`
    INSERT OR IGNORE INTO api_keys (id, name, caller_id, hash, scopes, credit_limit, credits_used, requests_per_minute,
      tokens_per_minute, record_level, created_at, revoked_at, team_json, is_foreign)
    VALUES (@id, @name, @caller_id, @hash, @scopes, @credit_limit, 0, @requests_per_minute, @tokens_per_minute, @record_level,
      @created_at, @revoked_at, @team_json, 1)`);
  const update = database.prepare(`
    UPDATE api_keys SET name = @name, scopes = @scopes, credit_limit = @credit_limit,
      requests_per_minute = @requests_per_minute, tokens_per_minute = @tokens_per_minute, record_level = @record_level,
      revoked_at = @revoked_at, team_json = @team_json WHERE id = @id`);
  const use = database.prepare(`
    UPDATE api_keys SET credits_used = max(credits_used, @own), credits_elsewhere = @elsewhere
    WHERE id = @id AND (credits_used < @own OR credits_elsewhere != @elsewhere)`);
  const forget = database.prepare('UPDATE api_keys SET team_json = NULL WHERE id = ?');

  function store(team: string, row: SharedKeyRow): void {
    const scopes = supportedScopes(row.scopes);
    // A version that knows none of its scopes couldn't do anything for it.
    if (scopes === '') return;
    const remote = { ...row, scopes, name: row.name.slice(0, 200) };
    const fields = [...sharedFields, 'revoked_at' as const].map((name) => [name, remote[name]]);
    const base = JSON.stringify({ ...Object.fromEntries(fields), team });
    const local = find.get(row.id);
    if (local === undefined) insert.run({ ...remote, team_json: base });
    else update.run({ ...remote, ...mergedFields(local, baseOf(local, team), remote), team_json: base });
  }

  const inTransaction = <Item>(items: readonly Item[], write: (item: Item) => void): void => {
    if (items.length > 0) database.transaction(() => items.forEach(write)).immediate();
  };

  return {
    store: (team, rows) => inTransaction(rows, (row) => store(team, row)),
    storeUse: (uses) => inTransaction(uses, (one) => void use.run(one)),
    forget: (ids) => inTransaction(ids, (id) => void forget.run(id)),
  };
}
