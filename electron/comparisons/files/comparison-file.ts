import type { AiSystem } from '../../../shared/contract/common.ts';
import { aiSystem as aiSystems } from '../../../shared/contract/common.ts';
import type { ComparisonInput } from '../../../shared/contract/comparisons.ts';
import type { DatasetColumn, RowValues } from '../../../shared/contract/datasets.ts';
import type { JudgeInput } from '../../../shared/contract/judges.ts';
import { type ModelName, readPromptfooProvider } from '../../prompts/transfer/model-names.ts';

/** What a file has and a comparison can't do, by its name in the file. */
export interface Unsupported {
  readonly field: string;
  readonly reason: string;
}

/** The rows of a comparison: given, in a file, or stored. */
export type FileDataset =
  | { readonly columns: readonly DatasetColumn[]; readonly rows: readonly RowValues[] }
  | { readonly file: string }
  | { readonly datasetId: string; readonly datasetVersion?: number };

/** A comparison as a file describes it. */
export interface ComparisonFile {
  readonly comparison: Omit<ComparisonInput, 'datasetId' | 'datasetVersion'>;
  readonly dataset: FileDataset;
  /** By the ids that the checks have before the judges are created. */
  readonly judges: ReadonlyMap<string, JudgeInput>;
  /** Those of the judges that compare each variant with the baseline once all cells have ended. */
  readonly pairJudges: readonly string[];
  /** What the file has and a comparison can't do. */
  readonly unsupported: readonly Unsupported[];
}

export interface FileOptions {
  /** Runs all prompts instead of the providers of the file. */
  readonly model: string | null;
  /** Judges where the file names no other model. */
  readonly judge: string | null;
}

/** promptfoo's names of services that speak OpenAI's chat API: endpoints of the same names, if somebody has set them up. */
const compatibleNames = new Set([
  ...['ollama', 'localai', 'llamafile', 'vllm', 'lmstudio', 'openrouter', 'togetherai', 'fireworks', 'deepseek'],
  ...['mistral', 'xai', 'perplexity', 'cerebras', 'sambanova', 'nscale', 'hyperbolic', 'lambdalabs', 'alibaba'],
  ...[
    'cloudera',
    'github',
    'aimlapi',
    'portkey',
    'huggingface',
    'docker',
    'azure',
    'azureopenai',
    'litellm',
    'helicone',
  ],
  ...['databricks', 'llama'],
]);
const callKinds = new Set(['chat', 'completion', 'completions', 'responses', 'messages']);
/** What isn't a chat. */
const otherKinds = /^[\w-]+:(?:assistant|embeddings?|image|video|moderation|realtime|live|speech|transcription):/;
/** A library that calls the provider that the rest of the name says. */
const throughLibrary = /^adaline:/;

function compatibleModel(id: string): (ModelName & { readonly aiSystem: AiSystem }) | null {
  const [name = '', ...rest] = id.split(':');
  const model = (rest.length > 1 && callKinds.has(rest[0]!) ? rest.slice(1) : rest).join(':');
  return compatibleNames.has(name) && model !== '' ? { aiSystem: 'OpenAiCompatible', model: `${name}/${model}` } : null;
}

/** `Groq/openai/gpt-oss-20b`, or promptfoo's `groq:openai/gpt-oss-20b`; null for neither. */
export function namedModel(text: string): (ModelName & { readonly aiSystem: AiSystem }) | null {
  const slash = text.indexOf('/');
  const system = aiSystems.safeParse(text.slice(0, slash));
  if (system.success && slash < text.length - 1) return { aiSystem: system.data, model: text.slice(slash + 1) };
  if (otherKinds.test(text)) return null;
  if (throughLibrary.test(text)) return namedModel(text.replace(throughLibrary, ''));
  const found = readPromptfooProvider(text);
  return found?.aiSystem == null ? compatibleModel(text) : { aiSystem: found.aiSystem, model: found.model };
}

/** Names of variants: short, and different from each other. */
export function createNames(): (requested: string) => string {
  const names = new Set<string>();
  return (requested) => {
    const short = requested.replaceAll(/\s+/g, ' ').trim().slice(0, 90) || 'Variant';
    let name = short;
    for (let number = 2; names.has(name); number += 1) name = `${short} ${number}`;
    names.add(name);
    return name;
  };
}
