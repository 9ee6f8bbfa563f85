import { availableParallelism } from 'node:os';
import type {
  ChatHistoryItem,
  Llama,
  LlamaChat,
  LLamaChatGenerateResponseOptions,
  LlamaChatResponseChunk,
  Token,
  TokenBias,
} from 'node-llama-cpp';
import type { Grammar } from '../../shared/schema-grammar.ts';
import type { EngineRequest, Sampling } from './engine-process.ts';
import { createEndingBias } from './ending-bias.ts';
import { createThreadMeter } from './spare-cores.ts';

/** Tokens of a prompt that are evaluated at a time. An abort takes effect between two slices. */
const promptSliceTokens = 128;

/** A larger context needs more memory than a small model benefits from. */
const maximumContextTokens = 8192;

/** A small model repeats itself without some randomness; these are the usual values of llama.cpp's own tools. */
const defaultTemperature = 0.7;
const defaultTopP = 0.95;
const defaultTopK = 40;

/** Tokens of the answer that the two OpenAI-style penalties consider. */
const penaltyWindowTokens = 256;

export interface AnswerCallbacks {
  /** The prompt in the model's chat template, with its special tokens. */
  readonly onPrompt: (text: string) => void;
  readonly onText: (text: string) => void;
  readonly onReasoning: (text: string) => void;
}

export type AnswerOutcome =
  | { readonly type: 'finished'; readonly isCut: boolean; readonly promptTokens: number; readonly answerTokens: number }
  | { readonly type: 'too-long'; readonly promptTokens: number; readonly contextTokens: number };

/** A loaded model with one context; it answers one request at a time. */
export interface LoadedModel {
  readonly contextTokens: number;
  /** Rejects with the signal's reason after an abort. */
  answer(request: EngineRequest, callbacks: AnswerCallbacks, signal: AbortSignal): Promise<AnswerOutcome>;
}

/**
 * Loads a GGUF file with node-llama-cpp's CPU build. `threads` is the maximum; null is one for each core that helps with
 * arithmetic, at most eight, beyond which memory is the limit. Fewer are used while other programs need the cores.
 */
export async function loadModel(modelPath: string, threads: number | null): Promise<LoadedModel> {
  const { getLlama, LlamaChat, LlamaLogLevel, TokenBias } = await import('node-llama-cpp');
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.error,
  });
  const maximumThreads = threads ?? Math.max(1, Math.min(8, llama.cpuMathCores, availableParallelism()));
  // Started here, so that the first request finds a measurement: loading takes long enough for one.
  const countThreads = createThreadMeter(maximumThreads);
  llama.maxThreads = maximumThreads;
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({
    contextSize: { max: maximumContextTokens },
    threads: maximumThreads,
    // With flash attention, sums depend on the number of threads, and the same seed would not give the same text.
    flashAttention: false,
  });
  const chat = new LlamaChat({ contextSequence: context.getSequence() });
  const adaptThreads = () => {
    llama.maxThreads = countThreads();
  };
  const createBias = () => TokenBias.for(model);
  return {
    contextTokens: context.contextSize,
    answer: (request, callbacks, signal) =>
      answer({ llama, chat, createBias }, request, { ...callbacks, onStep: adaptThreads }, signal),
  };
}

interface Engine {
  readonly llama: Llama;
  readonly chat: LlamaChat;
  readonly createBias: () => TokenBias;
}

async function answer(
  { llama, chat, createBias }: Engine,
  request: EngineRequest,
  callbacks: AnswerCallbacks & { readonly onStep: () => void },
  signal: AbortSignal,
): Promise<AnswerOutcome> {
  const history = toHistory(request);
  // If the history ends with an answer, the library continues it.
  const isContinued = history.at(-1)?.type === 'model';
  const { contextText } = chat.chatWrapper.generateContextState({
    chatHistory: isContinued ? history : [...history, { type: 'model', response: [] }],
  });
  const prompt = contextText.tokenize(chat.model.tokenizer);
  callbacks.onPrompt(chat.model.detokenize(prompt, true));
  const contextTokens = chat.context.contextSize;
  // At the limit the library would shift the context and drop the beginning instead of failing; two spare tokens prevent that.
  const roomForAnswer = contextTokens - prompt.length - 2;
  if (roomForAnswer < 1) return { type: 'too-long', promptTokens: prompt.length, contextTokens };

  await readPrompt(chat, prompt, { sampling: request.sampling, signal, onStep: callbacks.onStep });
  const before = chat.sequence.tokenMeter.getState();
  const maxTokens = Math.min(request.sampling.maxTokens ?? roomForAnswer, roomForAnswer);
  const options = {
    ...toGenerationOptions(request.sampling),
    maxTokens,
    signal,
    onToken: callbacks.onStep,
    onResponseChunk({ type, text }: LlamaChatResponseChunk) {
      if (text === '') return;
      if (type === 'segment') callbacks.onReasoning(text);
      else callbacks.onText(text);
    },
  };
  const { metadata } = await chat.generateResponse(
    history,
    request.grammar ? { ...options, ...(await toGrammarOptions(request.grammar)) } : options,
  );
  return {
    type: 'finished',
    isCut: metadata.stopReason === 'maxTokens',
    promptTokens: prompt.length,
    answerTokens: chat.sequence.tokenMeter.diff(before).usedOutputTokens,
  };

  async function toGrammarOptions({ text, endBytes }: Grammar) {
    const bias = createEndingBias(chat.model, createBias, { endBytes, maxTokens });
    return {
      grammar: await llama.createGrammar({ grammar: text }),
      tokenBias: bias.current,
      onToken(tokens: Token[]) {
        bias.read(tokens);
        callbacks.onStep();
      },
    };
  }
}

function toHistory({ systemMessage, messages }: EngineRequest): ChatHistoryItem[] {
  const system: ChatHistoryItem[] = systemMessage === null ? [] : [{ type: 'system', text: systemMessage }];
  return [
    ...system,
    ...messages.map(({ role, text }): ChatHistoryItem =>
      role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text },
    ),
  ];
}

/**
 * Evaluates the prompt in slices, all but its last token, from which the answer is generated. In one step, a long prompt could not
 * be aborted for many seconds. An equal prefix in the context is reused, except when the caller may rely on the same text each
 * time: a prompt that is evaluated in other batches gives slightly different numbers.
 */
async function readPrompt(
  chat: LlamaChat,
  prompt: Token[],
  { sampling, signal, onStep }: { sampling: Sampling; signal: AbortSignal; onStep: () => void },
): Promise<void> {
  const { sequence } = chat;
  const isRepeatable = sampling.seed !== undefined || sampling.temperature === 0;
  if (isRepeatable) await sequence.clearHistory();
  else await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
  for (let start = sequence.nextTokenIndex; start < prompt.length - 1; start = sequence.nextTokenIndex) {
    signal.throwIfAborted();
    onStep();
    const end = Math.min(start + promptSliceTokens, prompt.length - 1);
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(start, end));
  }
  signal.throwIfAborted();
}

function toGenerationOptions(
  sampling: Sampling,
): Pick<
  LLamaChatGenerateResponseOptions,
  'temperature' | 'topP' | 'topK' | 'customStopTriggers' | 'seed' | 'repeatPenalty'
> {
  const { frequencyPenalty, presencePenalty, seed } = sampling;
  const hasPenalty = frequencyPenalty !== undefined || presencePenalty !== undefined;
  return {
    temperature: sampling.temperature ?? defaultTemperature,
    topP: sampling.topP ?? defaultTopP,
    topK: sampling.topK ?? defaultTopK,
    customStopTriggers: sampling.stop.filter((text) => text !== ''),
    // The sampler takes 32 bits. Truncating a larger seed would make two seeds equal.
    ...(seed === undefined ? {} : { seed: Number(BigInt.asUintN(32, BigInt(seed))) }),
    ...(hasPenalty
      ? {
          repeatPenalty: {
            penalty: 1,
            lastTokens: penaltyWindowTokens,
            frequencyPenalty: frequencyPenalty ?? 0,
            presencePenalty: presencePenalty ?? 0,
          },
        }
      : {}),
  };
}
