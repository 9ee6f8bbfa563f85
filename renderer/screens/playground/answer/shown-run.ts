import type { AiSystem } from '../../../../shared/contract/common.ts';
import type { Citation, CompletionRequest, Usage, Warning } from '../../../../shared/contract/completions.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { type ToolCall, withCalls } from '../../../../shared/contract/tools.ts';
import type { RunDetail } from '../../../../shared/contract/runs.ts';
import { isObject } from '../../../../shared/json-schema.ts';
import type { RunFailure } from '../../../components/run-words.ts';
import type { CompletionRun } from '../../../stores/live-runs.ts';
import { readSteps, type ToolStep } from '../../../stores/tool-steps.ts';
import type { RunState } from '../../../stores/run-stream.ts';
import { estimateTokens } from '../../../components/format.ts';

/** One run as the answer panel shows it, live or from the history. */
export interface ShownRun {
  /** Changes with the run, not with its progress. */
  key: string;
  runId: string | null;
  /** Null until the host has stored the end of the run. */
  conversationId: string | null;
  state: RunState;
  aiSystem: AiSystem;
  model: string;
  servedBy: string | null;
  /** The agent whose turn it is, which gets the results of tools in its conversation. */
  agentId: string | null;
  isAnonymised: boolean;
  /** What it ran; of a continued run what its first step ran. */
  request: CompletionRequest;
  /** The steps before it. */
  steps: readonly ToolStep[];
  text: string;
  /** The arguments may be incomplete while the run is active. */
  toolCalls: readonly ToolCall[];
  /** Whether the answer was to be JSON, and follows a schema. */
  json: 'none' | 'any' | 'schema';
  reasoning: string;
  isReasoningLive: boolean;
  finishReason: string | null;
  warnings: readonly Warning[];
  /** The passages that the model received. Empty until the run ends. */
  citations: readonly Citation[];
  failure: RunFailure | null;
  metrics: Metrics;
}

const growing: ReadonlySet<keyof ShownRun> = new Set(['text', 'toolCalls', 'reasoning', 'isReasoningLive', 'metrics']);

/** Whether two states of a run differ only in what grows with its tokens. */
export function isSameButLonger(one: ShownRun | null | undefined, other: ShownRun | null | undefined): boolean {
  if (!one || !other) return one === other;
  if ((one.text === '') !== (other.text === '')) return false;
  const fields = Object.keys(one) as (keyof ShownRun)[];
  return fields.every((field) => growing.has(field) || Object.is(one[field], other[field]));
}

/** Measurements of a run; null while unknown. */
export interface Metrics {
  /** When an active run started, in milliseconds of `performance.now()`; null for one that has ended. */
  runningSince: number | null;
  firstTokenMs: number | null;
  totalMs: number | null;
  /** Output tokens per second since the first token, or of the total time if all arrived at once. Includes reasoning. */
  speed: number | null;
  usage: Usage | null;
  /** Whether the window estimates the tokens, because the provider hasn't counted them. */
  isEstimated: boolean;
  /** US dollars; null until the run has ended. A figure without the cached tokens, which come last, would jump. */
  cost: number | null;
  /** The part of `cost` that pays for the reported reasoning tokens. */
  reasoningCost: number | null;
  credits: number | null;
  /** The reasoning effort that was requested, and whether the model got it; null for none. */
  effort: { requested: string; isSent: boolean } | null;
}

function requestedEffort(configuration: unknown, warnings: readonly Warning[]): Metrics['effort'] {
  const requested = isObject(configuration) ? configuration['reasoning_effort'] : null;
  if (typeof requested !== 'string') return null;
  return { requested, isSent: !warnings.some(({ parameter }) => parameter === 'reasoning_effort') };
}

/** The form that a request asked for, if its model got it. */
function jsonForm(configuration: unknown, warnings: readonly Warning[]): ShownRun['json'] {
  const format = isObject(configuration) ? configuration['response_format'] : null;
  if (!isObject(format) || warnings.some(({ parameter }) => parameter === 'response_format')) return 'none';
  if (format['type'] === 'json_schema') return 'schema';
  return format['type'] === 'json_object' ? 'any' : 'none';
}

function speedOf(tokens: number, milliseconds: number): number | null {
  // Below a tenth of a second the result depends on the clock more than on the model.
  return milliseconds < 100 || tokens === 0 ? null : tokens / (milliseconds / 1000);
}

function speedOfEnded(tokens: number, { firstTokenMs, totalMs }: Pick<Metrics, 'firstTokenMs' | 'totalMs'>) {
  if (firstTokenMs === null || totalMs === null) return null;
  return speedOf(tokens, totalMs - firstTokenMs) ?? speedOf(tokens, totalMs);
}

function costOf(model: Model | null, usage: Usage | null): number | null {
  if (!model || !usage || model.inputPrice === null || model.outputPrice === null) return null;
  return (usage.prompt_tokens * model.inputPrice + usage.completion_tokens * model.outputPrice) / 1_000_000;
}

function reasoningCostOf(model: Model | null, usage: Usage | null, cost: number | null): number | null {
  const tokens = usage?.details?.reasoning_tokens ?? null;
  if (!model || !usage || tokens === null || cost === null) return null;
  const { longPrompt } = model;
  const isLong = longPrompt !== null && usage.prompt_tokens > longPrompt.aboveTokens;
  const price = isLong ? longPrompt.outputPrice : model.outputPrice;
  if (price === null) return null;
  const share = (tokens * price) / 1_000_000;
  // Today's price is not the price of the run.
  return share > cost * 1.000_001 ? null : share;
}

/** An estimate for runs whose tokens the provider hasn't counted: active, stopped and failed ones. */
function estimatedUsage(sent: string, received: string): Usage | null {
  if (received === '') return null;
  const prompt_tokens = estimateTokens(sent);
  const completion_tokens = estimateTokens(received);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function liveMetrics(run: CompletionRun): Metrics {
  const { promptText, systemMessage } = run.request;
  const usage =
    run.usage ?? estimatedUsage(promptText + (systemMessage ?? ''), withCalls(run.text, run.toolCalls) + run.reasoning);
  const output = usage?.completion_tokens ?? 0;
  const firstTokenMs = run.firstTokenAt === null ? null : run.firstTokenAt - run.startedAt;
  const totalMs = run.endedAt === null ? null : run.endedAt - run.startedAt;
  const liveSpeed = run.firstTokenAt === null ? null : speedOf(output, run.changedAt - run.firstTokenAt);
  return {
    runningSince: run.endedAt === null ? run.startedAt : null,
    firstTokenMs,
    totalMs,
    speed: totalMs === null ? liveSpeed : speedOfEnded(output, { firstTokenMs, totalMs }),
    usage,
    isEstimated: run.usage === null,
    cost: null,
    reasoningCost: null,
    credits: run.credits,
    effort: requestedEffort(run.request.configuration, run.warnings),
  };
}

export function shownLive(run: CompletionRun): ShownRun {
  return {
    key: run.key,
    runId: run.runId,
    conversationId: null,
    state: run.state,
    aiSystem: run.request.aiSystem,
    model: run.request.model,
    servedBy: run.servedBy,
    agentId: null,
    isAnonymised: false,
    request: run.request,
    steps: run.steps,
    text: run.text,
    toolCalls: run.toolCalls,
    json: jsonForm(run.request.configuration, run.warnings),
    reasoning: run.reasoning,
    isReasoningLive: run.isReasoningLive,
    finishReason: run.finishReason,
    warnings: run.warnings,
    citations: run.citations,
    failure: run.error && { code: run.error.code, message: run.error.message, error: run.error },
    metrics: liveMetrics(run),
  };
}

const states: Record<RunDetail['status'], RunState> = {
  Running: 'streaming',
  Completed: 'completed',
  Cancelled: 'stopped',
  Failed: 'failed',
};

function storedMetrics(run: RunDetail, model: Model | null): Metrics {
  const { input, output } = run;
  const sent = (input.renderedPrompt ?? input.promptText) + (input.systemMessage ?? '');
  const usage =
    run.usage ?? estimatedUsage(sent, withCalls(output.content, output.toolCalls ?? []) + (output.reasoning ?? ''));
  const isEnded = run.status !== 'Running';
  const cost = run.cost ?? (run.usage === null && isEnded ? costOf(model, usage) : null);
  return {
    runningSince: null,
    firstTokenMs: run.firstTokenMs,
    totalMs: run.totalMs,
    speed: usage && speedOfEnded(usage.completion_tokens, run),
    usage,
    isEstimated: run.usage === null,
    cost,
    reasoningCost: reasoningCostOf(model, usage, cost),
    credits: run.credits,
    effort: requestedEffort(input.configuration, run.warnings),
  };
}

function sumOf(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value != null);
  return known.length < values.length ? null : known.reduce((sum, value) => sum + value, 0);
}

/** Null if a part is unknown. */
function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  const known = usages.filter((usage) => usage !== null);
  if (known.length < usages.length) return null;
  const total = (field: 'prompt_tokens' | 'completion_tokens' | 'total_tokens') =>
    known.reduce((sum, usage) => sum + usage[field], 0);
  const detail = (field: keyof NonNullable<Usage['details']>) => sumOf(known.map(({ details }) => details?.[field]));
  return {
    prompt_tokens: total('prompt_tokens'),
    completion_tokens: total('completion_tokens'),
    total_tokens: total('total_tokens'),
    details: {
      cached_tokens: detail('cached_tokens'),
      cache_write_tokens: detail('cache_write_tokens'),
      reasoning_tokens: detail('reasoning_tokens'),
    },
  };
}

/** Tokens, cost, credits and time of a run with the steps before it. Its first token and its speed are those of the newest step. */
export function withEarlierSteps(metrics: Metrics, earlier: readonly RunDetail[]): Metrics {
  const steps = earlier.map((run) => storedMetrics(run, null));
  const all = [...steps, metrics];
  const earlierMs = sumOf(steps.map(({ totalMs }) => totalMs)) ?? 0;
  return {
    ...metrics,
    runningSince: metrics.runningSince === null ? null : metrics.runningSince - earlierMs,
    totalMs: metrics.totalMs === null ? null : metrics.totalMs + earlierMs,
    // While the newest step has no tokens yet, the earlier ones have.
    usage: sumUsage(
      metrics.usage === null && metrics.runningSince !== null
        ? steps.map(({ usage }) => usage)
        : all.map(({ usage }) => usage),
    ),
    isEstimated: all.some(({ isEstimated }) => isEstimated),
    cost: sumOf(all.map(({ cost }) => cost)),
    credits: sumOf(all.map(({ credits }) => credits)),
  };
}

function storedRequest({ input, aiSystem, model, metadata }: RunDetail): CompletionRequest {
  const { promptText, systemMessage, configuration } = input;
  return { promptText, systemMessage, aiSystem, model, configuration, metadata };
}

/** `model` prices a run that the provider hasn't counted; null where the chosen model isn't the run's. */
export function shownStored(run: RunDetail, model: Model | null = null): ShownRun {
  const { output } = run;
  return {
    key: run.runId,
    runId: run.runId,
    conversationId: run.conversationId,
    state: states[run.status],
    aiSystem: run.aiSystem,
    model: run.model,
    servedBy: run.servedBy,
    agentId: run.agentId,
    isAnonymised: run.isAnonymised,
    request: storedRequest(run),
    steps: readSteps(run.input.messages, run.metadata),
    text: output.content,
    toolCalls: output.toolCalls ?? [],
    json: jsonForm(run.input.configuration, run.warnings),
    reasoning: output.reasoning ?? '',
    isReasoningLive: false,
    finishReason: output.finishReason,
    warnings: run.warnings,
    citations: run.citations,
    failure: output.error && { ...output.error, error: null },
    metrics: storedMetrics(run, model),
  };
}

/**
 * A live run with the details of the stored one: its metrics and its whole reasoning. The window's times include the latency to
 * the host, so every screen shows the host's times.
 */
export function withStored(live: ShownRun, stored: RunDetail | undefined, model: Model | null = null): ShownRun {
  if (!stored || stored.status === 'Running' || live.runId !== stored.runId) return live;
  return {
    ...live,
    conversationId: stored.conversationId,
    // The end of a stream may show that the beginning of its text was reasoning.
    text: stored.output.content,
    toolCalls: stored.output.toolCalls ?? [],
    reasoning: stored.output.reasoning ?? live.reasoning,
    servedBy: stored.servedBy ?? live.servedBy,
    metrics: storedMetrics(stored, model),
  };
}
