import type { Citation, CompletionBody, CompletionRequest, Warning } from '../../shared/contract/completions.ts';
import type { RunOrigin as CallOrigin } from '../../shared/contract/conversations.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { GroundingChoice, GroundingPreview } from '../../shared/contract/grounding.ts';
import type { CreditReservation } from '../credits/credits.ts';
import type { StoredPromptIds } from '../prompts/stored-prompt.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import type { NewRun, RunOutcome } from '../storage/run-rows.ts';
import type { PromptFiles } from './prompt-file.ts';
import type { Run } from './run.ts';

/** The caller of a run, and its headers. */
export interface RunOrigin {
  readonly callerId: string;
  /** Null for the window. */
  readonly key: AuthenticatedKey | null;
  /** Lower-case names without the `x-app-` prefix. */
  readonly appHeaders: Record<string, string>;
  /** The API and the program of a call that came in another API's format; absent for completions. */
  readonly origin?: CallOrigin;
}

/** What a stored prompt or an agent adds to a request. */
export interface RunContext {
  readonly signal: AbortSignal;
  /** The id of the new run, for callers that store it before the run starts; a new one unless given. */
  readonly runId?: string;
  /** The version that the request was made from. */
  readonly storedPrompt?: StoredPromptIds;
  /** Whether the stored prompt declares a variable `history`. */
  readonly isHistoryVariable?: boolean;
  /** Set if the request is a turn of a conversation. Its text is then no template. */
  readonly turn?: {
    readonly conversationId: string;
    /** Earlier messages, oldest first. */
    readonly history: readonly Message[];
    /** The agent's prompt, if it sets roles: it is rendered with the history and the message. */
    readonly template?: string | undefined;
  };
  /** The files of the replacements, with their contents. */
  readonly files?: PromptFiles;
  /** Set if the request continues a run with the results of its tool calls. Its messages are not rendered again. */
  readonly continuation?: RunContinuation;
  /** What the caller left out of the request, for the record of the run. */
  readonly warnings?: readonly Warning[];
  /** Absent for a run that is recorded as it is. */
  readonly recording?: RunRecording;
  /** Passages that the user selected, beside or instead of those that the search finds. */
  readonly grounding?: GroundingChoice;
}

/** How a run is recorded, if not as it is. Its calls to the provider aren't stored then. */
export interface RunRecording {
  /** What is recorded of the request; null if nothing of the run is. */
  readonly texts: RecordedTexts | null;
  /** What is recorded of the outcome. It never rejects. */
  readonly outcome: (outcome: RunOutcome) => Promise<RunOutcome>;
}

export interface RecordedTexts extends Pick<NewRun, 'promptText' | 'systemMessage' | 'configuration' | 'appHeaders'> {
  /** Null if they aren't recorded. */
  readonly messages: readonly Message[] | null;
  /** The name of the program. */
  readonly client: string | null;
}

/** What a run continues from. */
export interface RunContinuation {
  readonly conversationId: string;
  /** The messages of the continued run, its answer and the results. */
  readonly messages: readonly Message[];
  /** Earlier turns of an agent's conversation, and where they are sent among the messages. */
  readonly history?: { readonly messages: readonly Message[]; readonly index: number };
  /** The contents of the results, in their order in the request. */
  readonly results: readonly string[];
  readonly storedPrompt: StoredPromptIds | null;
  /** The passages in the messages. */
  readonly citations: readonly Citation[];
  /** Whether the messages have an agent's template around what the user wrote. */
  readonly isTemplate?: boolean;
}

/** A run that was accepted: its outcome is recorded even if its caller leaves. */
export interface AcceptedRun {
  readonly run: Run;
  readonly credit: CreditReservation;
}

export interface Completions {
  /**
   * Checks a request and starts its run. Throws `AppError` for a bad template, an unknown model or dataspace (400), no credits left
   * (402), another caller's conversation (403), and a provider without a key (503). Returns a promise if the guard has to check the
   * prompt first, which rejects with 400 for a blocked one, or if the provider's list of models has to be fetched.
   */
  start(request: CompletionRequest, origin: RunOrigin, context: RunContext): AcceptedRun | Promise<AcceptedRun>;
  /**
   * As `start`, or continues the caller's run that `continueRunId` names. Throws 404 if there is none, and 400 for results that don't
   * fit its tool calls.
   */
  startOrContinue(body: CompletionBody, origin: RunOrigin, context: RunContext): AcceptedRun | Promise<AcceptedRun>;
  /** What a run with these passages would send. Throws as `start` does and starts nothing. */
  previewGrounding(
    request: CompletionRequest,
    choice: GroundingChoice,
    options: { readonly signal: AbortSignal },
  ): Promise<GroundingPreview>;
  /**
   * Input tokens, passages included. The provider gets the prompt and counts them. Throws as `start` does, and 400 for a provider that
   * can't count.
   */
  countTokens(request: CompletionRequest, options: { readonly signal: AbortSignal }): Promise<number>;
  /** Null if the run has ended or doesn't exist. */
  active(runId: string): Run | null;
  /** Stops every active run. Resolves when all of them are on disk. */
  close(): Promise<void>;
}
