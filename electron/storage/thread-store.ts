import type Database from 'better-sqlite3';

/** Finds the conversation of a recorded call by what the call repeats of earlier ones. */
export interface ThreadStore {
  /** The conversation of the first known key; null if none is known. */
  find(keys: readonly string[]): string | null;
  /** A key is written a moment later, together with others. */
  note(key: string, conversationId: string): void;
  /** Writes the queue. */
  flush(): void;
}

/** Keys that are remembered. An agent's calls are minutes apart, so the newest ones matter. */
const maxKeys = 200_000;
const writeDelayMilliseconds = 200;
/** Rows that one write removes beyond those it adds. */
const pruneSlice = 256;

export function createThreadStore(database: Database.Database): ThreadStore {
  const queue = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;
  const find = database.prepare<[string], string>('SELECT conversation_id FROM call_threads WHERE key = ?').pluck();
  const insert = database.prepare<[string, string]>(
    'INSERT OR REPLACE INTO call_threads (key, conversation_id) VALUES (?, ?)',
  );
  const prune = database.prepare<[{ keep: number; limit: number }]>(
    `DELETE FROM call_threads WHERE sequence IN (
       SELECT sequence FROM call_threads
       WHERE sequence <= (SELECT max(sequence) FROM call_threads) - @keep ORDER BY sequence LIMIT @limit
     )`,
  );
  const write = database.transaction((entries: readonly [string, string][]) => {
    for (const [key, conversationId] of entries) insert.run(key, conversationId);
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
        const conversationId = queue.get(key) ?? find.get(key);
        if (conversationId !== undefined) return conversationId;
      }
      return null;
    },
    note(key, conversationId) {
      queue.set(key, conversationId);
      timer ??= setTimeout(flush, writeDelayMilliseconds).unref();
    },
  };
}
