import { randomUUID } from 'node:crypto';
import { textOfMessages } from '../../shared/contract/messages.ts';
import type { StoredPromptIds } from '../prompts/stored-prompt.ts';
import { redactText } from '../provider-exchanges/redact.ts';
import { runTitleOf, type RunOutcome } from '../storage/run-rows.ts';
import type { ApiKeyStore, RunStore } from '../storage/storage.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import type { RunOrigin } from './completions.ts';
import type { PreparedRun } from './prepare-run.ts';
import { recordedMessages } from './render-prompt.ts';
import type { RunPlan } from './run.ts';

/** The ids of a run. */
interface RunIds {
  readonly runId: string;
  readonly messageId: string;
  readonly conversationId: string;
}

/** What is recorded of the texts of a run. */
function recordedTexts(
  { request, context: { recording }, systemMessage, renderedPrompt, ownMessages }: PreparedRun,
  { appHeaders, origin }: RunOrigin,
) {
  if (!recording?.texts) {
    const { promptText, replacements = null, configuration = null } = request;
    const messages = recordedMessages(ownMessages);
    return { promptText, systemMessage, replacements, renderedPrompt, messages, configuration, appHeaders, origin };
  }
  const { messages, client, ...texts } = recording.texts;
  return {
    ...texts,
    replacements: null,
    renderedPrompt: textOfMessages(messages ?? []),
    messages: messages && recordedMessages(messages),
    origin: origin && { ...origin, client },
  };
}

/** Stores a run as `Running`, in the conversation that it joins. */
export function recordStart(
  prepared: PreparedRun,
  origin: RunOrigin,
  storedPrompt: StoredPromptIds | null,
  runs: Pick<RunStore, 'requireRoom' | 'joinConversation' | 'begin'>,
): RunIds {
  const { request, context, target, dataspaceIds, warnings } = prepared;
  const { metadata = null } = request;
  const { turn, continuation } = context;
  const given = (turn ?? continuation)?.conversationId ?? metadata?.conversationId ?? null;
  const isTemplate = turn?.template !== undefined || continuation?.isTemplate === true;
  const ids = { runId: context.runId ?? timeOrderedId(), messageId: randomUUID() };
  if (context.recording?.texts === null) return { ...ids, conversationId: given ?? timeOrderedId() };
  runs.requireRoom();
  const { origin: from, ...texts } = recordedTexts(prepared, origin);
  const joined = runs.joinConversation({
    conversationId: given,
    workspaceId: metadata?.workspaceId ?? null,
    callerId: origin.callerId,
    name: runTitleOf({ ...texts, isTemplate }) || (context.recording ? request.model : ''),
  });
  runs.begin({
    ...ids,
    ...joined,
    ...texts,
    ...(from && { origin: from }),
    callerId: origin.callerId,
    apiKeyId: origin.key?.id ?? null,
    promptId: storedPrompt?.promptId ?? null,
    promptVersionId: storedPrompt?.promptVersionId ?? null,
    aiSystem: request.aiSystem,
    model: request.model,
    servedBy: target.servedBy,
    createdAt: Date.now(),
    dataspaceIds,
    metadata,
    isTemplate,
    warnings,
  });
  return { ...ids, conversationId: joined.conversationId };
}

/** An outcome without the key of its provider, which an answer may repeat. */
function withoutSecrets(outcome: RunOutcome, secrets: readonly string[] = []): RunOutcome {
  if (secrets.length === 0) return outcome;
  const clean = (text: string) => redactText(text, secrets);
  const { content, reasoning, toolCalls, rawUsage = null, error, moderation } = outcome;
  const hasCleanUsage = clean(JSON.stringify(rawUsage)) === JSON.stringify(rawUsage);
  const answer = moderation?.answer;
  return {
    ...outcome,
    content: clean(content),
    reasoning: reasoning && clean(reasoning),
    rawUsage: hasCleanUsage ? rawUsage : null,
    error: error && { ...error, message: clean(error.message) },
    ...(answer?.withheld && {
      moderation: { ...moderation!, answer: { ...answer, withheld: clean(answer.withheld) } },
    }),
    ...(toolCalls && {
      toolCalls: toolCalls.map((call) => ({
        ...call,
        id: clean(call.id),
        name: clean(call.name),
        arguments: clean(call.arguments),
      })),
    }),
  };
}

/** Records the end of a run as its rules want it. A run that isn't recorded still costs its credits. */
export function recordedEnd(
  { context: { recording }, target }: PreparedRun,
  { key }: RunOrigin,
  { runs, apiKeys }: { readonly runs: RunStore; readonly apiKeys: Pick<ApiKeyStore, 'charge'> },
): RunPlan['runs'] {
  const { secrets } = target.provider;
  if (!recording) return { finish: (runId, outcome) => runs.finish(runId, withoutSecrets(outcome, secrets)) };
  return {
    async finish(runId, whole) {
      const outcome = withoutSecrets(whole, secrets);
      if (recording.texts !== null) await runs.finish(runId, await recording.outcome(outcome));
      else if (key !== null && outcome.credits > 0) apiKeys.charge(key.id, outcome.credits);
    },
  };
}
