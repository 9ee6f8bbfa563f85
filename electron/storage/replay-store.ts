import type Database from 'better-sqlite3';
import type { ReplayTarget } from '../../shared/contract/audit-replay.ts';

export type ReplayState = 'running' | 'stopped' | 'completed';
export type ReplayedRunState = 'waiting' | 'running' | 'completed' | 'failed';

/** A stored replay. Times are milliseconds since 1970. */
export interface StoredReplay {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly state: ReplayState;
  readonly target: ReplayTarget;
  readonly parallel: number;
  readonly createdAt: number;
  readonly completedAt: number | null;
}

/** One run of a replay: the id of the original and of the newest attempt. */
export interface ReplayedRun {
  readonly position: number;
  readonly original: string;
  readonly state: ReplayedRunState;
  readonly replayed: string | null;
  readonly failure: string | null;
}

export interface ReplayStore {
  create(replay: Omit<StoredReplay, 'sequence' | 'completedAt'>, originals: readonly string[]): StoredReplay;
  /** Oldest first. */
  list(): StoredReplay[];
  runs(replay: number): ReplayedRun[];
  setState(replay: number, state: ReplayState, completedAt: number | null): void;
  setRun(replay: number, run: Omit<ReplayedRun, 'original'>): void;
  remove(replay: number): void;
}

interface ReplayRow {
  sequence: number;
  id: string;
  name: string;
  state: ReplayState;
  target_json: string;
  parallel: number;
  created_at: number;
  completed_at: number | null;
}

function replayOf({ target_json, created_at, completed_at, ...row }: ReplayRow): StoredReplay {
  return { ...row, target: JSON.parse(target_json) as ReplayTarget, createdAt: created_at, completedAt: completed_at };
}

export function createReplayStore(database: Database.Database): ReplayStore {
  const insert = database.prepare<[Omit<ReplayRow, 'sequence' | 'completed_at'>], ReplayRow>(
    `INSERT INTO replays (id, name, state, target_json, parallel, created_at)
     VALUES (@id, @name, @state, @target_json, @parallel, @created_at) RETURNING *`,
  );
  const insertRun = database.prepare<[number, number, string]>(
    "INSERT INTO replayed_runs (replay, position, original, state) VALUES (?, ?, ?, 'waiting')",
  );
  const all = database.prepare<[], ReplayRow>('SELECT * FROM replays ORDER BY sequence');
  const runs = database.prepare<[number], ReplayedRun>(
    'SELECT position, original, state, replayed, failure FROM replayed_runs WHERE replay = ? ORDER BY position',
  );
  const setState = database.prepare<[ReplayState, number | null, number]>(
    'UPDATE replays SET state = ?, completed_at = ? WHERE sequence = ?',
  );
  const setRun = database.prepare<[Omit<ReplayedRun, 'original'> & { replay: number }]>(
    `UPDATE replayed_runs SET state = @state, replayed = @replayed, failure = @failure
     WHERE replay = @replay AND position = @position`,
  );
  const remove = database.prepare<[number]>('DELETE FROM replays WHERE sequence = ?');

  return {
    create: database.transaction(
      (replay: Omit<StoredReplay, 'sequence' | 'completedAt'>, originals: readonly string[]) => {
        const { id, name, state, target, parallel, createdAt } = replay;
        const row = insert.get({
          id,
          name,
          state,
          parallel,
          target_json: JSON.stringify(target),
          created_at: createdAt,
        })!;
        for (const [position, original] of originals.entries()) insertRun.run(row.sequence, position, original);
        return replayOf(row);
      },
    ),
    list: () => all.all().map(replayOf),
    runs: (replay) => runs.all(replay),
    setState: (replay, state, completedAt) => void setState.run(state, completedAt, replay),
    setRun: (replay, run) => void setRun.run({ ...run, replay }),
    remove: (replay) => void remove.run(replay),
  };
}
