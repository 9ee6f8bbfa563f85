import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import { type ListPage, type ListQuery, newestList } from '../list-page.ts';

export interface StoredReviewer {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly pinHash: string | null;
  /** The API key or the window that reviews under this name; null for a person who chooses it at the window. */
  readonly callerId: string | null;
  readonly apiKeyId: string | null;
  readonly createdAt: number;
}

/** Also of one that was removed, or of another installation. */
export type ReviewerName = Pick<StoredReviewer, 'sequence' | 'id' | 'name'>;

type NewReviewer = Pick<StoredReviewer, 'name' | 'pinHash' | 'callerId'>;

/** A reviewer that hosts share. */
export interface SharedReviewer extends NewReviewer {
  readonly id: string;
  readonly isRemoved: boolean;
}

/** Those of this installation. Names are unique without case: `conflict`. */
export interface ReviewerStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<StoredReviewer>;
  /** Null for an unknown or removed one. */
  find(id: string): StoredReviewer | null;
  /** Throws `not_found`. */
  read(id: string): StoredReviewer;
  findByCaller(callerId: string): StoredReviewer | null;
  /** Throws `conflict` with the field. */
  create(reviewer: NewReviewer): StoredReviewer;
  /** The reviewer of a caller, which is created with the name of its API key, or `fallbackName`. */
  ensureForCaller(callerId: string, fallbackName: string): StoredReviewer;
  /** Whether this installation has or had the reviewer. */
  isOwn(id: string): boolean;
  /** A reviewer of another installation, who is created unless known. */
  ensureImported(reviewer: {
    readonly id: string;
    readonly name: string;
    readonly installationId: string;
  }): ReviewerName;
  /** All of this installation that aren't removed. */
  everyone(): StoredReviewer[];
  /** Stores a reviewer as other hosts know it. If the name is taken here, it gets a number. */
  adopt(reviewer: SharedReviewer): void;
  /** What `setTeamState` stored of everyone, also of removed ones. */
  teamStates(): { readonly id: string; readonly state: string }[];
  /** Stores how the team database has a reviewer. */
  setTeamState(id: string, state: string): void;
  /** Absent fields stay. Throws `not_found` and `conflict`. */
  update(
    id: string,
    change: { readonly name?: string | undefined; readonly pinHash?: string | null | undefined },
  ): void;
  /** Throws `not_found`. */
  remove(id: string): void;
  /** Lets the window act as the reviewer until the PIN changes. */
  tokenOf(reviewer: StoredReviewer): string;
  /** Null for a token that is not or no longer valid. */
  findByToken(token: string): StoredReviewer | null;
}

const rows = `SELECT reviewers.sequence, reviewers.id, reviewers.name, pin_hash AS pinHash, reviewers.caller_id AS callerId,
    api_keys.id AS apiKeyId, reviewers.created_at AS createdAt
  FROM reviewers LEFT JOIN api_keys USING (caller_id) WHERE removed_at IS NULL AND installation_id IS NULL`;

function statements(database: Database.Database) {
  return {
    page: database.prepare<{ before: number; limit: number }, StoredReviewer>(
      `${rows} AND reviewers.sequence < @before ORDER BY reviewers.sequence DESC LIMIT @limit`,
    ),
    everyone: database.prepare<[], StoredReviewer>(rows),
    find: database.prepare<[string], StoredReviewer>(`${rows} AND reviewers.id = ?`),
    takeId: database.prepare<[string, number]>('UPDATE reviewers SET id = ? WHERE sequence = ?'),
    takeOver: database.prepare<[number]>('UPDATE reviewers SET installation_id = NULL WHERE sequence = ?'),
    findByCaller: database.prepare<[string], StoredReviewer>(`${rows} AND reviewers.caller_id = ?`),
    findByName: database.prepare<[string], StoredReviewer>(`${rows} AND name_key = ?`),
    keyName: database.prepare<[string], string>('SELECT name FROM api_keys WHERE caller_id = ?').pluck(),
    insert: database.prepare<[NewReviewer & { id: string; nameKey: string; now: number }]>(
      `INSERT INTO reviewers (id, name, name_key, pin_hash, caller_id, created_at)
       VALUES (@id, @name, @nameKey, @pinHash, @callerId, @now)`,
    ),
    findAny: database.prepare<[string], ReviewerName>('SELECT sequence, id, name FROM reviewers WHERE id = ?'),
    isOwn: database.prepare<[string], 1>('SELECT 1 FROM reviewers WHERE id = ? AND installation_id IS NULL').pluck(),
    insertImported: database.prepare<[string, string, string, string, number]>(
      'INSERT INTO reviewers (id, name, name_key, installation_id, created_at) VALUES (?, ?, ?, ?, ?)',
    ),
    rename: database.prepare<[string, string, number]>(
      'UPDATE reviewers SET name = ?, name_key = ? WHERE sequence = ?',
    ),
    setPin: database.prepare<[string | null, number]>('UPDATE reviewers SET pin_hash = ? WHERE sequence = ?'),
    teamStates: database.prepare<[], { id: string; state: string }>(
      'SELECT id, team_json AS state FROM reviewers WHERE team_json IS NOT NULL',
    ),
    setTeamState: database.prepare<[string, string]>('UPDATE reviewers SET team_json = ? WHERE id = ?'),
    remove: database.prepare<[number, number]>('UPDATE reviewers SET removed_at = ? WHERE sequence = ?'),
    release: database.prepare<[number]>('DELETE FROM review_reservations WHERE reviewer = ?'),
  };
}

const keyOf = (name: string) => name.normalize('NFC').toLowerCase();

function taken(field: string, message: string): AppError {
  return new AppError('conflict', message, { details: [{ field, issue: 'is taken' }] });
}

const idCharacters = 36;

/** Stores a reviewer as other hosts know it. */
function createAdopter(
  {
    findAny,
    findByCaller,
    findByName,
    isOwn,
    remove,
    insert,
    takeId,
    takeOver,
    rename,
    setPin,
  }: ReturnType<typeof statements>,
  freeName: (name: string) => string,
) {
  return ({ id, name, pinHash, callerId, isRemoved }: SharedReviewer): void => {
    const sameCaller = callerId === null ? undefined : findByCaller.get(callerId);
    const found = findAny.get(id) ?? sameCaller;
    if (isRemoved) {
      if (found && isOwn.get(found.id)) remove.run(Date.now(), found.sequence);
      return;
    }
    if (found === undefined) {
      const free = freeName(name);
      insert.run({ id, name: free, nameKey: keyOf(free), pinHash, callerId, now: Date.now() });
      return;
    }
    if (found.id !== id) takeId.run(id, found.sequence);
    const named = findByName.get(keyOf(name));
    if (named === undefined || named.id === id) rename.run(name, keyOf(name), found.sequence);
    else if (!isOwn.get(id)) {
      const free = freeName(name);
      rename.run(free, keyOf(free), found.sequence);
    }
    takeOver.run(found.sequence);
    setPin.run(pinHash, found.sequence);
  };
}

export function createReviewerStore(database: Database.Database, tokenSecret: string): ReviewerStore {
  const prepared = statements(database);
  const {
    page,
    find,
    findByCaller,
    findByName,
    findAny,
    everyone,
    isOwn,
    insertImported,
    keyName,
    insert,
    rename,
    setPin,
    remove,
    release,
  } = prepared;

  function read(id: string): StoredReviewer {
    const found = find.get(id.toLowerCase());
    if (!found) throw new AppError('not_found', 'No reviewer has this ID.');
    return found;
  }

  function tokenOf({ id, pinHash }: StoredReviewer): string {
    const seal = createHmac('sha256', tokenSecret)
      .update(`reviewer\0${id}\0${pinHash ?? ''}`)
      .digest('base64url');
    return `${id}.${seal}`;
  }

  function requireFreeName(name: string, own: string | null): void {
    const other = findByName.get(keyOf(name));
    if (other && other.id !== own) throw taken('name', `A reviewer is called ${other.name} already.`);
  }

  const create = database.transaction((reviewer: NewReviewer): StoredReviewer => {
    requireFreeName(reviewer.name, null);
    const other = reviewer.callerId === null ? undefined : findByCaller.get(reviewer.callerId);
    if (other) throw taken('apiKeyId', `This API key reviews as ${other.name} already.`);
    const id = randomUUID();
    insert.run({ ...reviewer, id, nameKey: keyOf(reviewer.name), now: Date.now() });
    return read(id);
  });

  /** With a number if the name is taken. */
  function freeName(name: string): string {
    for (let number = 2, free = name; ; free = `${name} ${number}`, number += 1)
      if (!findByName.get(keyOf(free))) return free;
  }

  const ensure = database.transaction((callerId: string, fallbackName: string): StoredReviewer => {
    const found = findByCaller.get(callerId);
    if (found) return found;
    const name = freeName((keyName.get(callerId) ?? fallbackName).trim().slice(0, 90) || fallbackName);
    return create({ name, pinHash: null, callerId });
  });

  const adopt = database.transaction(createAdopter(prepared, freeName));

  const update = database.transaction<ReviewerStore['update']>((id, { name, pinHash }) => {
    const { sequence, id: own } = read(id);
    if (name !== undefined) {
      requireFreeName(name, own);
      rename.run(name, keyOf(name), sequence);
    }
    if (pinHash !== undefined) setPin.run(pinHash, sequence);
  });

  return {
    list: newestList({ tokenSecret, name: 'reviewers', rows: (input) => page.all(input), toItem: (row) => row }),
    find: (id) => find.get(id.toLowerCase()) ?? null,
    read,
    findByCaller: (callerId) => findByCaller.get(callerId) ?? null,
    create: (reviewer) => create.immediate(reviewer),
    ensureForCaller: (callerId, fallbackName) => findByCaller.get(callerId) ?? ensure.immediate(callerId, fallbackName),
    everyone: () => everyone.all(),
    adopt: (reviewer) => adopt.immediate(reviewer),
    teamStates: () => prepared.teamStates.all(),
    setTeamState: (id, state) => void prepared.setTeamState.run(state, id),
    isOwn: (id) => isOwn.get(id.toLowerCase()) !== undefined,
    ensureImported({ id: given, name, installationId }) {
      const id = given.toLowerCase();
      const found = findAny.get(id);
      if (found) return found;
      insertImported.run(id, name, keyOf(name), installationId, Date.now());
      return findAny.get(id)!;
    },
    update: (id, change) => update.immediate(id, change),
    remove(id) {
      const { sequence } = read(id);
      remove.run(Date.now(), sequence);
      release.run(sequence);
    },
    tokenOf,
    findByToken(token) {
      const found = find.get(token.slice(0, idCharacters));
      const given = Buffer.from(token);
      const expected = Buffer.from(found ? tokenOf(found) : '');
      return found && expected.length === given.length && timingSafeEqual(expected, given) ? found : null;
    },
  };
}
