import type Database from 'better-sqlite3';

/** A response that a later call may continue. */
export interface ContinuedResponse {
  readonly runId: string;
  /** Whether its system message holds for the later call, too. */
  readonly keepsSystem: boolean;
}

/** Finds the conversation of a recorded call by what the call repeats of earlier ones. */
export interface ThreadStore {
  /** The conversation of the first known key; null if none is known. */
  find(keys: readonly string[]): string | null;
  /** The response with this key; null for none, and for a key of something else. */
  findResponse(key: string): ContinuedResponse | null;
  /** A key is written a moment later, together with others. */
  note(key: string, conversationId: string, response?: ContinuedResponse): void;
  /** Writes the queue. */
  flush(): void;
}

/** Keys that are remembered. An agent's calls are minutes apart, so the newest ones matter. */
const maxKeys = 200_000;
interface Thread {
  readonly conversationId: string;
  readonly response: ContinuedResponse | null;
}

const writeDelayMilliseconds = 200;
/** Rows that one write removes beyond those it adds. */
const pruneSlice = 256;

export function createThreadStore(database: Database.Database): ThreadStore {
  const queue = new Map<string, Thread>();
  let timer: NodeJS.Timeout | null = null;
  const find = database.prepare<[string], string>('SELECT conversation_id FROM call_threads WHERE key = ?').pluck();
  const findRun = database.prepare<[string], { run_id: string; keeps_system: number }>(
    'SELECT run_id, keeps_system FROM call_threads WHERE key = ? AND run_id IS NOT NULL',
  );
  const insert = database.prepare<[string, string, string | null, number]>(
    'INSERT OR REPLACE INTO call_threads (key, conversation_id, run_id, keeps_system) VALUES (?, ?, ?, ?)',
  );
  const prune = database.prepare<[{ keep: number; limit: number }]>(
    `DELETE FROM call_threads WHERE sequence IN (
       SELECT sequence FROM call_threads
       WHERE sequence <= (SELECT max(sequence) FROM call_threads) - @keep ORDER BY sequence LIMIT @limit
     )`,
  );
  const write = database.transaction((entries: readonly [string, Thread][]) => {
    for (const [key, { conversationId, response }] of entries)
      insert.run(key, conversationId, response?.runId ?? null, response?.keepsSystem === true ? 1 : 0);
    prune.run({ keep: maxKeys, limit: entries.length + pruneSlice });
  });

  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (queue.size === 0) return;
    const entries = [...queue];
    queue.clear();
    try {
      write.immediate(entries);
    } catch {
      // The disk is full. The next call then starts a conversation of its own, which is all that is lost.
    }
  }

  return {
    flush,
    find(keys) {
      for (const key of keys) {
        const conversationId = queue.get(key)?.conversationId ?? find.get(key);
        if (conversationId !== undefined) return conversationId;
      }
      return null;
    },
    findResponse(key) {
      const queued = queue.get(key);
      if (queued) return queued.response;
      const row = findRun.get(key);
      return row ? { runId: row.run_id, keepsSystem: row.keeps_system === 1 } : null;
    },
    note(key, conversationId, response) {
      queue.set(key, { conversationId, response: response ?? null });
      timer ??= setTimeout(flush, writeDelayMilliseconds).unref();
    },
  };
}
