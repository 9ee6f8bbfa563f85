import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { SentRequest } from '../provider-exchanges/exchange-log.ts';
import { secretForms } from '../provider-exchanges/redact.ts';
import { StreamTranslation, toAnswer } from './answer-translation.ts';
import { DirectTexts, readParts } from './direct-texts.ts';
import type { AnswerEnd, PlainText, ReadEnd } from './plain-events.ts';
import { toCallOptions, unnamedParameters } from './model-translation.ts';
import type { ListModels } from './provider-lists.ts';
import type { ModelCallOptions, ModelPart, ModelRequest, Provider } from './provider.ts';
import {
  failureFromStatus,
  incompleteAnswer,
  ProviderFailure,
  toProviderError,
  type ProviderIdentity,
} from './provider-error.ts';
import { type RequestFiles, requestFilesOf } from './request-files.ts';
import type { ProviderFetch } from './provider-fetch.ts';

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Merges two objects deeply. Where both have a value, that of `winner` stays. */
export function mergeUnder(
  additions: Record<string, unknown>,
  winner: Record<string, unknown>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...additions };
  for (const [key, value] of Object.entries(winner)) {
    const addition = Object.hasOwn(additions, key) ? additions[key] : undefined;
    const isBothObjects = isPlainObject(addition) && isPlainObject(value);
    Object.defineProperty(merged, key, {
      value: isBothObjects ? mergeUnder(addition, value) : value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return merged;
}

/**
 * Completes the body of one call. `additions` are the caller's unknown parameters, which never replace a field that the service set.
 * `fixed` overrides everything. Undefined if the body needs no change.
 */
export function bodyRewrite(
  additions: Record<string, unknown> | null,
  fixed: Record<string, unknown> | undefined,
): ((body: string) => string) | undefined {
  if (!additions && !fixed) return undefined;
  return (text) => {
    const body = JSON.parse(text) as Record<string, unknown>;
    const merged = mergeUnder(additions ?? {}, body);
    // The caller's functions, and tools of the provider's own.
    if (Array.isArray(body['tools']) && Array.isArray(additions?.['tools'])) {
      merged['tools'] = [...(body['tools'] as unknown[]), ...(additions['tools'] as unknown[])];
    }
    return JSON.stringify({ ...merged, ...fixed });
  };
}

/** Settings of a provider. The key is null for endpoints that need none. */
export interface ProviderSettings extends ProviderIdentity {
  readonly transport: ProviderFetch;
}

/** A counting endpoint. Its request is made from that of the completion. */
export interface TokenCounting {
  /** Its address, from that of the completion. */
  readonly address: (completionAddress: string) => string;
  /** Its body, from that of the completion. */
  readonly body: (completionBody: Readonly<Record<string, unknown>>, model: string) => object;
  /** The field of its response with the count. */
  readonly field: string;
}

/** What differs between providers. */
export interface ProviderTraits<Model extends LanguageModelV4 = LanguageModelV4> {
  /** Imports the package, which no other call needs. */
  readonly createModel: (name: string) => Promise<Model>;
  /** A faster replacement for the model's own `doGenerate`. */
  readonly generate?: (model: Model, options: LanguageModelV4CallOptions) => Promise<LanguageModelV4GenerateResult>;
  readonly listModels: ListModels;
  /** Adds the options that only its package has. */
  readonly adaptOptions?: (options: LanguageModelV4CallOptions, request: ModelRequest) => LanguageModelV4CallOptions;
  /** Fields of the body that the package can't set. They override everything. */
  readonly fixedBody?: Record<string, unknown>;
  /** How the provider counts the input tokens of a request; absent if it can't. */
  readonly counting?: TokenCounting;
  /** Reads the text of an event of the provider's streams; without it, the package reads every event. */
  readonly plainText?: PlainText;
  /** Reads the end of a stream of nothing but text without the package's streams. `finish` rejects an end that it can't read. */
  readonly ending?: {
    readonly read: ReadEnd;
    readonly finish: (model: Model, end: AnswerEnd) => Promise<LanguageModelV4StreamPart>;
  };
  /** Whether an error in a stream loses nothing of the answer. */
  readonly isHarmless?: (error: unknown) => boolean;
}

/** An active call. It has its own signal, so that every way to end it closes the socket. */
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
    // After a complete answer the next call can use the connection.
    if (!isComplete) this.#controller.abort();
  }
}

const maxModels = 200;

/** Packages build their schemas when a model is created, which takes longer than a call. */
function cachedModels<Model>(create: (name: string) => Promise<Model>): (name: string) => Promise<Model> {
  const models = new Map<string, Promise<Model>>();
  return (name) => {
    let model = models.get(name);
    if (!model) {
      if (models.size >= maxModels) models.clear();
      models.set(name, (model = create(name)));
      model.catch(() => models.delete(name));
    }
    return model;
  };
}

/** A provider on one of the AI SDK's packages, at the level of single calls: no retry, no step loop. */
export function createLanguageModelProvider<Model extends LanguageModelV4>(
  settings: ProviderSettings,
  traits: ProviderTraits<Model>,
): Provider {
  const { transport } = settings;
  const generate = traits.generate ?? ((model, options) => model.doGenerate(options));
  const modelOf = cachedModels(traits.createModel);
  const secrets = secretForms(settings.key);

  function begin(
    request: ModelRequest,
    { signal, onFirstByte, exchanges }: ModelCallOptions,
    texts: DirectTexts | null = null,
  ) {
    const call = new Call(signal);
    const files = requestFilesOf(request);
    const rewriteBody = bodyRewrite(unnamedParameters(request.configuration), traits.fixedBody);
    const capture = exchanges
      ? (sent: () => SentRequest) => exchanges.beginHttp(() => ({ request: sent(), secrets }))
      : undefined;
    if (onFirstByte || rewriteBody || files || capture || texts) {
      const context = { onFirstByte: once(onFirstByte), rewriteBody, files, capture };
      transport.join(call.signal, { ...context, ...(texts && { texts }) });
    }
    const options = {
      ...toCallOptions(files?.request ?? request),
      abortSignal: call.signal,
      ...(texts && { includeRawChunks: true }),
    };
    return { call, files, options: traits.adaptOptions?.(options, request) ?? options };
  }

  return {
    secrets,

    async generate(request, callOptions) {
      const { call, options } = begin(request, callOptions);
      let isComplete = false;
      try {
        const answer = toAnswer(await generate(await modelOf(request.model), options));
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
      const { plainText, ending } = traits;
      const texts = plainText ? new DirectTexts(plainText, ending?.read) : null;
      const { call, options } = begin(request, callOptions, texts);
      let isComplete = false;
      try {
        const model = await modelOf(request.model);
        const opening = model.doStream(options);
        const finishWith = (end: AnswerEnd) => ending!.finish(model, end);
        const parts = texts ? readParts(opening, texts, finishWith, callOptions.takeText) : (await opening).stream;
        const translation = new StreamTranslation();
        let finish: ModelPart | null = null;
        for await (const streamPart of parts) {
          if (streamPart.type === 'texts') {
            yield streamPart.part;
            continue;
          }
          if (streamPart.type === 'error') {
            if (traits.isHarmless?.(streamPart.error)) continue;
            throw streamPart.error;
          }
          const part = translation.translate(streamPart);
          if (part === null) continue;
          if (Array.isArray(part)) yield* part;
          else if (part.type === 'finish') finish = part;
          else yield part;
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

    ...(traits.counting && {
      countTokens: async (request: ModelRequest, { signal }: { signal: AbortSignal }) => {
        const { call, options, files } = begin(request, { signal });
        try {
          const sent = await captureRequest(await modelOf(request.model), options, transport);
          return await countTokens(sent, files, traits.counting!, request.model, settings, signal);
        } catch (error) {
          throw toProviderError(error, settings, signal);
        } finally {
          call.end(true);
        }
      },
    }),

    listModels: ({ signal }) => listModels(settings, traits.listModels, signal),
  };
}

/** Thrown instead of sending a request. */
class NotSent extends Error {}

/** The request that a package would send for a completion. */
async function captureRequest(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  transport: ProviderFetch,
): Promise<SentRequest> {
  let sent: SentRequest | null = null;
  const signal = AbortSignal.any([options.abortSignal!]);
  transport.join(signal, {
    capture: (request) => {
      sent = request();
      throw new NotSent();
    },
  });
  try {
    await model.doGenerate({ ...options, abortSignal: signal });
  } catch (error) {
    if (sent === null) throw error;
  }
  return sent!;
}

async function countTokens(
  sent: SentRequest,
  files: RequestFiles | null,
  counting: TokenCounting,
  model: string,
  settings: ProviderSettings,
  callerSignal: AbortSignal,
): Promise<number> {
  const { host: _, 'content-length': __, ...headers } = sent.headers;
  const completionBody = JSON.parse(sent.body ?? '{}') as Record<string, unknown>;
  const signal = AbortSignal.any([callerSignal]);
  settings.transport.join(signal, { files });
  const {
    status,
    headers: responseHeaders,
    text,
  } = await settings.transport.request(counting.address(sent.url), {
    method: 'POST',
    headers,
    body: JSON.stringify(counting.body(completionBody, model)),
    signal,
  });
  if (status < 200 || status >= 300)
    throw failureFromStatus({ status, headers: responseHeaders, body: text }, settings);
  const tokens = countIn(text, counting.field);
  if (tokens === null)
    throw new ProviderFailure('provider_failed', `${settings.title} returned no token count. Try again.`);
  return tokens;
}

function countIn(body: string, field: string): number | null {
  try {
    const count = (JSON.parse(body) as Record<string, unknown> | null)?.[field];
    return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null;
  } catch {
    return null;
  }
}

/** Gemini's package continues a very long answer with a second request. The callback must not run again. */
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
