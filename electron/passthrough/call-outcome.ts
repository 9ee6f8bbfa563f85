import type { RecordLevel } from '../../shared/contract/common.ts';
import type { RunModeration } from '../../shared/contract/moderation.ts';
import { costOf } from '../providers/model-prices.ts';
import type { ReadOutcome, RunOutcome, UnreadOutcome } from '../storage/run-rows.ts';
import { noResponse, type RecordedResponse, readPassedResponse, withoutSecrets } from './recorded-response.ts';

export interface CallFailure {
  readonly code: string;
  readonly message: string;
}

/** What the outcome of a call has beside what its response says. */
export interface CallEnd extends Pick<UnreadOutcome, 'prices' | 'firstTokenMs' | 'totalMs' | 'completedAt'> {
  readonly level: Exclude<RecordLevel, 'none'>;
  /** Null if no response came. */
  readonly httpStatus: number | null;
  readonly isCancelled: boolean;
  readonly failure: CallFailure | null;
  readonly moderation: RunModeration | null;
}

/** A successful call costs one credit, unless nothing came. */
export const creditsOf = ({ httpStatus, firstTokenMs }: Pick<CallEnd, 'httpStatus' | 'firstTokenMs'>): number =>
  isSuccess(httpStatus) && firstTokenMs !== null ? 1 : 0;

export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** The code of a provider's own error. */
function codeOf(status: number): string {
  if (status === 401 || status === 403) return 'provider_key_refused';
  if (status === 429) return 'rate_limited';
  return status < 500 ? 'invalid_request' : 'provider_failed';
}

/** What a response that has all of its bytes says went wrong; null for a good one. `isCut` is whether not all of them are recorded. */
export function failureIn(
  { error, isComplete }: RecordedResponse,
  { status, statusText }: { readonly status: number; readonly statusText: string },
  isCut: boolean,
): CallFailure | null {
  if (!isSuccess(status)) return { code: codeOf(status), message: error ?? `${status} ${statusText}` };
  if (error !== null) return { code: 'provider_failed', message: error };
  if (isComplete || isCut) return null;
  return { code: 'provider_failed', message: "The provider's response ended before it was complete." };
}

/** What is recorded if reading the response fails, which is a fault of ours. */
export const unreadableResponse = (error: Error): RecordedResponse => ({
  ...noResponse,
  isUnread: true,
  error: `The response could not be read for the record: ${error.message}`,
});

export function outcomeOf(response: RecordedResponse, end: CallEnd): RunOutcome {
  const { content, reasoning, toolCalls, usage, rawUsage, finishReason, frames } = response;
  const { level, prices, httpStatus, firstTokenMs, totalMs, completedAt, isCancelled, failure, moderation } = end;
  const isWhole = level === 'all';
  return {
    status: isCancelled ? 'Cancelled' : failure ? 'Failed' : 'Completed',
    finishReason: isCancelled ? 'Cancelled' : failure ? 'Error' : finishReason,
    error: failure && (isWhole ? failure : { ...failure, message: '' }),
    content: isWhole ? content : '',
    reasoning: isWhole && reasoning !== '' ? reasoning : null,
    usage,
    rawUsage,
    cost: usage === null ? null : costOf(prices, usage, rawUsage),
    credits: creditsOf(end),
    firstTokenMs,
    totalMs,
    completedAt,
    citations: [],
    ...(httpStatus !== null && { httpStatus }),
    ...(frames && { frames }),
    ...(moderation && { moderation }),
    ...(isWhole && toolCalls.length > 0 && { toolCalls }),
  };
}

/** Reads the response of a call that has ended. `body` are its bytes, which may have a secret in parts. Calls `onFailure` if that fails. */
export function readUnread(
  unread: UnreadOutcome,
  body: Uint8Array,
  secrets: readonly string[],
  onFailure: (error: Error) => void,
): { response: RecordedResponse; outcome: RunOutcome } {
  const { api, httpStatus: status, statusText } = unread;
  const form = { api, isJudged: false, encoding: '', isStream: false, rules: [] };
  let response: RecordedResponse;
  try {
    const read = readPassedResponse({ ...form, body, isCut: false, arrivals: { atMs: [], ends: [] } });
    response = withoutSecrets(read, secrets);
  } catch (error) {
    onFailure(error as Error);
    response = unreadableResponse(error as Error);
  }
  const failure = failureIn(response, { status, statusText }, false);
  const outcome = outcomeOf(response, { ...unread, level: 'all', isCancelled: false, failure, moderation: null });
  return { response, outcome };
}

export const readOutcome: ReadOutcome = (unread) =>
  readUnread(unread, Buffer.from(unread.body, 'latin1'), [], () => undefined).outcome;
