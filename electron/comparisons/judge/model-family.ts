import type { AiSystem } from '../../../shared/contract/common.ts';

/** Parts of model names by the family that trained them. */
const families: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Claude', /claude/],
  ['Gemini', /gemini|gemma/],
  ['Llama', /llama/],
  ['Mistral', /mistral|mixtral|ministral|codestral|magistral|pixtral/],
  ['Qwen', /qwen|qwq/],
  ['DeepSeek', /deepseek/],
  ['Command', /command|aya-|c4ai/],
  ['Grok', /grok/],
  ['Phi', /(^|[/-])phi-?\d/],
  ['Kimi', /kimi|moonshot/],
  ['GLM', /glm-|chatglm/],
  ['GPT', /gpt|chatgpt|davinci|(^|[/-])o[1-9]($|[-.])/],
];

/** Families of providers that serve only their own models. */
const ownFamilies: Partial<Record<AiSystem, string>> = {
  OpenAi: 'GPT',
  Anthropic: 'Claude',
  GoogleGemini: 'Gemini',
  Cohere: 'Command',
};

interface Model {
  readonly aiSystem: AiSystem;
  readonly model: string;
}

/** The model of a variant. */
export interface NamedModel extends Model {
  readonly name: string;
}

/** The families of a model by its name; several for a distilled one, and none if unknown. */
export function familiesOf({ aiSystem, model }: Model): string[] {
  const name = model.toLowerCase();
  const found = families.flatMap(([family, pattern]) => (pattern.test(name) ? [family] : []));
  const own = ownFamilies[aiSystem];
  return found.length === 0 && own !== undefined ? [own] : found;
}

/** The name without the endpoint or the owner: a model may be reached in several ways. */
const bareName = ({ model }: Model) => model.toLowerCase().split('/').at(-1);

/** Of a family that the name doesn't tell, only the model itself is known. */
function sameModelWarning(judge: Model, candidates: readonly NamedModel[]): string | null {
  const same = candidates.filter((candidate) => bareName(candidate) === bareName(judge));
  if (same.length === 0) return null;
  const names = same.map(({ name }) => name).join(', ');
  return `The judge is the model of ${names}. Models prefer their own answers. Choose another one as the judge.`;
}

/**
 * A warning for a judge of the same family as a model whose answers it judges, or null. Models prefer the answers of their own family:
 * A. Panickssery et al. (2024), LLM evaluators recognize and favor their own generations. arXiv 2404.13076.
 */
export function sameFamilyWarning(judge: Model, candidates: readonly NamedModel[]): string | null {
  const own = familiesOf(judge);
  if (own.length === 0) return sameModelWarning(judge, candidates);
  const same = candidates.filter((candidate) => familiesOf(candidate).some((family) => own.includes(family)));
  if (same.length === 0) return null;
  const names = same.map(({ name }) => name).join(', ');
  const verb = same.length === 1 ? 'is' : 'are';
  return `The judge is a ${own.join(' and ')} model, as ${names} ${verb}. Models prefer answers of their own family. Choose a judge of another one.`;
}
