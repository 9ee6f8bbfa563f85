import { randomUUID } from 'node:crypto';
import type { StoredPromptIds } from '../prompts/stored-prompt.ts';
import type { RunStore } from '../storage/storage.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import type { RunOrigin } from './completions.ts';
import type { PreparedRun } from './prepare-run.ts';

/** What callers know a run by. */
export interface RunIds {
  readonly runId: string;
  readonly messageId: string;
  readonly conversationId: string;
}

/** Keeps a run as `Running`, in the conversation that it has joined. */
export function recordStart(
  { request, target, systemMessage, renderedPrompt, dataspaceIds, warnings }: PreparedRun,
  origin: RunOrigin,
  { conversationId, workspaceId }: ReturnType<RunStore['joinConversation']>,
  storedPrompt: StoredPromptIds | null,
  runs: Pick<RunStore, 'begin'>,
): RunIds {
  const ids = { runId: timeOrderedId(), messageId: randomUUID(), conversationId };
  runs.begin({
    ...ids,
    ...origin,
    apiKeyId: origin.key?.id ?? null,
    workspaceId,
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
  return ids;
}
