import { createHash } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { Completions, RunOrigin } from '../completions/completions.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import type { StoredCell } from '../storage/comparison-cells.ts';

/** What a finished run says about its cell. */
export type CellOutcome = Pick<
  StoredCell,
  'cost' | 'firstTokenMs' | 'totalMs' | 'promptTokens' | 'completionTokens' | 'answerHash'
>;

interface Answer {
  readonly content: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

/** The same for equal answers: of the text and of the calls, without their ids. */
function answerHashOf({ content, toolCalls = [] }: Answer): string {
  const hash = createHash('sha256').update(content);
  for (const { name, arguments: text } of toolCalls) hash.update(`\0${name}\0${text}`);
  return hash.digest('hex').slice(0, 16);
}

export function outcomeOf(
  outcome: Answer &
    Pick<RunOutcome, 'usage' | 'firstTokenMs'> & { readonly totalMs: number | null; readonly cost: number | null },
): CellOutcome {
  return {
    cost: outcome.cost,
    firstTokenMs: outcome.firstTokenMs,
    totalMs: outcome.totalMs,
    promptTokens: outcome.usage?.prompt_tokens ?? null,
    completionTokens: outcome.usage?.completion_tokens ?? null,
    answerHash: answerHashOf(outcome),
  };
}

export interface CellCall {
  readonly runId: string;
  readonly request: CompletionRequest;
  readonly storedPrompt: { readonly promptId: string; readonly promptVersionId: string } | null;
  readonly isHistoryVariable: boolean;
  readonly origin: RunOrigin;
  readonly signal: AbortSignal;
}

/** Runs a cell. Resolves when its run is on disk. Throws as a completion does. */
export async function runCell(completions: Pick<Completions, 'start'>, call: CellCall): Promise<RunOutcome> {
  const { runId, request, storedPrompt, isHistoryVariable, origin, signal } = call;
  const { run } = await completions.start(request, origin, {
    signal,
    runId,
    isHistoryVariable,
    ...(storedPrompt && { storedPrompt }),
  });
  // Streamed, so that the time to the first token is known.
  for await (const _ of run.stream());
  if (run.outcome === null) throw new AppError('internal', 'The run ended without an outcome.');
  return run.outcome;
}

/** Failures after which every other cell would fail, too. The comparison stops. */
const stoppingCodes = new Set([
  'credits_exhausted',
  'provider_not_configured',
  'provider_key_refused',
  'model_not_installed',
  // The key that pays was revoked.
  'unauthorized',
]);
/** Failures that another attempt may not have. */
const passingCodes = new Set(['provider_failed', 'provider_overloaded', 'provider_silent']);

export type FailureKind = 'rate-limited' | 'stopping' | 'passing' | 'final';

export function kindOfFailure(error: unknown): FailureKind {
  if (!(error instanceof AppError)) return 'final';
  if (error.code === 'rate_limited') return 'rate-limited';
  if (stoppingCodes.has(error.code)) return 'stopping';
  return passingCodes.has(error.code) ? 'passing' : 'final';
}
