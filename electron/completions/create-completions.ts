import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { GroundingChoice, GroundingPreview } from '../../shared/contract/grounding.ts';
import type { CreditReservation, Credits } from '../credits/credits.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ApplicablePart, StoredPromptIds } from '../prompts/stored-prompt.ts';
import type { ModelRequest } from '../providers/provider.ts';
import type { AuthenticatedKey, RunStore } from '../storage/storage.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import type { Guard, RunGuard } from './guard.ts';
import { renderPrompt } from './render-prompt.ts';
import { groundRequest } from './ground-request.ts';
import { Run } from './run.ts';

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
    readonly history: ModelRequest['messages'];
  };
  /** The passages that a person has chosen, beside or instead of those that a search finds. */
  readonly grounding?: GroundingChoice;
}

/** A run that was accepted: its outcome is recorded whatever its caller does. */
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
  /** A run under way, null when it has ended or never was. */
  active(runId: string): Run | null;
  activeCount(): number;
  /** Stops every run under way and resolves when all of them are on disk. */
  close(): Promise<void>;
}

export interface CompletionsOptions {
  readonly runs: RunStore;
  readonly providers: Providers;
  readonly credits: Credits;
  readonly guard: Guard;
  readonly grounding: Grounding;
  /** The stored version that a request of its own says it was made from; null for none, and for one that was edited. */
  readonly storedPromptOf: (request: CompletionRequest, applicable: ApplicablePart) => StoredPromptIds | null;
}

function conversationName(promptText: string): string {
  return (promptText.trim().split('\n', 1)[0] ?? '').slice(0, 120);
}

/** A request that was found good, before its run begins. */
type PreparedRun = ReturnType<typeof prepareRun>;

function prepareRun(
  request: CompletionRequest,
  context: RunContext,
  { providers, grounding }: Pick<CompletionsOptions, 'providers' | 'grounding'>,
) {
  const dataspaceIds = request.dataspaceIds ? grounding.requireDataspaces(request.dataspaceIds) : null;
  const rendered = context.turn
    ? { text: request.promptText, warnings: [] }
    : renderPrompt(request.promptText, request.replacements ?? {});
  const target = providers.resolve(request.aiSystem, request.model);
  const { configuration, warnings } = providers.applicableConfiguration(target, request.configuration ?? {});
  return {
    request,
    context,
    dataspaceIds,
    systemMessage: request.systemMessage ?? null,
    renderedPrompt: rendered.text,
    target,
    configuration,
    warnings: [...rendered.warnings, ...warnings],
  };
}

/** Tries once more when the provider has told its list of models, if the model of a refused request may stand in it. */
function withLearnedModel(
  { aiSystem, model }: CompletionRequest,
  signal: AbortSignal,
  providers: Pick<Providers, 'learnModel'>,
  attempt: () => AcceptedRun | Promise<AcceptedRun>,
): AcceptedRun | Promise<AcceptedRun> {
  try {
    return attempt();
  } catch (error) {
    const learning = providers.learnModel(aiSystem, model);
    if (learning === null) throw error;
    return learning.then(() => {
      signal.throwIfAborted();
      return attempt();
    });
  }
}

export function createCompletions(options: CompletionsOptions): Completions {
  const { runs, providers, credits, guard, storedPromptOf } = options;
  const active = new Map<string, Run>();
  let isClosing = false;

  function begin(prepared: PreparedRun, origin: RunOrigin, runGuard: RunGuard | null): AcceptedRun {
    if (isClosing) throw new AppError('provider_not_configured', 'The service is being shut down.');
    const { request, context, target, warnings, systemMessage, renderedPrompt, dataspaceIds } = prepared;
    const joined = runs.joinConversation({
      conversationId: context.turn?.conversationId ?? request.metadata?.conversationId ?? null,
      workspaceId: request.metadata?.workspaceId ?? null,
      callerId: origin.callerId,
      name: conversationName(request.promptText),
    });
    const credit = credits.reserve(origin.key);
    const ids = { runId: timeOrderedId(), messageId: randomUUID(), conversationId: joined.conversationId };
    const applicable: ApplicablePart = (kept) => providers.applicableConfiguration(target, kept).configuration;
    const storedPrompt = context.storedPrompt ?? (context.turn ? null : storedPromptOf(request, applicable));
    runs.begin({
      ...ids,
      ...origin,
      apiKeyId: origin.key?.id ?? null,
      workspaceId: joined.workspaceId,
      promptId: storedPrompt?.promptId ?? null,
      promptVersionId: storedPrompt?.promptVersionId ?? null,
      aiSystem: request.aiSystem,
      model: request.model,
      servedBy: target.servedBy,
      createdAt: Date.now(),
      promptText: request.promptText,
      systemMessage,
      replacements: request.replacements ?? null,
      renderedPrompt,
      configuration: request.configuration ?? null,
      dataspaceIds,
      metadata: request.metadata ?? null,
      warnings,
    });
    const run = new Run(
      {
        ...ids,
        servedBy: target.servedBy,
        warnings,
        provider: target.provider,
        request: {
          model: target.model,
          systemMessage,
          messages: [...(context.turn?.history ?? []), { role: 'user', content: renderedPrompt }],
          configuration: prepared.configuration,
        },
        ground: groundRequest(prepared, options.grounding),
        cost: (usage) => providers.cost(target, usage),
        releaseCredit: credit.release,
        runs,
        guard: runGuard,
      },
      context.signal,
    );
    active.set(ids.runId, run);
    void run.settled.then(() => active.delete(ids.runId));
    return { run, credit };
  }

  function start(request: CompletionRequest, origin: RunOrigin, context: RunContext) {
    return withLearnedModel(request, context.signal, providers, () => {
      const prepared = prepareRun(request, context, options);
      const guarded = guard.begin(prepared, context);
      if (guarded instanceof Promise) return guarded.then((runGuard) => begin(prepared, origin, runGuard));
      return begin(prepared, origin, guarded);
    });
  }

  async function previewGrounding(
    request: CompletionRequest,
    choice: GroundingChoice,
    { signal }: { signal: AbortSignal },
  ): Promise<GroundingPreview> {
    const prepared = prepareRun(request, { signal }, options);
    const dataspaceIds = prepared.dataspaceIds ?? [];
    const { citations: _, ...preview } = await options.grounding.ground(
      { ...prepared, dataspaceIds, choice },
      { signal },
    );
    return preview;
  }

  async function close(): Promise<void> {
    isClosing = true;
    const pending = [...active.values()];
    for (const run of pending) run.stop();
    await Promise.all(pending.map((run) => run.settled));
  }

  return {
    start,
    previewGrounding,
    active: (runId) => active.get(runId) ?? null,
    activeCount: () => active.size,
    close,
  };
}
