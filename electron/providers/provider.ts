import type { Configuration, FinishReason, Usage } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { ExchangeLog } from '../provider-exchanges/exchange-log.ts';

/** One question to a model, in the service's words. The provider's file turns it into the provider's own form. */
export interface ModelRequest {
  /** The model as its provider names it. */
  readonly model: string;
  readonly systemMessage: string | null;
  /** The conversation so far, oldest first. */
  readonly messages: readonly Message[];
  /** Only what the model takes: parameters that it does not take are gone already. Unknown keys are passed on as they are. */
  readonly configuration: Configuration;
}

/** The usage object of a provider, as it sent it. */
export type RawUsage = Readonly<Record<string, unknown>>;

export type ModelPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | ({ readonly type: 'finish'; readonly finishReason: FinishReason } & ReportedUsage);

export interface ReportedUsage {
  readonly usage: Usage;
  /** Absent where there is none. */
  readonly rawUsage?: RawUsage;
}

/** A whole answer. */
export interface ModelAnswer extends ReportedUsage {
  readonly content: string;
  readonly reasoning: string | null;
  readonly finishReason: FinishReason;
}

export interface ModelCallOptions {
  /** Ends the call and closes the socket to the provider at once. */
  readonly signal: AbortSignal;
  /** Called once, at the first byte of a successful answer's body; from here on the run costs credits. */
  readonly onFirstByte?: () => void;
  /** Follows what is sent and received; null when nothing is stored. */
  readonly exchanges?: ExchangeLog | null;
}

/** A model that a provider's own list names; what the list does not tell is absent. */
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
  /** Some models tell a question from what might answer it. */
  readonly isQuestion: boolean;
}

/**
 * One AI service. Every method throws `AppError` with the code that the failure has for a caller (`provider_key_refused`,
 * `rate_limited`, `provider_silent`, ...), and an `AbortError` when the signal ended it.
 */
export interface Provider {
  /** One call for a whole answer; no retry. */
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelAnswer>;
  /** One call for a streamed answer; no retry. The last part is `finish`. A consumer that stops reading ends the call. */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelPart>;
  /** Input tokens of a request, by the provider's own count, which sends the prompt; absent where there is no such endpoint. */
  countTokens?(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<number>;
  /** The provider's own list of text models. */
  listModels(options: { readonly signal: AbortSignal }): Promise<ListedModel[]>;
  /** One call of the provider's own classifier, answered word for word; absent where there is none. */
  moderate?(request: ModerationRequest, options: { readonly signal: AbortSignal }): Promise<unknown>;
  /** One vector of length 1 per text, in order, in as many calls as the model needs; absent where there is no such model. */
  embed?(request: EmbeddingRequest, options: { readonly signal: AbortSignal }): Promise<Float32Array[]>;
}
