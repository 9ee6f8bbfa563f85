import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { SentRequest } from '../provider-exchanges/exchange-log.ts';
import { secretForms } from '../provider-exchanges/redact.ts';
import { bodyRewrite } from './merge-body.ts';
import { toAnswer, toCallOptions, toPart, unnamedParameters } from './model-translation.ts';
import type { ListModels } from './provider-lists.ts';
import type { ModelCallOptions, ModelPart, ModelRequest, Provider } from './provider.ts';
import { incompleteAnswer, toProviderError, type ProviderIdentity } from './provider-error.ts';
import type { ProviderFetch } from './provider-fetch.ts';

/** What a provider is made from; the key is null for endpoints that want none. */
export interface ProviderSettings extends ProviderIdentity {
  readonly transport: ProviderFetch;
}

/** How one provider differs from the others. */
export interface ProviderTraits<Model extends LanguageModelV4 = LanguageModelV4> {
  readonly createModel: (name: string) => Model;
  /** Asks for a whole answer with less effort than the model's own `doGenerate`, and the same outcome. */
  readonly generate?: (model: Model, options: LanguageModelV4CallOptions) => Promise<LanguageModelV4GenerateResult>;
  readonly listModels: ListModels;
  /** What its package wants to be told beside the common options. */
  readonly adaptOptions?: (options: LanguageModelV4CallOptions, request: ModelRequest) => LanguageModelV4CallOptions;
  /** Fields of the body that its package cannot set; they win over everything. */
  readonly fixedBody?: Record<string, unknown>;
  /** Whether an error inside a stream is one that loses nothing of the answer. */
  readonly isHarmless?: (error: unknown) => boolean;
}

/** A call under way: its own signal, so that whatever ends it closes the socket. */
class Call {
  readonly #controller = new AbortController();
  readonly #callerSignal: AbortSignal;
  readonly #onAbort = () => this.#controller.abort();

  constructor(callerSignal: AbortSignal) {
    this.#callerSignal = callerSignal;
    if (callerSignal.aborted) this.#onAbort();
    else callerSignal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(isComplete: boolean): void {
    this.#callerSignal.removeEventListener('abort', this.#onAbort);
    // A complete answer leaves its connection for the next call.
    if (!isComplete) this.#controller.abort();
  }
}

const maxModels = 200;

/** A provider on one of the AI SDK's packages, at the level of single calls: no retry, no step loop. */
export function createLanguageModelProvider<Model extends LanguageModelV4>(
  settings: ProviderSettings,
  traits: ProviderTraits<Model>,
): Provider {
  const { transport } = settings;
  const generate = traits.generate ?? ((model, options) => model.doGenerate(options));
  // Packages build their schemas when a model is made, which costs more than a call.
  const models = new Map<string, Model>();

  function modelOf(name: string): Model {
    let model = models.get(name);
    if (!model) {
      if (models.size >= maxModels) models.clear();
      models.set(name, (model = traits.createModel(name)));
    }
    return model;
  }

  const secrets = secretForms(settings.key);

  function begin(request: ModelRequest, { signal, onFirstByte, exchanges }: ModelCallOptions) {
    const call = new Call(signal);
    const rewriteBody = bodyRewrite(unnamedParameters(request.configuration), traits.fixedBody);
    const capture = exchanges ? (sent: SentRequest) => exchanges.beginHttp(sent, secrets) : undefined;
    if (onFirstByte || rewriteBody || capture) {
      transport.join(call.signal, { onFirstByte: once(onFirstByte), rewriteBody, capture });
    }
    const options = { ...toCallOptions(request), abortSignal: call.signal };
    return { call, options: traits.adaptOptions?.(options, request) ?? options };
  }

  return {
    async generate(request, callOptions) {
      const { call, options } = begin(request, callOptions);
      let isComplete = false;
      try {
        const answer = toAnswer(await generate(modelOf(request.model), options));
        isComplete = true;
        if (!answer) throw incompleteAnswer(settings);
        return answer;
      } catch (error) {
        throw toProviderError(error, settings, callOptions.signal);
      } finally {
        call.end(isComplete);
      }
    },

    async *stream(request, callOptions) {
      const { call, options } = begin(request, callOptions);
      let isComplete = false;
      try {
        const { stream } = await modelOf(request.model).doStream(options);
        let finish: ModelPart | null = null;
        for await (const streamPart of stream) {
          if (streamPart.type === 'error') {
            if (traits.isHarmless?.(streamPart.error)) continue;
            throw streamPart.error;
          }
          const part = toPart(streamPart);
          if (part?.type === 'finish') finish = part;
          else if (part) yield part;
        }
        if (!finish) throw incompleteAnswer(settings);
        isComplete = true;
        yield finish;
      } catch (error) {
        throw toProviderError(error, settings, callOptions.signal);
      } finally {
        call.end(isComplete);
      }
    },

    listModels: ({ signal }) => listModels(settings, traits.listModels, signal),
  };
}

/** Gemini's package continues a very long answer with a second request, which begins no second answer. */
function once(callback: (() => void) | undefined): (() => void) | undefined {
  if (!callback) return undefined;
  let isCalled = false;
  return () => {
    if (isCalled) return;
    isCalled = true;
    callback();
  };
}

async function listModels(settings: ProviderSettings, list: ListModels, callerSignal: AbortSignal) {
  const call = new Call(callerSignal);
  let isComplete = false;
  try {
    const models = await list({ ...settings, signal: call.signal });
    isComplete = true;
    return models;
  } catch (error) {
    throw toProviderError(error, settings, callerSignal);
  } finally {
    call.end(isComplete);
  }
}
