import type Database from 'better-sqlite3';

/** A response that a later call may continue. */
export interface ContinuedResponse {
  readonly runId: string;
  /** Whether its system message holds for the later call, too. */
  readonly keepsSystem: boolean;
}

/** What an item of a response is in the answer of its run: a part of its text, or a call. Neither for reasoning, which no provider takes from others. */
export interface AnswerItem {
  /** Its start and its end in the text. */
  readonly text: readonly [number, number] | null;
  /** Its index among the calls. */
  readonly call: number | null;
}

/** A response's item that a later call may refer to. */
export interface ReferredItem {
  readonly runId: string;
  readonly item: AnswerItem;
}

/** Finds the conversation of a recorded call by what the call repeats of earlier ones. */
export interface ThreadStore {
  /** The conversation of the first known key; null if none is known. */
  find(keys: readonly string[]): string | null;
  /** The response with this key; null for none, and for a key of something else. */
  findResponse(key: string): ContinuedResponse | null;
  /** The item with this key; null for none. */
  findItem(key: string): ReferredItem | null;
  /** A key is written a moment later, together with others. */
  note(key: string, conversationId: string, response?: ContinuedResponse): void;
  noteItem(key: string, conversationId: string, item: ReferredItem): void;
  /** Writes the queue. */
  flush(): void;
}

/** Keys that are remembered. An agent's calls are minutes apart, so the newest ones matter. */
const maxKeys = 200_000;
interface Thread {
  readonly conversationId: string;
  readonly response: ContinuedResponse | null;
  readonly item: ReferredItem | null;
}

const writeDelayMilliseconds = 200;
/** Rows that one write removes beyond those it adds. */
const pruneSlice = 256;

function threadStatements(database: Database.Database) {
  const find = database.prepare<[string], string>('SELECT conversation_id FROM call_threads WHERE key = ?').pluck();
  const findRun = database.prepare<[string], { run_id: string; keeps_system: number }>(
    'SELECT run_id, keeps_system FROM call_threads WHERE key = ? AND run_id IS NOT NULL',
  );
  const findItem = database.prepare<[string], { run_id: string; item_json: string }>(
    'SELECT run_id, item_json FROM call_threads WHERE key = ? AND item_json IS NOT NULL',
  );
  const insert = database.prepare<[string, string, string | null, number, string | null]>(
    'INSERT OR REPLACE INTO call_threads (key, conversation_id, run_id, keeps_system, item_json) VALUES (?, ?, ?, ?, ?)',
  );
  const prune = database.prepare<[{ keep: number; limit: number }]>(
    `DELETE FROM call_threads WHERE sequence IN (
       SELECT sequence FROM call_threads
       WHERE sequence <= (SELECT max(sequence) FROM call_threads) - @keep ORDER BY sequence LIMIT @limit
     )`,
  );
  const write = database.transaction((entries: readonly [string, Thread][]) => {
    for (const [key, { conversationId, response, item }] of entries) {
      const runId = (response ?? item)?.runId ?? null;
      const json = item === null ? null : JSON.stringify(item.item);
      insert.run(key, conversationId, runId, response?.keepsSystem === true ? 1 : 0, json);
    }
    prune.run({ keep: maxKeys, limit: entries.length + pruneSlice });
  });
  return { find, findRun, findItem, write };
}

export function createThreadStore(database: Database.Database): ThreadStore {
  const queue = new Map<string, Thread>();
  let timer: NodeJS.Timeout | null = null;
  const { find, findRun, findItem, write } = threadStatements(database);

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

  function add(key: string, thread: Thread): void {
    queue.set(key, thread);
    timer ??= setTimeout(flush, writeDelayMilliseconds).unref();
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
    findItem(key) {
      const queued = queue.get(key);
      if (queued) return queued.item;
      const row = findItem.get(key);
      return row ? { runId: row.run_id, item: JSON.parse(row.item_json) as AnswerItem } : null;
    },
    note: (key, conversationId, response) => add(key, { conversationId, response: response ?? null, item: null }),
    noteItem: (key, conversationId, item) => add(key, { conversationId, response: null, item }),
  };
}
