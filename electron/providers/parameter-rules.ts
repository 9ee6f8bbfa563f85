import type { AiSystem } from '../../shared/contract/common.ts';
import { namedParameters, type Configuration, type NamedParameter } from '../../shared/contract/completions.ts';
import type { Model } from '../../shared/contract/providers.ts';
import type { CatalogueEntry } from './catalogue/catalogue.ts';

export type ParameterFact = Model['parameters'][number];

/** Whose rules hold for a model: its provider's, or those of the engine on this device. */
export type RuleSet = Exclude<AiSystem, 'ServiceAi'> | 'on-device';

type Refusals = Readonly<Partial<Record<NamedParameter, string>>>;

const notInResponses = "not supported by OpenAI's Responses API";
const notInMessages = "not supported by Anthropic's Messages API";

/** What an API does not take, whichever the model. */
const refusedByApi: Readonly<Record<RuleSet, Refusals>> = {
  OpenAi: {
    top_k: notInResponses,
    stop: notInResponses,
    seed: notInResponses,
    frequency_penalty: notInResponses,
    presence_penalty: notInResponses,
  },
  Anthropic: { seed: notInMessages, frequency_penalty: notInMessages, presence_penalty: notInMessages },
  GoogleGemini: {},
  Groq: { top_k: "not supported by Groq's API" },
  Cohere: {},
  OpenAiCompatible: {},
  'on-device': {
    reasoning_effort: 'not supported by on-device models',
    response_format: "JSON output isn't supported by on-device models",
  },
};

/** Claude keeps to a schema, but has no form for JSON of any shape. */
const responseFormats: Partial<Record<RuleSet, readonly string[]>> = { Anthropic: ['text', 'json_schema'] };

const samplingParameters = ['temperature', 'top_p', 'top_k'] as const;

function isSampling(name: NamedParameter): boolean {
  return (samplingParameters as readonly string[]).includes(name);
}

function refusal(ruleSet: RuleSet, entry: CatalogueEntry | null, name: NamedParameter): string | null {
  const byApi = refusedByApi[ruleSet][name];
  if (byApi) return byApi;
  if (!entry) return null;
  if (isSampling(name) && entry.sampling === 'never') return 'not supported by this model';
  if (name === 'reasoning_effort' && !entry.reasoningEfforts) {
    return entry.capabilities.includes('reasoning')
      ? "this model doesn't let you set the effort"
      : "this model doesn't reason";
  }
  if (name.endsWith('_penalty') && ruleSet === 'GoogleGemini' && entry.name.startsWith('gemini-2.5')) {
    return 'Gemini 2.5 supports it on Vertex AI only';
  }
  return null;
}

function acceptedValues(ruleSet: RuleSet, entry: CatalogueEntry | null, name: NamedParameter): string[] | null {
  if (name === 'reasoning_effort') return entry?.reasoningEfforts ? [...entry.reasoningEfforts] : null;
  if (name === 'response_format') return responseFormats[ruleSet]?.slice() ?? null;
  return null;
}

/** All ten named parameters with whether a model takes them. A model that no one wrote down takes what its API takes. */
export function parameterFacts(ruleSet: RuleSet, entry: CatalogueEntry | null): ParameterFact[] {
  return namedParameters.map((name) => {
    const reason = refusal(ruleSet, entry, name);
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

/** Why one call leaves a parameter out, null when it is sent: facts of the model, and of what else the call says. */
export function refusalInCall(
  fact: ParameterFact,
  entry: CatalogueEntry | null,
  ruleSet: RuleSet,
  configuration: Configuration,
): string | null {
  if (fact.reason !== null) return fact.reason;
  const value = valueName(fact.name, configuration);
  if (fact.values && value !== undefined && !fact.values.includes(value)) {
    return `supported values are ${fact.values.join(', ')}`;
  }
  if (!entry || !isSampling(fact.name)) return null;
  const effort = configuration.reasoning_effort ?? null;
  if (entry.sampling === 'with-effort-none' && effort !== 'none') return 'supported only with reasoning_effort none';
  if (entry.sampling === 'unless-effort' && effort !== null && effort !== 'none') {
    return 'not supported while the model reasons';
  }
  if (fact.name === 'top_p' && ruleSet === 'Anthropic' && configuration.temperature != null) {
    return 'Claude supports either temperature or top_p, not both';
  }
  return null;
}
