import type { AppError } from '../../shared/app-error.ts';
import type { NewRun, RunOutcome } from './storage.ts';

/** Most characters of runs that are held at once. Beyond, a run is lost to the audit; its caller was told that it failed. */
const maxCharacters = 64 * 1_048_576;

/** How long until they are tried again when nobody else asks for it. */
const retryMilliseconds = 1000;

/** A run that has ended. */
interface EndedRun {
  readonly run: NewRun;
  outcome: RunOutcome | null;
}

/** Runs that ended while the disk took nothing, kept in memory until it does. */
export interface RetryBuffer<Run extends EndedRun> {
  /** Keeps a run whose caller is told of the failure; what was completed is kept as failed, with its text. */
  hold(run: Run, failure: AppError): void;
  /** Writes what is held, as far as the disk takes it. */
  writeAll(): void;
  /** Throws what the last one failed with while any are held: a run that could not be kept should not be paid for. */
  requireNone(): void;
}

function charactersOf({ run, outcome }: EndedRun): number {
  return run.promptText.length + run.renderedPrompt.length + (outcome?.content.length ?? 0);
}

function asTold(outcome: RunOutcome, { code, message }: AppError): RunOutcome {
  if (outcome.status !== 'Completed') return outcome;
  return { ...outcome, status: 'Failed', finishReason: 'Error', error: { code, message } };
}

/** `write` returns whether the run was written; one that was not may be held again. */
export function createRetryBuffer<Run extends EndedRun>(write: (run: Run) => boolean): RetryBuffer<Run> {
  const held = new Set<Run>();
  let characters = 0;
  let lastFailure: AppError | null = null;
  let timer: NodeJS.Timeout | null = null;

  function writeAll(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const run of held) {
      held.delete(run);
      characters -= charactersOf(run);
      // Held again it stands at the end, where this would find it once more.
      if (!write(run)) break;
    }
    if (held.size > 0) timer ??= setTimeout(writeAll, retryMilliseconds).unref();
  }

  return {
    hold(run, failure) {
      lastFailure = failure;
      if (run.outcome === null || held.has(run) || characters + charactersOf(run) > maxCharacters) return;
      run.outcome = asTold(run.outcome, failure);
      held.add(run);
      characters += charactersOf(run);
      timer ??= setTimeout(writeAll, retryMilliseconds).unref();
    },
    writeAll,
    requireNone() {
      if (held.size === 0) return;
      writeAll();
      if (held.size > 0) throw lastFailure!;
    },
  };
}
