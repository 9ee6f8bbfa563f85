import { basename } from 'node:path';
import type { Configuration } from '../../shared/contract/completions.ts';
import type { OnDeviceCapture } from '../provider-exchanges/exchange-log.ts';
import type {
  ListedModel,
  ModelAnswer,
  ModelCallOptions,
  ModelPart,
  ModelRequest,
  Provider,
} from '../providers/provider.ts';
import type { Sampling } from './engine-messages.ts';
import type { EnginePart } from './engine-process.ts';
import type { LanguageModelEngine } from './language-model-engine.ts';

export interface OnDeviceProviderOptions {
  readonly engine: LanguageModelEngine;
  /** Path of the selected model's file. Throws `model_not_installed`. */
  readonly selectedPath: (options: { readonly signal: AbortSignal }) => Promise<string>;
  readonly installedModel: () => ListedModel | null;
}

/** The on-device model as a provider. Whatever `model` a request names, the selected one answers. */
export function createOnDeviceProvider({ engine, selectedPath, installedModel }: OnDeviceProviderOptions): Provider {
  async function* stream(
    request: ModelRequest,
    { signal, onFirstByte, exchanges }: ModelCallOptions,
  ): AsyncGenerator<ModelPart> {
    signal.throwIfAborted();
    let capture: OnDeviceCapture | undefined;
    try {
      const modelPath = await selectedPath({ signal });
      const question = {
        systemMessage: request.systemMessage,
        messages: request.messages,
        sampling: toSampling(request.configuration),
      };
      capture = exchanges?.beginOnDevice(basename(modelPath), { ...question.sampling });
      let isFirst = true;
      for await (const part of engine.answer(question, { modelPath, signal })) {
        if (part.type === 'prompt') {
          capture?.notePrompt(part.text);
          continue;
        }
        if (isFirst) onFirstByte?.();
        isFirst = false;
        if (part.type === 'finished') capture?.end();
        else capture?.take(part.type, part.text);
        yield toModelPart(part);
      }
    } catch (error) {
      capture?.fail(signal.aborted ? signal.reason : error);
      // Streams and events wrap the reason in an error of their own.
      throw signal.aborted ? signal.reason : error;
    }
  }

  return {
    stream,
    async generate(request, options) {
      return collect(stream(request, options));
    },
    async listModels() {
      const model = installedModel();
      return model ? [model] : [];
    },
  };
}

async function collect(parts: AsyncIterable<ModelPart>): Promise<ModelAnswer> {
  let content = '';
  let reasoning: string | null = null;
  let end: Pick<ModelAnswer, 'finishReason' | 'usage'> | null = null;
  for await (const part of parts) {
    if (part.type === 'text-delta') content += part.text;
    else if (part.type === 'reasoning-delta') reasoning = (reasoning ?? '') + part.text;
    else end = part;
  }
  if (!end) throw new Error('The answer ended without its last part');
  return { content, reasoning, finishReason: end.finishReason, usage: end.usage };
}

function toModelPart(part: Exclude<EnginePart, { type: 'prompt' }>): ModelPart {
  if (part.type === 'finished') return { type: 'finish', finishReason: part.finishReason, usage: part.usage };
  return { type: part.type === 'text' ? 'text-delta' : 'reasoning-delta', text: part.text };
}

function toSampling(configuration: Configuration): Sampling {
  const { stop } = configuration;
  return {
    temperature: configuration.temperature ?? undefined,
    topP: configuration.top_p ?? undefined,
    topK: configuration.top_k ?? undefined,
    maxTokens: configuration.max_tokens ?? undefined,
    stop: stop === null || stop === undefined ? [] : [stop].flat(),
    seed: configuration.seed ?? undefined,
    frequencyPenalty: configuration.frequency_penalty ?? undefined,
    presencePenalty: configuration.presence_penalty ?? undefined,
  };
}
