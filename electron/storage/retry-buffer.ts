import type { AppError } from '../../shared/app-error.ts';
import type { NewRun, RunOutcome } from './run-rows.ts';

/** Beyond this many characters of buffered runs, a run isn't recorded. Its caller already got the failure. */
const maxCharacters = 64 * 1_048_576;

/** Time until an automatic retry. */
const retryMilliseconds = 1000;

/** A run that has ended. */
interface EndedRun {
  readonly run: NewRun;
  outcome: RunOutcome | null;
  /** Whether its caller has the outcome already. */
  isAnswered: boolean;
}

/** Runs that ended while the disk was failing. They stay in memory until they can be written. */
export interface RetryBuffer<Run extends EndedRun> {
  /** Buffers a run. If its caller gets the failure, a completed run is buffered as failed, with its text. */
  hold(run: Run, failure: AppError): void;
  /** Writes the buffered runs until the disk fails again. */
  writeAll(): void;
  /** Throws the last failure while runs are buffered, because a run that can't be stored must not cost credits. */
  requireNone(): void;
  readonly isEmpty: boolean;
}

export function charactersOf({ run, outcome }: EndedRun): number {
  return run.promptText.length + run.renderedPrompt.length + (outcome?.content.length ?? 0);
}

function withFailure(outcome: RunOutcome, { code, message }: AppError): RunOutcome {
  // The program of a recorded call has its response already.
  if (outcome.status !== 'Completed' || outcome.httpStatus !== undefined) return outcome;
  return { ...outcome, status: 'Failed', finishReason: 'Error', error: { code, message } };
}

/** `write` returns whether the run was written. If not, it may be buffered again. */
export function createRetryBuffer<Run extends EndedRun>(write: (run: Run) => boolean): RetryBuffer<Run> {
  const pending = new Set<Run>();
  let characters = 0;
  let lastFailure: AppError | null = null;
  let timer: NodeJS.Timeout | null = null;

  function writeAll(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const run of pending) {
      pending.delete(run);
      characters -= charactersOf(run);
      // Buffering it again moves it to the end, where this loop would find it again.
      if (!write(run)) break;
    }
    if (pending.size > 0) timer ??= setTimeout(writeAll, retryMilliseconds).unref();
  }

  return {
    hold(run, failure) {
      lastFailure = failure;
      if (run.outcome === null || pending.has(run) || characters + charactersOf(run) > maxCharacters) return;
      if (!run.isAnswered) run.outcome = withFailure(run.outcome, failure);
      pending.add(run);
      characters += charactersOf(run);
      timer ??= setTimeout(writeAll, retryMilliseconds).unref();
    },
    writeAll,
    get isEmpty() {
      return pending.size === 0;
    },
    requireNone() {
      if (pending.size === 0) return;
      writeAll();
      if (pending.size > 0) throw lastFailure!;
    },
  };
}
