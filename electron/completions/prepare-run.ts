import { invalidField } from '../../shared/app-error.ts';
import type { CompletionRequest, Configuration, Warning } from '../../shared/contract/completions.ts';
import { estimateFileTokens } from '../../shared/file-kinds.ts';
import { type Message, textOfMessage, textOfMessages, textOfToolCalls } from '../../shared/contract/messages.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ResolvedModel } from '../providers/model-resolver.ts';
import type { RunContext, RunContinuation } from './completions.ts';
import { messageWarnings, requireFileSupport } from '../providers/message-rules.ts';
import { toolsReason } from '../providers/parameter-rules.ts';
import { filesOf, type PromptFiles } from './prompt-file.ts';
import { type RenderedPrompt, renderPrompt, renderTurn } from './render-prompt.ts';
import type { CreditReservation, Credits } from '../credits/credits.ts';
import type { RateLimits, TokenReservation } from '../credits/rate-limits.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../storage/storage.ts';
import type { Guard } from './guard.ts';
import type { RunUse } from './run.ts';

/** A valid request, before its run starts. */
export interface PreparedRun {
  readonly request: CompletionRequest;
  readonly context: RunContext;
  /** Null for a request without dataspaces. */
  readonly dataspaceIds: readonly string[] | null;
  readonly systemMessage: string | null;
  readonly renderedPrompt: string;
  /** Everything that is sent after the system message, the history of a conversation included. */
  readonly messages: readonly Message[];
  /** Earlier messages of a conversation. */
  readonly history: readonly Message[];
  /** The messages without the history. */
  readonly ownMessages: readonly Message[];
  /** The files in the messages, with their contents. */
  readonly files: PromptFiles;
  readonly target: ResolvedModel;
  /** The part of the request's configuration that the model supports. */
  readonly configuration: Configuration;
  readonly warnings: readonly Warning[];
}

export interface PreparationOptions {
  readonly providers: Pick<Providers, 'resolve' | 'applicableConfiguration'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
}

function continuedPrompt({ messages, history }: RunContinuation): RenderedPrompt {
  const sent = history ? messages.toSpliced(history.index, 0, ...history.messages) : messages;
  return { messages: sent, ownMessages: messages, warnings: [] };
}

/** A model without tools can't read the calls and the results. */
function requireTools({ metadata: { ruleSet, catalogueEntry, title } }: ResolvedModel): void {
  const reason = toolsReason(ruleSet, catalogueEntry);
  if (reason !== null) throw invalidField('model', `can't continue with tool results on ${title}: ${reason}`);
}

/** The passages are searched for the last user message, and sent with it. A program's request may have none. */
function requireQuestion(messages: readonly Message[]): void {
  if (messages.some(({ role }) => role === 'user')) return;
  const message = 'The request has no user message, for which passages could be searched. Add one.';
  throw invalidField('promptText', 'has no user message', message);
}

/** Throws `AppError` for an invalid template, an unknown model, a provider without a key and an unknown dataspace. */
export function prepareRun(
  request: CompletionRequest,
  context: RunContext,
  { providers, grounding }: PreparationOptions,
): PreparedRun {
  const dataspaceIds = request.dataspaceIds ? grounding.requireDataspaces(request.dataspaceIds) : null;
  const rendered = context.continuation
    ? continuedPrompt(context.continuation)
    : context.turn
      ? renderTurn({ ...context.turn, message: request.promptText })
      : renderPrompt(request.promptText, request.replacements ?? {}, context);
  const { messages, ownMessages } = rendered;
  if (dataspaceIds !== null && dataspaceIds.length > 0) requireQuestion(ownMessages);
  const target = providers.resolve(request.aiSystem, request.model);
  requireFileSupport(target.metadata, messages);
  if (context.continuation && messages.some(({ role }) => role === 'tool')) requireTools(target);
  const { configuration, warnings } = providers.applicableConfiguration(target, request.configuration ?? {});
  target.provider.requireSupported?.(configuration);
  return {
    request,
    context,
    dataspaceIds,
    systemMessage: request.systemMessage ?? null,
    renderedPrompt: textOfMessages(ownMessages),
    messages,
    history: context.turn?.history ?? context.continuation?.history?.messages ?? [],
    ownMessages,
    files: filesOf(messages, context.files),
    target,
    configuration,
    warnings: [
      ...(context.warnings ?? []),
      ...rendered.warnings,
      ...warnings,
      ...messageWarnings(target.metadata.ruleSet, messages),
    ],
  };
}

/** The credit and tokens that are reserved for a run before any provider is called. */
export interface Allowance {
  readonly credit: CreditReservation;
  /** Replaces the reservations with the run's usage. Called once, when the run ends or fails to start. */
  charge(use: RunUse): void;
}

export interface AllowanceOptions {
  readonly credits: Credits;
  readonly rateLimits: RateLimits;
  readonly apiKeys: Pick<ApiKeyStore, 'charge'>;
  readonly guard: Pick<Guard, 'paysForPrompts'>;
}

export const notStarted: RunUse = { credits: 0, usage: null, characters: 0 };

/** An estimate. The provider's own count replaces it. */
const tokensOf = (characters: number): number => Math.ceil(characters / 4);

function charactersOf({ messages, systemMessage, configuration }: PreparedRun): number {
  const inTools = configuration.tools == null ? 0 : JSON.stringify(configuration.tools).length;
  return messages.reduce(
    (sum, message) => sum + textOfMessage(message).length + textOfToolCalls(message).length,
    inTools + (systemMessage?.length ?? 0),
  );
}

function tokensOfFiles({ files, target: { metadata } }: PreparedRun): number {
  const aiSystem = metadata.ruleSet === 'on-device' ? null : metadata.ruleSet;
  return [...files.values()].reduce((sum, file) => sum + estimateFileTokens(file, aiSystem), 0);
}

/**
 * Fails with `credits_exhausted` and `rate_limited`. A null key is the window, which has no limits. A promise if other hosts that share the
 * key have to be asked.
 */
export function allowRun(
  prepared: PreparedRun,
  key: AuthenticatedKey | null,
  options: AllowanceOptions,
): Allowance | Promise<Allowance> {
  const credit = options.credits.reserve(key);
  if (!(credit instanceof Promise)) return allowanceOf(prepared, key, credit, options);
  return credit.then((reserved) => allowanceOf(prepared, key, reserved, options));
}

function allowanceOf(
  prepared: PreparedRun,
  key: AuthenticatedKey | null,
  credit: CreditReservation,
  { rateLimits, apiKeys, guard }: AllowanceOptions,
): Allowance {
  const isGuardPaid = guard.paysForPrompts();
  let estimate: number;
  let tokens: TokenReservation;
  try {
    estimate = tokensOf(charactersOf(prepared)) + tokensOfFiles(prepared);
    tokens = rateLimits.reserveTokens(key, estimate);
  } catch (error) {
    credit.release();
    throw error;
  }
  return {
    credit,
    charge({ credits: used, usage, characters }) {
      tokens.correct(usage?.total_tokens ?? (used === 0 ? 0 : estimate + tokensOf(characters)));
      if (used > 0) return;
      // The guard's classifier costs money even if the run never reaches its model.
      if (isGuardPaid && key !== null) apiKeys.charge(key.id, credit.consumed);
      else credit.release();
    },
  };
}
