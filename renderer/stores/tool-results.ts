import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { ToolCall, ToolResult } from '../../shared/contract/tools.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

/** A result as typed. An empty one is not entered yet. */
export type TypedResult = Pick<ToolResult, 'content' | 'isError'>;

/** Typed results of one run by the id of their call. */
export type TypedResults = Readonly<Record<string, TypedResult>>;

interface ToolResultsState {
  /** By the run that called the tools, the run edited last at the end. */
  byRun: Readonly<Record<string, TypedResults>>;
}

/** Runs whose results are kept. Sent results are stored with the run that continues. */
const maxRuns = 50;

/** Longer results last as long as the window: all of them are written with each key press. */
const maxStoredCharacters = 100_000;

function stored({ byRun }: ToolResultsState): ToolResultsState {
  let room = maxStoredCharacters;
  const fits = ({ content }: TypedResult): boolean => {
    if (content.length > room) return false;
    room -= content.length;
    return true;
  };
  const runs = Object.entries(byRun)
    .toReversed()
    .map(([runId, results]) => [
      runId,
      Object.fromEntries(Object.entries(results).filter(([, result]) => fits(result))),
    ]);
  return { byRun: Object.fromEntries(runs.toReversed()) as ToolResultsState['byRun'] };
}

/** What is stored, and the results of this window that are too long for it. */
function withLonger(read: unknown, own: ToolResultsState): ToolResultsState {
  const byRun = { ...(read as Partial<ToolResultsState> | undefined)?.byRun };
  const short = stored(own).byRun;
  for (const [runId, results] of Object.entries(own.byRun)) {
    const longer = Object.entries(results).filter(([callId]) => !Object.hasOwn(short[runId] ?? {}, callId));
    if (longer.length > 0) byRun[runId] = { ...byRun[runId], ...Object.fromEntries(longer) };
  }
  return { byRun };
}

/** Results of tool calls that a person types in the playground, so that no run, no restart and no other window loses them. */
export const useToolResults = create<ToolResultsState>()(
  persist((): ToolResultsState => ({ byRun: {} }), {
    name: 'tool-results',
    version: 1,
    partialize: stored,
    merge: withLonger,
  }),
);
shareBetweenWindows(useToolResults);

/** Changes the typed result of one call. */
export function typeResult(runId: string, callId: string, result: TypedResult): void {
  useToolResults.setState(({ byRun }) => {
    const { [runId]: typed = {}, ...others } = byRun;
    const recent = Object.entries(others).slice(-(maxRuns - 1));
    return { byRun: { ...Object.fromEntries(recent), [runId]: { ...typed, [callId]: result } } };
  });
}

/** Removes the typed result of one call. */
export function untypeResult(runId: string, callId: string): void {
  useToolResults.setState(({ byRun }) => {
    const { [callId]: _, ...typed } = byRun[runId] ?? {};
    return { byRun: { ...byRun, [runId]: typed } };
  });
}

/** Removes the typed results of a run: a run that continues it has them. */
export function clearResults(runId: string): void {
  useToolResults.setState(({ byRun }) => {
    const { [runId]: _, ...others } = byRun;
    return { byRun: others };
  });
}

/** What is sent for each call, and the calls without a result. Typed results go before those that were sent or mocked. */
export function collectResults(
  calls: readonly ToolCall[],
  typed: TypedResults,
  known: readonly ToolResult[],
): { results: ToolResult[]; missing: ToolCall[] } {
  const results: ToolResult[] = [];
  const missing: ToolCall[] = [];
  for (const call of calls) {
    const own = Object.hasOwn(typed, call.id) ? typed[call.id] : undefined;
    const result = own ?? known.find(({ toolCallId }) => toolCallId === call.id);
    // A tool may return nothing, but an empty field is a forgotten one.
    if (!result || (own && own.content === '')) missing.push(call);
    else results.push({ toolCallId: call.id, content: result.content, isError: result.isError ?? false });
  }
  return { results, missing };
}
