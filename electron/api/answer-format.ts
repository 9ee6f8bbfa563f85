import type { RunAnswer, RunPart } from '../completions/run.ts';
import type { Fields } from '../passthrough/fields.ts';

/** What every object of one answer has. */
export interface AnswerHead {
  readonly runId: string;
  /** In seconds. */
  readonly created: number;
  readonly model: string;
  readonly request: Fields;
}

export interface AnswerFailure {
  readonly code: string;
  readonly message: string;
}

/** The events of one streamed answer, as text. */
export interface AnswerEvents {
  start(): string;
  /** Empty for a part that the format doesn't have. */
  part(part: RunPart): string;
  /** The last event of an answer that broke off. */
  failure(failure: AnswerFailure): string;
}

/** How an API of OpenAI writes an answer. */
export interface AnswerFormat {
  whole(head: AnswerHead, answer: RunAnswer): object;
  stream(head: AnswerHead, body: Fields): AnswerEvents;
}
