import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { NewRun, RunOutcome, UnreadOutcome } from './run-rows.ts';

/** How a run ended. */
export type JournalEnd = { readonly outcome: RunOutcome } | { readonly unread: UnreadOutcome };

export type JournalEntry = EndedRun & JournalEnd;

/** A run that has ended and isn't in the database yet. */
export interface EndedRun {
  /** Without the rest if the start of the run is in the database. */
  readonly run: NewRun | Pick<NewRun, 'runId' | 'apiKeyId'>;
  /** The name of a conversation that isn't in the database yet. */
  readonly conversationName: string | null;
}

/** Ended runs in a file beside the database, until they are in it. One write to a file takes a tenth of a commit. */
export interface RunJournal {
  /** The entries of a host that ended before it had written them. An entry that was cut off is left out: its caller got no answer. */
  read(): JournalEntry[];
  /** Adds entries in one write, which survives the end of the process. Returns whether the disk took them. `runJson` is the run, if that was made before. */
  append(entries: readonly (JournalEntry & { readonly runJson?: string | null })[]): boolean;
  /** Removes all entries. */
  clear(): void;
  close(): void;
}

/** More than runs of some milliseconds have. Runs that the database doesn't take for a while may fill the file. */
const maxBytes = 64 * 1_048_576;

/** Empty for part of an entry, which can be JSON, too. */
function parsed(line: string): JournalEntry[] {
  try {
    const entry = JSON.parse(line) as JournalEntry | null;
    return typeof entry?.run?.runId === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}

export function createRunJournal(directory: string): RunJournal {
  const file = join(directory, 'touchstone.ended-runs');
  let handle: number | null = null;
  let length = 0;

  /** Throws if the disk fails. On Windows, a file that is open for appending can't be truncated. */
  const open = (): number => (handle ??= openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600));

  /** Returns false on a full disk. The next entry then overwrites what is there of this one. */
  function write(bytes: Buffer): boolean {
    if (writeSync(open(), bytes, 0, bytes.length, length) < bytes.length) return false;
    length += bytes.length;
    return true;
  }

  return {
    read() {
      try {
        const bytes = readFileSync(file);
        length = bytes.length;
        return bytes.toString('utf8').split('\n').flatMap(parsed);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
    append(entries) {
      if (length > maxBytes) return false;
      try {
        const lines = entries.map(
          ({ runJson, run, ...rest }) => `{"run":${runJson ?? JSON.stringify(run)},${JSON.stringify(rest).slice(1)}\n`,
        );
        return write(Buffer.from(lines.join('')));
      } catch {
        return false;
      }
    },
    clear() {
      if (length === 0) return;
      try {
        ftruncateSync(open(), 0);
        length = 0;
      } catch {
        // The next call tries again. Until then, the next start finds that the database has these runs.
      }
    },
    close() {
      if (handle !== null) closeSync(handle);
      handle = null;
    },
  };
}
