import { createHash } from 'node:crypto';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import type { JudgeVerdict } from '../../../shared/contract/judges.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import { createMutex } from '../../common/mutex.ts';
import type { Completions, RunOrigin } from '../../completions/completions.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { JudgeStore, StoredJudge, StoredVerdict } from '../../storage/judge-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import type { Providers } from '../../providers/create-providers.ts';
import type { CallLimits } from '../call-limits.ts';
import type { CheckedRow } from '../checks/expected.ts';
import { type CallOnce, judgeAnswer, judgePreference } from './run-judge.ts';
import { canonical, judgeHashOf, noVerdict, parseVerdict } from './verdicts.ts';

export interface JudgeOptions {
  readonly origin: RunOrigin;
  readonly signal: AbortSignal;
}

/** How a judge is asked about the answers of a comparison. */
export interface JudgingOptions {
  /** Calls at a time at its provider. */
  readonly concurrency: number;
  /** Whether it is asked again if it gave no verdict, such as an answer outside its schema. */
  readonly asksAgain?: boolean;
  /** Called with the cost of each run in US dollars, 0 if its price is unknown, also if a later one fails. */
  readonly onCost?: (cost: number) => void;
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
  costOf(verdict: Pick<JudgeVerdict, 'runIds'>): number | null;
  /** A new verdict, which replaces it. */
  ask(judge: StoredJudge, answer: JudgedAnswer, options: JudgeOptions): Promise<JudgeVerdict>;
  /** Which of two answers of a row a judge of preferences prefers, asked in both orders. */
  askPair(
    judge: StoredJudge,
    answers: readonly [JudgedAnswer, JudgedAnswer],
    options: JudgeOptions & { readonly callOnce: CallOnce },
  ): Promise<JudgeVerdict>;
  /** The verdict on a run, or for a judge of preferences on two. Throws `invalid_request` with the field, and as `readAnswer`. */
  judgeRuns(
    judge: StoredJudge,
    runIds: readonly [runId: string, otherRunId: string | undefined],
    reader: FileReader,
    options: JudgeOptions,
  ): Promise<JudgeVerdict>;
}

/** Runs of one calibration at a time. */
export const parallel = 4;

/**
 * Resolves when all answers have verdicts. After a failure the others aren't judged, because most would fail, too. Those that are being judged keep
 * their verdicts, which are paid for.
 */
export async function judgeAll<Answer>(
  judgeOne: (answer: Answer) => Promise<unknown>,
  answers: readonly Answer[],
  outer: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const mutex = createMutex(() => undefined, { concurrency: parallel });
  const calls = answers.map(async (answer) => {
    const release = await mutex.take({ signal });
    try {
      await judgeOne(answer);
    } catch (error) {
      failed.abort(error);
    } finally {
      release();
    }
  });
  await Promise.allSettled(calls);
  signal.throwIfAborted();
}

export interface VerdictRunsOptions {
  readonly store: JudgeStore;
  readonly runs: Pick<RunStore, 'read'>;
  readonly completions: Pick<Completions, 'start'>;
}

export interface JudgesOptions extends VerdictRunsOptions {
  readonly limits: CallLimits;
  readonly providers: Pick<Providers, 'resolve'>;
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

/** Throws `not_found` for a run that the reader may not see, and `invalid_request` with the field. */
function answerOf(
  runs: VerdictRunsOptions['runs'],
  runId: string,
  field: string,
  { callerId, canReadAll }: FileReader,
): ReturnType<VerdictRuns['readAnswer']> {
  const run = runs.read(runId.toLowerCase());
  if (!run || (!canReadAll && run.callerId !== callerId)) throw new AppError('not_found', 'No run has this ID.');
  if (run.status !== 'Completed') throw invalidField(field, 'is not a completed run');
  const row = run.input.replacements ?? {};
  return { runId: run.runId, answer: run.output.content, row, isHeldOut: isHeldOut(run.input) };
}

/** Null if one is unknown. */
export function sumOfCosts(costs: readonly (number | null)[]): number | null {
  return costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + cost!, 0);
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

  const readAnswer: VerdictRuns['readAnswer'] = (runId, field, reader) => answerOf(runs, runId, field, reader);

  async function ask(judge: StoredJudge, { runId, answer, row }: JudgedAnswer, options: JudgeOptions) {
    const call = { judge: judge.input, row, metadata: { judgeId: judge.id, judgedRunId: runId }, ...options };
    const found = await judgeAnswer(completions, call, answer);
    const verdict = found.verdict as StoredVerdict['verdict'];
    store.setVerdict(judge.sequence, { runId, judgeHash: found.judgeHash, judgeRunId: found.runIds[0]!, verdict });
    return found;
  }

  async function askPair(
    judge: StoredJudge,
    [first, second]: readonly [JudgedAnswer, JudgedAnswer],
    { callOnce, ...options }: JudgeOptions & { readonly callOnce: CallOnce },
  ): Promise<JudgeVerdict> {
    const { runId, row } = first;
    const metadata = { judgeId: judge.id, judgedRunId: runId, otherRunId: second.runId };
    const call = { judge: judge.input, row, metadata, ...options };
    const answers = { first: first.answer, second: second.answer };
    const found = await judgePreference(completions, call, answers, callOnce);
    const { judgeHash, verdict } = found;
    if (verdict === 'first' || verdict === 'second' || verdict === 'tie')
      store.setPreference(judge.sequence, { runId, otherRunId: second.runId, judgeHash, verdict });
    return found;
  }

  return {
    readAnswer,
    find,
    askPair,
    costOf: ({ runIds }) => sumOfCosts(runIds.map((runId) => runs.read(runId)?.cost ?? null)),
    ask,
    async judgeRuns(judge, [runId, otherRunId], reader, options) {
      const first = readAnswer(runId, 'runId', reader);
      if (judge.input.verdict.kind !== 'preference') {
        if (otherRunId !== undefined) throw invalidField('otherRunId', 'is only for a judge of preferences');
        return find(judge, first.runId) ?? ask(judge, first, options);
      }
      if (otherRunId === undefined) throw invalidField('otherRunId', 'is required for a judge of preferences');
      const second = readAnswer(otherRunId, 'otherRunId', reader);
      return askPair(judge, [first, second], { ...options, callOnce: (call) => call(options.origin) });
    },
  };
}
