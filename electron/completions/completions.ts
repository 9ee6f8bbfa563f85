import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { GroundingChoice, GroundingPreview } from '../../shared/contract/grounding.ts';
import type { CreditReservation } from '../credits/credits.ts';
import type { StoredPromptIds } from '../prompts/stored-prompt.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import type { Run } from './run.ts';

/** Who asks for a run and what came with the request. */
export interface RunOrigin {
  readonly callerId: string;
  /** Null for the window. */
  readonly key: AuthenticatedKey | null;
  /** Lower-case names without the `x-app-` prefix. */
  readonly appHeaders: Record<string, string>;
}

/** What a stored prompt or an agent adds to a request. */
export interface RunContext {
  readonly signal: AbortSignal;
  /** The version that the request was made from. */
  readonly storedPrompt?: StoredPromptIds;
  /** The request is a turn of a conversation, and no template. */
  readonly turn?: {
    readonly conversationId: string;
    /** What was said before, oldest first. */
    readonly history: readonly Message[];
  };
  /** The passages that a person has chosen, beside or instead of those that a search finds. */
  readonly grounding?: GroundingChoice;
}

/** A run that was accepted: its outcome is recorded even if its caller leaves. */
export interface AcceptedRun {
  readonly run: Run;
  readonly credit: CreditReservation;
}

export interface Completions {
  /**
   * Checks a request and begins its run. Throws `AppError` for everything that keeps it from being one: a bad template, an
   * unknown model or dataspace (400), credits used up (402), another caller's conversation (403), a provider without a key (503).
   * A promise when the guard has to look at the prompt first, which rejects with 400 for one that is refused, or when the
   * provider has to be asked whether it has the model.
   */
  start(request: CompletionRequest, origin: RunOrigin, context: RunContext): AcceptedRun | Promise<AcceptedRun>;
  /** What a run with these passages would be sent; throws as `start` does, but nothing is run. */
  previewGrounding(
    request: CompletionRequest,
    choice: GroundingChoice,
    options: { readonly signal: AbortSignal },
  ): Promise<GroundingPreview>;
  /**
   * Input tokens as the provider counts them, passages included; the prompt is sent there. Throws as `start` does, and 400 for a
   * provider that doesn't count.
   */
  countTokens(request: CompletionRequest, options: { readonly signal: AbortSignal }): Promise<number>;
  /** An active run, null when it has ended or never was. */
  active(runId: string): Run | null;
  /** Stops every active run and resolves when all of them are on disk. */
  close(): Promise<void>;
}
