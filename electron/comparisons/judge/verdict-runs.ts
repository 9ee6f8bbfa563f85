import { createHash } from 'node:crypto';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import type { JudgeVerdict } from '../../../shared/contract/judges.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import type { Completions, RunOrigin } from '../../completions/completions.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { JudgeStore, StoredJudge, StoredVerdict } from '../../storage/judge-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import type { CheckedRow } from '../checks/expected.ts';
import { judgeAnswer } from './run-judge.ts';
import { canonical, judgeHashOf, noVerdict, parseVerdict } from './verdicts.ts';

export interface JudgeOptions {
  readonly origin: RunOrigin;
  readonly signal: AbortSignal;
}

/** An answer that is judged. */
export interface JudgedAnswer {
  readonly runId: string;
  readonly answer: string;
  readonly row: CheckedRow;
}

/** The answers of runs, and what judges said of them. */
export interface VerdictRuns {
  /** Throws `not_found` also for a run of another caller, and `invalid_request` with the field for one that isn't completed. */
  readAnswer(runId: string, field: string, reader: FileReader): JudgedAnswer & { readonly isHeldOut: boolean };
  /** The verdict that the judge as it is gave before; null if it gave none, or if its run was deleted. */
  find(judge: StoredJudge, runId: string): JudgeVerdict | null;
  /** US dollars of its runs; null if a price is unknown. */
  costOf(verdict: JudgeVerdict): number | null;
  /** That verdict, or else a new one. */
  judge(judge: StoredJudge, answer: JudgedAnswer, options: JudgeOptions): Promise<JudgeVerdict>;
}

export interface VerdictRunsOptions {
  readonly store: JudgeStore;
  readonly runs: Pick<RunStore, 'read'>;
  readonly completions: Pick<Completions, 'start'>;
}

/**
 * Half of the rows are for improving the prompt, and the other half only for measuring. All answers of a row are in one half: otherwise the
 * prompt would be measured with what it was improved with. Only the half is kept, not the hash: who has a row could find it by its hash.
 */
export function isHeldOut({
  replacements,
  renderedPrompt,
}: Pick<RunDetail['input'], 'replacements' | 'renderedPrompt'>): boolean {
  const values = JSON.stringify(canonical(replacements ?? { prompt: renderedPrompt }));
  // Hashed twice, as the labels of earlier versions were.
  const key = createHash('sha256').update(values).digest('hex').slice(0, 32);
  return (createHash('sha256').update(key).digest()[0]! & 1) === 1;
}

export function createVerdictRuns({ store, runs, completions }: VerdictRunsOptions): VerdictRuns {
  function find({ sequence, input }: StoredJudge, runId: string): JudgeVerdict | null {
    const found = store.verdict(sequence, runId);
    const judgeHash = judgeHashOf(input);
    const run = found?.judgeHash === judgeHash ? runs.read(found.judgeRunId) : null;
    if (run?.status !== 'Completed') return null;
    const { content, finishReason } = run.output;
    const parsed =
      finishReason === 'Stop'
        ? parseVerdict(input.verdict, content)
        : noVerdict('The answer of the judge is not complete');
    return { judgeHash, runIds: [run.runId], ...parsed };
  }

  return {
    readAnswer(runId, field, { callerId, canReadAll }) {
      const run = runs.read(runId.toLowerCase());
      if (!run || (!canReadAll && run.callerId !== callerId)) throw new AppError('not_found', 'No run has this ID.');
      if (run.status !== 'Completed') throw invalidField(field, 'is not a completed run');
      const row = run.input.replacements ?? {};
      return { runId: run.runId, answer: run.output.content, row, isHeldOut: isHeldOut(run.input) };
    },
    find,
    costOf({ runIds }) {
      const costs = runIds.map((runId) => runs.read(runId)?.cost ?? null);
      return costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + cost!, 0);
    },
    async judge(judge, { runId, answer, row }, options) {
      const stored = find(judge, runId);
      if (stored) return stored;
      const call = { judge: judge.input, row, metadata: { judgeId: judge.id, judgedRunId: runId }, ...options };
      const found = await judgeAnswer(completions, call, answer);
      const verdict = found.verdict as StoredVerdict['verdict'];
      store.setVerdict(judge.sequence, { runId, judgeHash: found.judgeHash, judgeRunId: found.runIds[0]!, verdict });
      return found;
    },
  };
}
