import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';
import { namedParameters, type Configuration, type NamedParameter } from '../../shared/contract/completions.ts';
import { forcesToolCall, toolFunctions, toolParameters, type ToolParameter } from '../../shared/contract/tools.ts';
import { invalidField } from '../../shared/app-error.ts';
import type { Model } from '../../shared/contract/providers.ts';
import { detailsOf } from './catalogue.ts';
import type { CatalogueEntry, ParameterRules } from './provider-details.ts';

export type ParameterSupport = Model['parameters'][number];

/** The rules that apply to a model: those of its provider, or of the on-device engine. */
export type RuleSet = Exclude<AiSystem, 'ServiceAi'> | 'on-device';

/** The rules of endpoints and of the on-device engine. */
const otherRules: Readonly<Record<Exclude<RuleSet, KeyedProvider>, ParameterRules>> = {
  OpenAiCompatible: { unsupported: {} },
  'on-device': {
    unsupported: {
      reasoning_effort: 'not supported by on-device models',
    },
  },
};

function rulesOf(ruleSet: RuleSet): ParameterRules {
  return ruleSet === 'OpenAiCompatible' || ruleSet === 'on-device'
    ? otherRules[ruleSet]
    : detailsOf[ruleSet].parameterRules;
}

const samplingParameters = ['temperature', 'top_p', 'top_k'] as const;

function isSampling(name: NamedParameter): boolean {
  return (samplingParameters as readonly string[]).includes(name);
}

function unsupportedReason(ruleSet: RuleSet, entry: CatalogueEntry | null, name: NamedParameter): string | null {
  const rules = rulesOf(ruleSet);
  const byApi = rules.unsupported[name];
  if (byApi) return byApi;
  if (!entry) return null;
  if (isSampling(name) && entry.sampling === 'never') return 'not supported by this model';
  if (name === 'reasoning_effort' && !entry.reasoningEfforts) {
    return entry.capabilities.includes('reasoning')
      ? "this model doesn't let you set the effort"
      : "this model doesn't reason";
  }
  return rules.modelRule?.(name, entry.name) ?? null;
}

function responseFormats(ruleSet: RuleSet, entry: CatalogueEntry | null): string[] | null {
  const rules = rulesOf(ruleSet);
  if (rules.responseFormats) return [...rules.responseFormats];
  const lacksSchemas = rules.restrictsSchemas && entry && !entry.capabilities.includes('structured-output');
  return lacksSchemas ? ['text', 'json_object'] : null;
}

function acceptedValues(ruleSet: RuleSet, entry: CatalogueEntry | null, name: NamedParameter): string[] | null {
  if (name === 'reasoning_effort') return entry?.reasoningEfforts ? [...entry.reasoningEfforts] : null;
  return name === 'response_format' ? responseFormats(ruleSet, entry) : null;
}

/** Whether a model supports each of the ten named parameters. A model outside the catalogue supports what its API does. */
export function parameterSupport(ruleSet: RuleSet, entry: CatalogueEntry | null): ParameterSupport[] {
  return namedParameters.map((name) => {
    const reason = unsupportedReason(ruleSet, entry, name);
    return {
      name,
      isAccepted: reason === null,
      reason,
      values: reason === null ? acceptedValues(ruleSet, entry, name) : null,
    };
  });
}

function valueName(name: NamedParameter, configuration: Configuration): string | undefined {
  if (name === 'response_format') return configuration.response_format?.type;
  return name === 'reasoning_effort' ? (configuration.reasoning_effort ?? undefined) : undefined;
}

/** Why a call drops a parameter, from the model's rules and the call's other parameters. Null if it is sent. */
export function dropReason(
  parameter: ParameterSupport,
  entry: CatalogueEntry | null,
  ruleSet: RuleSet,
  configuration: Configuration,
): string | null {
  if (parameter.reason !== null) return parameter.reason;
  const value = valueName(parameter.name, configuration);
  if (parameter.values && value !== undefined && !parameter.values.includes(value)) {
    return `supported values are ${parameter.values.join(', ')}`;
  }
  if (!entry || !isSampling(parameter.name)) return null;
  const effort = configuration.reasoning_effort ?? null;
  if (entry.sampling === 'with-effort-none' && effort !== 'none') return 'supported only with reasoning_effort none';
  if (entry.sampling === 'unless-effort' && effort !== null && effort !== 'none') {
    return 'not supported while the model reasons';
  }
  return rulesOf(ruleSet).callRule?.(parameter.name, configuration) ?? null;
}

/** Why a model gets no tools, as the end of a sentence; null if it gets them. */
export function toolsReason(ruleSet: RuleSet, entry: CatalogueEntry | null): string | null {
  // The on-device engine writes calls as JSON, whichever model it has loaded.
  if (ruleSet === 'on-device') return null;
  return entry && !entry.capabilities.includes('tools') ? "this model doesn't call tools" : null;
}

export interface DroppedToolParameter {
  readonly name: ToolParameter;
  readonly reason: string;
}

/**
 * The parameters of tools that a call drops. Throws `invalid_request` if the model would have to call a tool and can't: without it, the
 * request has no meaning. A provider's own tools are never dropped.
 */
export function droppedToolParameters(
  ruleSet: RuleSet,
  entry: CatalogueEntry | null,
  configuration: Configuration,
): DroppedToolParameter[] {
  if (toolFunctions(configuration).length === 0) return [];
  const reason = toolsReason(ruleSet, entry);
  if (reason === null) {
    const unsupported = rulesOf(ruleSet).parallelCalls;
    const isSet = configuration.parallel_tool_calls != null;
    return isSet && unsupported ? [{ name: 'parallel_tool_calls', reason: unsupported }] : [];
  }
  if (forcesToolCall(configuration)) throw invalidField('configuration.tool_choice', `requires a tool: ${reason}`);
  return toolParameters.filter((name) => configuration[name] != null).map((name) => ({ name, reason }));
}
