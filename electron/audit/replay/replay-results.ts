import type { ReplayPair, ReplayResults, ReplaySide } from '../../../shared/contract/audit-replay.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import type { ReplayedRun } from '../../storage/replay-store.ts';

function sideOf(run: RunDetail): ReplaySide {
  return {
    runId: run.runId,
    conversationId: run.conversationId,
    status: run.status,
    aiSystem: run.aiSystem,
    model: run.model,
    servedBy: run.servedBy ?? '',
    createdAt: run.createdAt,
    renderedPrompt: run.input.renderedPrompt ?? '',
    content: run.output.content,
    reasoning: run.output.reasoning,
    finishReason: run.output.finishReason,
    error: run.output.error,
    usage: run.usage,
    cost: run.cost,
    firstTokenMs: run.firstTokenMs,
    totalMs: run.totalMs,
  };
}

function average(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : known.reduce((sum, number) => sum + number, 0) / known.length;
}

function totalsOf(sides: readonly ReplaySide[]): ReplayResults['before'] {
  return {
    runs: sides.length,
    totalTokens: sides.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0),
    cost: sides.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    averageTotalMs: average(sides.map(({ totalMs }) => totalMs)),
    averageFirstTokenMs: average(sides.map(({ firstTokenMs }) => firstTokenMs)),
  };
}

/** Before and after: the pairs from `offset` on, and the totals of all pairs whose both sides completed. */
export function replayResults(
  runs: readonly ReplayedRun[],
  read: (runId: string) => RunDetail | null,
  { offset, limit }: { offset: number; limit: number },
): ReplayResults {
  const side = (runId: string | null): ReplaySide | null => {
    const run = runId === null ? null : read(runId);
    return run && sideOf(run);
  };
  const pairs = runs.map(({ position, state, failure, original, replayed }): ReplayPair => ({
    position,
    state,
    failure,
    original: side(original),
    replayed: side(replayed),
  }));
  const whole = pairs.flatMap(({ original, replayed }) =>
    original?.status === 'Completed' && replayed?.status === 'Completed' ? [{ original, replayed }] : [],
  );
  return {
    data: pairs.slice(offset, offset + limit),
    offset,
    total: pairs.length,
    before: totalsOf(whole.map(({ original }) => original)),
    after: totalsOf(whole.map(({ replayed }) => replayed)),
    sameAnswers: whole.filter(({ original, replayed }) => original.content === replayed.content).length,
  };
}
