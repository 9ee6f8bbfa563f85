import type { Configuration, FinishReason, Usage } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import type { ExchangeLog } from '../provider-exchanges/exchange-log.ts';

/** The content of a file: the text of a text file, or the bytes of any other file. */
export interface ModelFile {
  readonly data: string | Buffer;
}

/** One request to a model in the service's format. The provider's client translates it. */
export interface ModelRequest {
  /** The provider's name for the model. */
  readonly model: string;
  readonly systemMessage: string | null;
  /** The conversation, oldest message first. */
  readonly messages: readonly Message[];
  /** The contents of the files in the messages, by file id; absent if there are none. */
  readonly files?: ReadonlyMap<string, ModelFile>;
  /** Only named parameters that the model supports. Unknown keys are passed on unchanged. */
  readonly configuration: Configuration;
}

/** The usage object that a provider sent. */
export type RawUsage = Readonly<Record<string, unknown>>;

type ProviderOptions = Readonly<Record<string, Record<string, unknown>>>;

/**
 * Data that a provider needs back with a call when its result is sent, such as the signatures of Anthropic and Gemini. It is stored
 * with the run, and no caller sees it.
 */
export interface ToolCallState {
  readonly options?: ProviderOptions | undefined;
  /** The reasoning that led to the call. */
  readonly reasoning?: readonly { readonly text: string; readonly options?: ProviderOptions | undefined }[] | undefined;
}

/** A call of a tool that the caller defined. */
export interface ModelToolCall extends ToolCall {
  readonly providerState?: ToolCallState;
}

/** Parts of calls. `index` counts the calls of an answer from 0; parts of parallel calls may alternate. */
export type ToolCallModelPart =
  | { readonly type: 'tool-call-start'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'tool-call-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'tool-call-end'; readonly index: number; readonly providerState?: ToolCallState };

/** Text of an answer. `pieces` is the same text in the pieces in which it came, if several arrived together. */
export interface TextPart {
  readonly type: 'text-delta';
  readonly text: string;
  readonly pieces?: readonly string[];
}

/** Takes a text from a stream whose reader waits for the next part. False: it can't, and the reader gets it as the next part. */
export type TakeText = (part: TextPart) => boolean;

export type ModelPart =
  | TextPart
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | ToolCallModelPart
  | ({
      readonly type: 'finish';
      readonly finishReason: FinishReason;
      /** The whole answer, if only its end showed which part of the text was reasoning. It replaces the parts. */
      readonly corrected?: Pick<ModelAnswer, 'content' | 'reasoning'>;
    } & ReportedUsage);

/** More than any model reads or writes. A larger count is wrong, and couldn't be stored or added up. */
export const maxTokens = 1_000_000_000;

export interface ReportedUsage {
  readonly usage: Usage;
  /** Absent if the provider sent none, or one that is implausibly long. */
  readonly rawUsage?: RawUsage;
}

/** A complete answer. */
export interface ModelAnswer extends ReportedUsage {
  readonly content: string;
  readonly reasoning: string | null;
  readonly finishReason: FinishReason;
  /** Absent if the model called no tool. */
  readonly toolCalls?: readonly ModelToolCall[];
}

export interface ModelCallOptions {
  /** Ends the call and closes the socket to the provider immediately. */
  readonly signal: AbortSignal;
  /** Called once, at the first byte of a successful response's body. From then on the run costs credits. */
  readonly onFirstByte?: () => void;
  /** Records what is sent and received; null if nothing is stored. */
  readonly exchanges?: ExchangeLog | null;
  /** Offered each text of a stream first. A text that goes through all readers of a stream takes 10 µs more. */
  readonly takeText?: TakeText;
}

/** A model of a provider's own list. Fields that the list doesn't have are absent. */
export interface ListedModel {
  readonly name: string;
  readonly title?: string;
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  /** `YYYY-MM-DD`. */
  readonly shutdownDate?: string;
}

/** A text for a provider's own classifier. */
export interface ModerationRequest {
  readonly model: string;
  readonly input: string;
}

/** Texts that become vectors. */
export interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
  /** Whether the texts are search queries. Some models embed queries and passages differently. */
  readonly isQuery: boolean;
}

/**
 * One AI service. Every method throws an `AppError` with the code that the caller gets (`provider_key_refused`, `rate_limited`,
 * `provider_silent`, ...), and an `AbortError` after an abort.
 */
export interface Provider {
  /** Its key in each form in which an answer may repeat it, longest first; absent for a provider without keys. */
  readonly secrets?: readonly string[];
  /** Throws `invalid_request` for a configuration that would lose its meaning here; absent if that can't be checked before a call. */
  requireSupported?(configuration: Configuration): void;
  /** One call for a complete answer; no retry. */
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelAnswer>;
  /** One call for a streamed answer; no retry. The last part is `finish`. A consumer that stops reading ends the call. */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelPart>;
  /** Input tokens of a request, by the provider's own count, which sends the prompt; absent where there is no such endpoint. */
  countTokens?(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<number>;
  /** The provider's own list of text models. */
  listModels(options: { readonly signal: AbortSignal }): Promise<ListedModel[]>;
  /** One call of the provider's own classifier, with its unchanged response. Absent if it has none. */
  moderate?(request: ModerationRequest, options: { readonly signal: AbortSignal }): Promise<unknown>;
  /** One vector of length 1 per text, in order, in as many calls as the model needs. Absent if there is no such model. */
  embed?(request: EmbeddingRequest, options: { readonly signal: AbortSignal }): Promise<Float32Array[]>;
}
