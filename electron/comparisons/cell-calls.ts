import { AppError } from '../../shared/app-error.ts';
import type { Completions } from '../completions/completions.ts';
import type { Log } from '../log.ts';
import type { StoredCell } from '../storage/comparison-cells.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import { maxRateLimits } from './call-limits.ts';
import { type CellCall, kindOfFailure, runCell } from './run-cell.ts';

type AbortCause = 'stopped' | 'closing' | 'time limit';

/** The reason of an aborted call. */
export class CallAborted extends Error {
  readonly reason: AbortCause;

  constructor(reason: AbortCause) {
    super(`The call was aborted: ${reason}.`);
    this.reason = reason;
  }
}

export const interruption = {
  code: 'interrupted',
  message: 'Touchstone closed during this run, which may have been charged. Retry it to run it again.',
};

/** Of a row that lacks variables. */
export function missingValues(missing: readonly string[]): { code: string; message: string } {
  const names = missing.slice(0, 10).join(', ');
  return { code: 'missing_value', message: `The row has no value for ${names.slice(0, 500)}.` };
}

type CallResult =
  { readonly status: 'completed'; readonly run: RunOutcome } | { readonly status: 'failed'; readonly error: unknown };

/** The calls of a comparison that have not ended, by the positions of their cells. */
export class ActiveCalls {
  readonly #controllers = new Map<number, AbortController>();

  get size(): number {
    return this.#controllers.size;
  }

  positions(): number[] {
    return [...this.#controllers.keys()];
  }

  /** Never rejects. The error of an aborted call is `CallAborted`. */
  async run(
    completions: Pick<Completions, 'start'>,
    position: number,
    call: Omit<CellCall, 'signal'>,
    timeLimitSeconds: number,
  ): Promise<CallResult> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#controllers.set(position, controller);
    const timer = setTimeout(() => controller.abort(new CallAborted('time limit')), timeLimitSeconds * 1000);
    try {
      return { status: 'completed', run: await runCell(completions, { ...call, signal }) };
    } catch (error) {
      return { status: 'failed', error: signal.aborted ? signal.reason : error };
    } finally {
      clearTimeout(timer);
      this.#controllers.delete(position);
    }
  }

  /** Returns whether there was a call. */
  abort(position: number, cause: AbortCause): boolean {
    const controller = this.#controllers.get(position);
    controller?.abort(new CallAborted(cause));
    return controller !== undefined;
  }

  abortAll(cause: AbortCause): void {
    for (const position of this.positions()) this.abort(position, cause);
  }
}

export function describeFailure(error: unknown, log: Log): { code: string; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  if (error instanceof CallAborted) return { code: 'interrupted', message: error.message };
  log('a cell of a comparison failed', error);
  return { code: 'internal', message: 'Unexpected error in Touchstone. See the log for details.' };
}

/** Whether another call fits the budget, if it and those that have not ended cost as much as the average one. */
export function hasBudget(
  maxCost: number | null,
  { spent, average, active }: { readonly spent: number; readonly average: number; readonly active: number },
): boolean {
  return maxCost === null || (spent < maxCost && spent + average * (active + 1) <= maxCost);
}

export interface FailureDetails {
  readonly failure: { readonly code: string; readonly message: string };
  /** Calls of the cell since the start, with those that met a rate limit. */
  readonly calls: number;
  /** That the comparison allows. */
  readonly attempts: number;
  readonly timeLimitSeconds: number;
}

export interface AfterFailure {
  readonly change: Partial<StoredCell>;
  /** Whether every other cell would fail, too. */
  readonly stopsAll: boolean;
}

/** What follows from a failed call. */
export function afterFailure(cell: StoredCell, error: unknown, details: FailureDetails): AfterFailure {
  const { failure, calls, attempts, timeLimitSeconds } = details;
  const end = (change: Partial<StoredCell>) => ({ change, stopsAll: false });
  if (error instanceof CallAborted) {
    if (error.reason === 'stopped') return end({ state: 'Stopped' });
    if (error.reason === 'closing') return end({ state: 'Failed', failure: interruption });
    const message = `The run took longer than ${timeLimitSeconds} s.`;
    return end({ state: 'Failed', failure: { code: 'time_limit', message } });
  }
  const kind = kindOfFailure(error);
  if (kind === 'rate-limited') {
    return end(
      calls >= maxRateLimits ? { state: 'Failed', failure } : { state: 'Waiting', attempts: cell.attempts - 1 },
    );
  }
  if (kind === 'passing' && cell.attempts < attempts) return end({ state: 'Waiting' });
  return { change: { state: 'Failed', failure }, stopsAll: kind === 'stopping' };
}
