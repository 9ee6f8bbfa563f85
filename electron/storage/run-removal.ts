import type Database from 'better-sqlite3';

/** Takes runs out of the database. Everything here belongs inside a transaction. */
export interface RunRemoval {
  /** Removes runs with their texts and feedback; a conversation without runs goes too. What was paid for them stays. */
  remove(runs: readonly { readonly sequence: number; readonly conversation: number }[]): void;
}

/** What was removed so far, for those who count runs by their sequences. */
export interface RemovedRuns {
  lastRun(): number;
  count(): number;
}

export function createRemovedRuns(database: Database.Database): RemovedRuns {
  const read = database.prepare<[], { last_run: number; runs: number }>('SELECT last_run, runs FROM removed_runs');
  return { lastRun: () => read.get()!.last_run, count: () => read.get()!.runs };
}

export function createRunRemoval(database: Database.Database): RunRemoval {
  const removeFeedback = database.prepare<[number]>('DELETE FROM feedback WHERE run = ?');
  const removeTexts = database.prepare<[number]>('DELETE FROM run_texts WHERE run = ?');
  const removeRun = database.prepare<[number]>('DELETE FROM runs WHERE sequence = ?');
  const noteChange = database.prepare<[number]>("INSERT INTO run_changes (run, kind) VALUES (?, 'run')");
  const noteRemoval = database.prepare<[number, number]>(
    'UPDATE removed_runs SET last_run = max(last_run, ?), runs = runs + ?',
  );
  const newest = database
    .prepare<[number], number | null>('SELECT max(sequence) FROM runs WHERE conversation = ?')
    .pluck();
  const removeConversation = database.prepare<[number]>('DELETE FROM conversations WHERE sequence = ?');
  const setNewest = database.prepare<[number, number]>('UPDATE conversations SET last_run = ? WHERE sequence = ?');

  return {
    remove(runs) {
      for (const { sequence } of runs) {
        removeFeedback.run(sequence);
        removeTexts.run(sequence);
        removeRun.run(sequence);
        noteChange.run(sequence);
      }
      noteRemoval.run(Math.max(0, ...runs.map(({ sequence }) => sequence)), runs.length);
      for (const conversation of new Set(runs.map((run) => run.conversation))) {
        const last = newest.get(conversation) ?? null;
        if (last === null) removeConversation.run(conversation);
        else setNewest.run(last, conversation);
      }
    },
  };
}
