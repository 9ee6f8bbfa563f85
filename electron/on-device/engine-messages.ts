import type { FinishReason, Usage } from '../../shared/contract/completions.ts';

/** How the next token is chosen. Absent values take the engine's defaults. */
export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly stop: readonly string[];
  readonly seed?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
}

export interface EngineQuestion {
  readonly systemMessage: string | null;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly sampling: Sampling;
}

/** Why an engine could not load its model; `details` is for the log, it may hold paths. */
export interface LoadFailure {
  readonly reason: 'memory' | 'platform' | 'file';
  readonly details: string;
}

/** From the host to the process. A process loads one model in its life and answers one question at a time. */
export type HostMessage =
  | { readonly type: 'load'; readonly modelPath: string; readonly threads: number | null }
  | { readonly type: 'answer'; readonly id: number; readonly question: EngineQuestion }
  | { readonly type: 'cancel'; readonly id: number };

/** From the process to the host. Every `answer` is ended by exactly one of `finished`, `cancelled`, `too-long`, `failed`. */
export type EngineMessage =
  | { readonly type: 'loaded'; readonly contextTokens: number }
  | { readonly type: 'load-failed'; readonly failure: LoadFailure }
  /** The prompt in the model's chat template, before its first token. */
  | { readonly type: 'prompt'; readonly id: number; readonly text: string }
  | { readonly type: 'text' | 'reasoning'; readonly id: number; readonly text: string }
  | { readonly type: 'finished'; readonly id: number; readonly finishReason: FinishReason; readonly usage: Usage }
  | { readonly type: 'cancelled'; readonly id: number }
  | { readonly type: 'too-long'; readonly id: number; readonly promptTokens: number; readonly contextTokens: number }
  | { readonly type: 'failed'; readonly id: number; readonly details: string };
