import type { AiSystem } from '../../../shared/contract/common.ts';

type ProviderNames = Readonly<Partial<Record<AiSystem, readonly string[]>>>;

/** Names of providers in prompt files, the one that we write first. */
const dotpromptNames: Readonly<Record<AiSystem, readonly [string, ...string[]]>> = {
  GoogleGemini: ['googleai', 'google', 'vertexai', 'gemini'],
  OpenAi: ['openai'],
  Anthropic: ['anthropic'],
  Groq: ['groq'],
  Cohere: ['cohere'],
  ServiceAi: ['service'],
  OpenAiCompatible: ['compatible'],
};

/** Those that promptfoo has, in its own words. */
const promptfooNames: ProviderNames = {
  GoogleGemini: ['google', 'vertex'],
  OpenAi: ['openai'],
  Anthropic: ['anthropic'],
  Groq: ['groq'],
  Cohere: ['cohere'],
};

/** Kinds of calls that promptfoo writes between provider and model. */
const promptfooKinds = new Set(['chat', 'responses', 'messages', 'completion', 'gemini']);

export interface ModelName {
  readonly aiSystem: AiSystem | null;
  readonly model: string;
}

function systemNamed(names: ProviderNames, name: string): AiSystem | null {
  const found = Object.entries(names).find(([, known]) => known.includes(name.toLowerCase()));
  return found === undefined ? null : (found[0] as AiSystem);
}

/** `googleai/gemini-2.5-flash`; a name without a known provider is the model's own. */
export function readDotpromptModel(name: string): ModelName {
  const slash = name.indexOf('/');
  const aiSystem = slash === -1 ? null : systemNamed(dotpromptNames, name.slice(0, slash));
  return { aiSystem, model: aiSystem === null ? name : name.slice(slash + 1) };
}

export function writeDotpromptModel(aiSystem: AiSystem, model: string): string {
  return `${dotpromptNames[aiSystem][0]}/${model}`;
}

/** `openai:chat:gpt-4.1`; null for providers that are not ours. */
export function readPromptfooProvider(id: string): ModelName | null {
  const [name = '', ...rest] = id.split(':');
  const aiSystem = systemNamed(promptfooNames, name);
  const model = (promptfooKinds.has(rest[0] ?? '') && rest.length > 1 ? rest.slice(1) : rest).join(':');
  return aiSystem === null || model === '' ? null : { aiSystem, model };
}

/** Null where promptfoo has no such provider. */
export function writePromptfooProvider(aiSystem: AiSystem, model: string): string | null {
  const name = promptfooNames[aiSystem]?.[0];
  if (name === undefined) return null;
  const kind = aiSystem === 'OpenAi' ? 'chat:' : aiSystem === 'Anthropic' ? 'messages:' : '';
  return `${name}:${kind}${model}`;
}
