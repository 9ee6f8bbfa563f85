import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { ActiveMap } from '../common/active-values.ts';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import { type Message, textOfMessage, textOfMessages, textOfToolCalls } from '../../shared/contract/messages.ts';
import type { GroundingChoice, GroundingPreview } from '../../shared/contract/grounding.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { ApplicablePart, StoredPromptIds } from '../prompts/stored-prompt.ts';
import type { ProviderExchanges } from '../provider-exchanges/create-provider-exchanges.ts';
import type { ModelRequest } from '../providers/provider.ts';
import type { ProviderPauses } from '../providers/provider-pauses.ts';
import type { Providers } from '../providers/create-providers.ts';
import { type Membership, requireMembership } from '../storage/conversations.ts';
import type { RunStore } from '../storage/storage.ts';
import type { SchemaChecker } from '../schemas/create-schema-checker.ts';
import type { AcceptedRun, Completions, RunContext, RunOrigin } from './completions.ts';
import {
  type Allowance,
  type AllowanceOptions,
  allowRun,
  notStarted,
  type PreparedRun,
  prepareRun,
} from './prepare-run.ts';
import { checkSchemas } from './check-schemas.ts';
import { toRequest } from './continue-run.ts';
import type { ContinuedTexts, Guard, RunGuard } from './guard.ts';
import { parseAhead, recordedMessages } from './render-prompt.ts';
import { type PromptFileLoader, withFiles } from './load-files.ts';
import { recordedEnd, recordStart } from './record-run.ts';
import { Run, type RunPlan } from './run.ts';

/** A conversation as one text, which is stored with the run. */
function sentText(messages: readonly Message[]): string {
  const [only] = messages;
  if (messages.length === 1) return textOfMessage(only!);
  return messages.map((message) => `${message.role}: ${textOfMessage(message)}`).join('\n\n');
}

/** Finds the passages for a prompt. `replace` puts them before the text of its last user message, wherever that message is. */
async function groundMessages(
  prepared: PreparedRun,
  choice: GroundingChoice,
  grounding: Grounding,
  options: { readonly signal: AbortSignal },
) {
  const question = prepared.ownMessages.findLast(({ role }) => role === 'user')!;
  const history = prepared.messages.filter((message) => message !== question);
  const dataspaceIds = prepared.dataspaceIds ?? [];
  const request = { ...prepared, renderedPrompt: textOfMessage(question), dataspaceIds, choice, history };
  const { messages: filled, ...grounded } = await grounding.ground(request, options);
  const last = filled.at(-1)!;
  const files = question.content.filter(({ type }) => type !== 'text');
  const replacement = [...filled.slice(0, -1), { ...last, content: [...last.content, ...files] }];
  const replace = (messages: readonly Message[]): Message[] =>
    messages.flatMap((message) => (message === question ? replacement : [message]));
  return { ...grounded, replace };
}

/** A request without passages. */
function plainRequest({ target, systemMessage, messages, configuration, files }: PreparedRun): ModelRequest {
  return { model: target.model, systemMessage, messages, configuration, files };
}

/** How a run finds its passages; null if it has no dataspaces. */
function groundRequest(prepared: PreparedRun, grounding: Grounding): RunPlan['ground'] {
  const { systemMessage, target, messages, ownMessages, files } = prepared;
  const choice = prepared.context.grounding ?? {};
  if ((prepared.dataspaceIds ?? []).length === 0 && !choice.only) return null;
  return async (options) => {
    const { configuration, citations, replace } = await groundMessages(prepared, choice, grounding, options);
    const sent = replace(ownMessages);
    const isPlain = recordedMessages(ownMessages) === null;
    return {
      request: { model: target.model, systemMessage, messages: replace(messages), configuration, files },
      citations,
      sentPrompt: isPlain ? sentText(sent) : textOfMessages(sent),
      sentMessages: isPlain ? null : sent,
      messages: sent,
    };
  };
}

export interface CompletionsOptions extends AllowanceOptions {
  readonly runs: RunStore;
  readonly providers: Providers;
  readonly guard: Guard;
  readonly grounding: Grounding;
  readonly exchanges: Pick<ProviderExchanges, 'open'>;
  readonly pauses: Pick<ProviderPauses, 'note'>;
  readonly schemas: Pick<SchemaChecker, 'check'>;
  readonly files: PromptFileLoader;
  /** The stored version that a request names, if it still has the same content; otherwise null. */
  readonly storedPromptOf: (request: CompletionRequest, applicable: ApplicablePart) => StoredPromptIds | null;
  /** Finds a conversation that only other hosts know; null if none are asked. */
  readonly findElsewhere: ((conversationId: string) => Promise<Membership | null>) | null;
}

/** From this many characters on, a request is parsed and started in separate turns of the event loop. */
const longRequest = 8192;

function isLong({ promptText, systemMessage, replacements }: CompletionRequest): boolean {
  const texts = [promptText, systemMessage, ...Object.values(replacements ?? {})];
  return texts.some((text) => text != null && (typeof text !== 'string' || text.length > longRequest));
}

/** If the model is unknown, fetches the provider's list of models and tries once more. */
function withLearnedModel<Result>(
  { aiSystem, model }: CompletionRequest,
  signal: AbortSignal,
  providers: Pick<Providers, 'learnModel'>,
  attempt: () => Result | Promise<Result>,
): Result | Promise<Result> {
  try {
    return attempt();
  } catch (error) {
    const learning = providers.learnModel(aiSystem, model);
    if (learning === null) throw error;
    return learning.then(async () => {
      signal.throwIfAborted();
      return await attempt();
    });
  }
}

/** Parsing, rendering and sending 4 MB take up to 200 ms each. Other requests run in between. */
async function startInSteps(
  { promptText }: CompletionRequest,
  { turn, continuation, signal }: RunContext,
  attempt: () => AcceptedRun | Promise<AcceptedRun>,
): Promise<AcceptedRun> {
  if (!turn && !continuation) await parseAhead(promptText);
  signal.throwIfAborted();
  const accepted = await attempt();
  await nextTurn();
  return accepted;
}

/** The texts of a continuation that the guard checks under separate fields. */
function continuedTexts({ continuation }: RunContext): ContinuedTexts | undefined {
  if (!continuation) return undefined;
  const calls = continuation.messages.map(textOfToolCalls).filter((text) => text !== '');
  return { results: continuation.results, calls: calls.join('\n') };
}

/** Input tokens of a request, counted by its provider. */
async function countTokens(
  request: CompletionRequest,
  context: RunContext,
  options: CompletionsOptions,
): Promise<number> {
  const { guard, grounding, providers } = options;
  const { signal } = context;
  await parseAhead(request.promptText);
  const prepared = await withLearnedModel(request, signal, providers, () => prepareRun(request, context, options));
  const { provider, servedBy } = prepared.target;
  if (!provider.countTokens) {
    throw new AppError('invalid_request', `The provider of ${servedBy} doesn't count tokens before a run.`);
  }
  // A prompt that the guard blocks must not reach the provider for counting either.
  await guard.begin(prepared, { signal });
  const grounded = await groundRequest(prepared, grounding)?.({ signal });
  return provider.countTokens(grounded?.request ?? plainRequest(prepared), { signal });
}

/** What a run with these passages would send. */
async function previewGrounding(
  request: CompletionRequest,
  choice: GroundingChoice,
  context: RunContext,
  options: CompletionsOptions,
): Promise<GroundingPreview> {
  await parseAhead(request.promptText);
  const prepared = prepareRun(request, context, options);
  const { citations: _, replace, ...preview } = await groundMessages(prepared, choice, options.grounding, context);
  const messages = replace(prepared.messages).map((message) => ({
    role: message.role,
    content: textOfMessage(message),
  }));
  return { ...preview, messages };
}

/** Starts a request whose schemas are valid. */
function startChecked(
  request: CompletionRequest,
  context: RunContext,
  schemas: Pick<SchemaChecker, 'check'>,
  attempt: () => AcceptedRun | Promise<AcceptedRun>,
): AcceptedRun | Promise<AcceptedRun> {
  const start = () => (context.continuation || isLong(request) ? startInSteps(request, context, attempt) : attempt());
  const checking = checkSchemas(request.configuration, schemas, context.signal);
  return checking === null ? start() : checking.then(start);
}

/** Rejects as `joinConversation` throws, for a conversation of another host. Null if it is of this one, or new. */
function checkElsewhere(
  { metadata }: CompletionRequest,
  { callerId }: RunOrigin,
  { turn, continuation }: RunContext,
  { runs, findElsewhere }: Pick<CompletionsOptions, 'runs' | 'findElsewhere'>,
): Promise<void> | null {
  const id = metadata?.conversationId?.toLowerCase();
  if (findElsewhere === null || id === undefined || turn || continuation || runs.isConversation(id)) return null;
  const workspaceId = metadata?.workspaceId?.toLowerCase() ?? null;
  return findElsewhere(id).then((found) => void (found && requireMembership(found, { callerId, workspaceId })));
}

export function createCompletions(options: CompletionsOptions): Completions {
  const { runs, providers, guard, grounding } = options;
  const active = new ActiveMap<Run>();
  let isClosing = false;

  function storedPromptOf({ request, context, target }: PreparedRun): StoredPromptIds | null {
    if (context.storedPrompt) return context.storedPrompt;
    if (context.continuation) return context.continuation.storedPrompt;
    if (context.turn) return null;
    return options.storedPromptOf(request, (sent) => providers.applicableConfiguration(target, sent).configuration);
  }

  function begin(
    prepared: PreparedRun,
    origin: RunOrigin,
    allowance: Allowance,
    runGuard: RunGuard | null,
  ): AcceptedRun {
    if (isClosing) throw new AppError('provider_not_configured', 'Touchstone is shutting down.');
    const { context, target, warnings } = prepared;
    const ids = recordStart(prepared, origin, storedPromptOf(prepared), runs);
    const run = new Run(
      {
        ...ids,
        servedBy: target.servedBy,
        warnings,
        provider: target.provider,
        request: plainRequest(prepared),
        ground: groundRequest(prepared, grounding),
        ...(context.continuation && { citations: context.continuation.citations }),
        cost: (usage, rawUsage) => providers.cost(target, usage, rawUsage),
        charge: allowance.charge,
        runs: recordedEnd(prepared, origin, options),
        guard: runGuard,
        exchanges: context.recording ? null : options.exchanges.open(),
        noteFailure: (error) => options.pauses.note(target.servedBy, error),
      },
      context.signal,
    );
    active.set(ids.runId, run);
    void run.recorded.then(() => active.delete(ids.runId));
    return { run, credit: allowance.credit };
  }

  function startNow(request: CompletionRequest, origin: RunOrigin, context: RunContext) {
    return withLearnedModel(request, context.signal, providers, () => {
      const prepared = prepareRun(request, context, options);
      // Before the guard, whose classifier can cost money, too.
      const allowance = allowRun(prepared, origin.key, options);
      const proceed = (allowed: Allowance) => startAllowed(prepared, allowed, origin, context);
      return allowance instanceof Promise ? allowance.then(proceed) : proceed(allowance);
    });
  }

  function startAllowed(prepared: PreparedRun, allowance: Allowance, origin: RunOrigin, context: RunContext) {
    const proceed = (runGuard: RunGuard | null): AcceptedRun => begin(prepared, origin, allowance, runGuard);
    const giveUp = (error: unknown): never => {
      allowance.charge(notStarted);
      throw error;
    };
    try {
      const guarded = guard.begin({ ...prepared, continued: continuedTexts(context) }, context);
      return guarded instanceof Promise ? guarded.then(proceed).catch(giveUp) : proceed(guarded);
    } catch (error) {
      return giveUp(error);
    }
  }

  const start: Completions['start'] = (request, origin, context) => {
    const proceed = () =>
      withFiles(request, origin, context, options.files, (loaded, inner) =>
        startChecked(loaded, inner, options.schemas, () => startNow(loaded, origin, inner)),
      );
    const checking = checkElsewhere(request, origin, context, options);
    return checking === null ? proceed() : checking.then(proceed);
  };

  return {
    start,
    startOrContinue(body, origin, context) {
      const { request, ...continued } = toRequest(body, origin, runs, providers);
      return start(request, origin, { ...context, ...continued });
    },
    previewGrounding: async (request, choice, context) =>
      withFiles(request, null, context, options.files, (loaded, inner) =>
        previewGrounding(loaded, choice, inner, options),
      ),
    countTokens: async (request, context) =>
      withFiles(request, null, context, options.files, (loaded, inner) => countTokens(loaded, inner, options)),
    active: (runId) => active.get(runId) ?? null,
    async close() {
      isClosing = true;
      const present = Array.from(active, ([, run]) => run);
      for (const run of present) run.stop();
      await Promise.all(present.map((run) => run.recorded));
    },
  };
}
