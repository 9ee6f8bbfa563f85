import { type QueryClient, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { create } from 'zustand';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import type { ToolCall, ToolResult } from '../../../shared/contract/tools.ts';
import { mockResult } from '../../../shared/tool-mock.ts';
import { type DraftTool, mocksOf } from '../../drafts/tool-drafts.ts';
import { formatCost, formatPlural } from '../format.ts';
import type { Client } from '../../host/client.ts';
import { useHost } from '../../host/host-context.tsx';
import { runQuery } from '../../queries/runs.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import type { RunProgress } from '../../stores/run-stream.ts';

type Mocks = ReturnType<typeof mocksOf>;

/** The runs that mocks of these calls take their results from. */
function recordedIds(calls: readonly ToolCall[], mocks: Mocks): string[] {
  const ids = calls.map(({ name }) => mocks.get(name)).flatMap((mock) => (mock?.kind === 'recorded' ? mock.runId : []));
  return [...new Set(ids)];
}

/** What mocks return for the calls; calls without one are left out. */
function resultsOf(calls: readonly ToolCall[], mocks: Mocks, runs: ReadonlyMap<string, RunDetail>): ToolResult[] {
  return calls.flatMap((call) => {
    const mock = mocks.get(call.name);
    if (!mock) return [];
    const recorded = mock.kind === 'recorded' ? runs.get(mock.runId)?.input.messages : [];
    const result = recorded && mockResult(mock, call, recorded);
    return result ? [{ toolCallId: call.id, ...result }] : [];
  });
}

const dataOf = (queries: readonly { data: RunDetail | undefined }[]) => queries.map(({ data }) => data);

/** What the mocks of tools return for the calls of an answer. */
export function useMockResults(
  calls: readonly ToolCall[],
  tools: readonly DraftTool[] | undefined,
): readonly ToolResult[] {
  const { client } = useHost();
  const mocks = useMemo(() => mocksOf(tools), [tools]);
  const ids = recordedIds(calls, mocks);
  const runs = useQueries({ queries: ids.map((id) => runQuery(client, id)), combine: dataOf });
  return useMemo(() => {
    const read = runs.flatMap((run): [string, RunDetail][] => (run ? [[run.runId, run]] : []));
    return resultsOf(calls, mocks, new Map(read));
  }, [calls, mocks, runs]);
}

interface StepStops {
  /** Why the run that called the tools wasn't continued automatically, by its id. */
  readonly reasons: Readonly<Record<string, string>>;
}

export const useStepStops = create<StepStops>()(() => ({ reasons: {} }));

/** What steps in a row have used since a person pressed Run or Continue. */
export interface StepUse {
  steps: number;
  /** US dollars; null if the cost of a step is unknown. */
  cost: number | null;
}

/** Why no further step may start; null if one may. */
export function stopReason(
  { steps, cost }: StepUse,
  { maxToolSteps, maxToolCost }: { maxToolSteps: number; maxToolCost: number | null },
): string | null {
  if (steps >= maxToolSteps) return `Stopped after ${formatPlural(steps, 'automatic step')}.`;
  if (maxToolCost === null) return null;
  if (cost === null) return 'Stopped, because the cost of a step is unknown and a maximum cost is set.';
  return cost < maxToolCost
    ? null
    : `Stopped at a cost of ${formatCost(cost)}; the maximum is ${formatCost(maxToolCost)}.`;
}

interface StepContext {
  client: Client;
  queryClient: QueryClient;
  /** Of the prompt or the agent. */
  tools: readonly DraftTool[] | undefined;
  /** Whether the answer is still the newest one after what had to be read. */
  isNewest: () => boolean;
}

/** An answer that has ended. */
type EndedRun = Pick<RunProgress, 'runId' | 'state' | 'finishReason' | 'toolCalls'>;

async function readRuns({ client, queryClient }: StepContext, ids: readonly string[]): Promise<Map<string, RunDetail>> {
  const runs = await Promise.all(ids.map((id) => queryClient.fetchQuery(runQuery(client, id))));
  return new Map(runs.map((run) => [run.runId, run]));
}

/**
 * The results with which an ended run continues automatically: each of its calls has a mock, and the limits allow it. Null where a
 * person has to continue. Adds the run's cost to `use`.
 */
export async function automaticResults(
  { runId, state, finishReason, toolCalls: calls }: EndedRun,
  use: StepUse,
  context: StepContext,
): Promise<readonly ToolResult[] | null> {
  if (runId === null || state !== 'completed' || finishReason !== 'ToolCalls') return null;
  const mocks = mocksOf(context.tools);
  const ids = recordedIds(calls, mocks);
  let results: ToolResult[];
  try {
    const runs = await readRuns(context, [runId, ...ids]);
    const cost = runs.get(runId)?.cost ?? null;
    use.cost = use.cost === null || cost === null ? null : use.cost + cost;
    results = resultsOf(calls, mocks, runs);
  } catch {
    // A recorded run that was deleted: a person enters the results.
    return null;
  }
  const view = usePlaygroundView.getState();
  if (results.length < calls.length || !context.isNewest() || !view.continuesAutomatically) return null;
  const reason = stopReason(use, view);
  if (reason !== null) {
    useStepStops.setState(({ reasons }) => ({ reasons: { ...reasons, [runId]: reason } }));
    return null;
  }
  use.steps += 1;
  return results;
}
