import { AppError, type ErrorCode } from '../../shared/app-error.ts';
import type { Capability, CapabilityResult } from '../../shared/contract/capability-tests.ts';
import type { Configuration } from '../../shared/contract/completions.ts';
import type { Providers } from '../providers/create-providers.ts';
import { requireFileSupport } from '../providers/message-rules.ts';
import type { ResolvedModel } from '../providers/model-resolver.ts';
import { ProviderFailure } from '../providers/provider-error.ts';
import type { ModelRequest, ModelToolCall } from '../providers/provider.ts';
import type { CapabilityCheck, ObservedAnswer } from './checks.ts';

export type CheckProviders = Pick<Providers, 'applicableConfiguration' | 'cost'>;

/** A check that can be sent, or why the model or its API lacks the capability. */
export type PlannedCheck =
  | { readonly check: CapabilityCheck; readonly request: ModelRequest }
  | { readonly check: CapabilityCheck; readonly notOffered: string };

/** The configuration with an effort that the model supports. One that reasons without an effort gets none. */
function withEffort(configuration: Configuration, { metadata }: ResolvedModel): Configuration {
  if (configuration.reasoning_effort == null) return configuration;
  const support = metadata.parameters.find(({ name }) => name === 'reasoning_effort');
  const isAlwaysOn = metadata.catalogueEntry?.capabilities.includes('reasoning') && support?.isAccepted === false;
  const { reasoning_effort: effort, ...rest } = configuration;
  if (isAlwaysOn) return rest;
  const { values = null } = support ?? {};
  if (values === null || values.includes(effort)) return configuration;
  return { ...rest, reasoning_effort: values.find((value) => value !== 'none') ?? effort };
}

export function planCheck(check: CapabilityCheck, target: ResolvedModel, providers: CheckProviders): PlannedCheck {
  try {
    const { configuration, warnings } = providers.applicableConfiguration(
      target,
      withEffort(check.configuration, target),
    );
    const dropped = warnings.find(({ code, parameter }) => code === 'parameter-dropped' && parameter !== 'max_tokens');
    if (dropped) return { check, notOffered: dropped.message };
    requireFileSupport(target.metadata, check.messages);
    target.provider.requireSupported?.(configuration);
    const { messages, file } = check;
    const files = file && new Map([[file.fileId, { data: file.data }]]);
    return {
      check,
      request: { model: target.model, systemMessage: null, messages, configuration, ...(files && { files }) },
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { check, notOffered: error.message };
  }
}

export interface CheckOutcome {
  readonly results: readonly CapabilityResult[];
  /** US dollars; null if the price is unknown. */
  readonly cost: number | null;
  /** Why the next check would fail too; null if it may succeed. */
  readonly lasting: string | null;
}

/** Failures that say nothing about the model. */
const lastingFailures: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'provider_key_refused',
  'provider_not_configured',
  'provider_overloaded',
  'provider_silent',
  'rate_limited',
  'model_not_installed',
]);

function isLasting(error: AppError): boolean {
  return lastingFailures.has(error.code) || (error instanceof ProviderFailure && error.kind === 'unreachable');
}

function resultsOf(check: CapabilityCheck, outcome: CapabilityResult['outcome'], reason: string): CapabilityResult[] {
  return check.expectations.map(({ capability }) => ({ capability, outcome, reason }));
}

/** Sends the request of a check and judges its answer. Throws only if the signal aborts. */
export async function runCheck(
  planned: PlannedCheck,
  target: ResolvedModel,
  providers: CheckProviders,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const { check } = planned;
  if ('notOffered' in planned)
    return { results: resultsOf(check, 'not-offered', planned.notOffered), cost: 0, lasting: null };
  try {
    const answer = await observe(check, planned.request, target, signal);
    const cost = providers.cost(target, answer.usage, answer.rawUsage ?? null)?.amount ?? null;
    const { ruleSet } = target.metadata;
    const results = check.expectations.map(({ capability, notOffered, problem }): CapabilityResult => {
      const reason = problem(answer);
      if (reason === null) return { capability, outcome: 'yes', reason };
      const missing = notOffered?.[ruleSet];
      return missing === undefined
        ? { capability, outcome: 'no', reason }
        : { capability, outcome: 'not-offered', reason: missing };
    });
    return { results, cost, lasting: null };
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    const lasting = isLasting(error) ? error.message : null;
    return { results: resultsOf(check, 'no', error.message), cost: 0, lasting };
  }
}

async function observe(
  { isStreamed }: CapabilityCheck,
  request: ModelRequest,
  { provider }: ResolvedModel,
  signal: AbortSignal,
): Promise<ObservedAnswer> {
  if (!isStreamed) return { ...(await provider.generate(request, { signal })), callDeltas: 0 };
  let [content, reasoning, callDeltas] = ['', '', 0];
  const toolCalls: ModelToolCall[] = [];
  for await (const part of provider.stream(request, { signal })) {
    if (part.type === 'text-delta') content += part.text;
    else if (part.type === 'reasoning-delta') reasoning += part.text;
    else if (part.type === 'tool-call-start') toolCalls[part.index] = { id: part.id, name: part.name, arguments: '' };
    else if (part.type === 'tool-call-delta') {
      callDeltas += 1;
      const call = toolCalls[part.index]!;
      toolCalls[part.index] = { ...call, arguments: call.arguments + part.text };
    } else if (part.type === 'finish') {
      const { finishReason, usage, rawUsage, corrected } = part;
      const text = corrected ?? { content, reasoning: reasoning === '' ? null : reasoning };
      return { ...text, finishReason, usage, ...(rawUsage && { rawUsage }), toolCalls, callDeltas };
    }
  }
  throw new AppError('provider_failed', 'The answer ended without its last part.');
}

/** All capabilities of a list of checks that were sent or not, each once, in the order of `order`. */
export function sortResults(results: readonly CapabilityResult[], order: readonly Capability[]): CapabilityResult[] {
  return results.toSorted((one, other) => order.indexOf(one.capability) - order.indexOf(other.capability));
}
