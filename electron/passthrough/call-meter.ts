import type { z } from 'zod';
import type { AppError } from '../../shared/app-error.ts';
import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import type { recorderState } from '../../shared/contract/passthrough.ts';
import type { Log } from '../log.ts';

type HiddenCount = z.infer<typeof recorderState>['hidden'][number];
type Rejection = z.infer<typeof recorderState>['lastRejection'];

/** Calls since the host started. */
export interface RecorderCounts {
  readonly calls: number;
  readonly recorded: number;
  readonly failed: number;
  readonly lastFailureAt: string | null;
  /** Of a call without a record. */
  readonly lastRejection: Rejection;
  /** How often each rule of redaction replaced something, if it did. */
  readonly hidden: HiddenCount[];
}

/** A web page may send as many requests as it likes. For this long, they don't hide why a program was rejected. */
const shownMilliseconds = 600_000;

const maxFailedRequests = 1000;

/** Counts calls, and reports the first of several failures. */
export function createMeter(log: Log) {
  const counts = { calls: 0, recorded: 0, failed: 0, lastFailureAt: null as string | null };
  const hidden = new Map<string, HiddenCount>();
  let lastRejection: Rejection = null;
  const failed = new Set<string>();
  return {
    counts: (): RecorderCounts => ({ ...counts, lastRejection, hidden: [...hidden.values()] }),
    noteHidden(rules: readonly RedactionRule[], found: readonly number[]): void {
      for (const [index, rule] of rules.entries()) {
        if (!found[index]) continue;
        const pattern = rule.kind === 'pattern' ? rule.pattern : null;
        const key = `${rule.kind} ${pattern}`;
        hidden.set(key, { kind: rule.kind, pattern, count: (hidden.get(key)?.count ?? 0) + found[index] });
      }
    },
    noteCall: () => void (counts.calls += 1),
    noteRecord: () => void (counts.recorded += 1),
    noteFailure(error: unknown): void {
      if (counts.failed === 0 || Date.now() - Date.parse(counts.lastFailureAt!) > 60_000)
        log('a call of another program could not be recorded', error);
      counts.failed += 1;
      counts.lastFailureAt = new Date().toISOString();
    },
    /** An error that a program gets. One with a record is in the list of calls. The source of one with another Host or Origin is unknown. */
    noteRejection(
      { status, message, headers }: Pick<AppError, 'status' | 'message' | 'headers'>,
      source: 'program' | 'unknown',
    ): void {
      if (headers['x-touchstone-run-id'] !== undefined) return;
      const isShown =
        lastRejection?.source === 'program' && Date.now() - Date.parse(lastRejection.at) < shownMilliseconds;
      if (source === 'program' || !isShown) lastRejection = { at: new Date().toISOString(), status, message, source };
    },
    /** A request that failed: the next one like it repeats it. Most programs don't say so. */
    noteFailed(key: string): void {
      failed.add(key);
      if (failed.size > maxFailedRequests) failed.delete(failed.values().next().value!);
    },
    /** Whether a request repeats one that failed. */
    takeFailed: (key: string): boolean => failed.delete(key),
  };
}

export type CallMeter = ReturnType<typeof createMeter>;
