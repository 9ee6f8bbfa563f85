import { create } from 'zustand';
import { z } from 'zod';
import { createCompletionSync } from '../../shared/contract/completions.ts';
import { runPrompt, type MessageAnswer } from '../../shared/contract/prompt-runs.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { modelNameOf } from '../../shared/prompt-version-match.ts';
import type { Client } from '../host/client.ts';
import { beginStreamingRun } from './activity.ts';

/** A run of a stored version through the endpoints that API clients call. */
export interface PromptRun {
  versionId: string;
  state: 'running' | 'completed' | 'stopped' | 'failed';
  answer: MessageAnswer | null;
  error: unknown;
}

interface PromptRunsState {
  /** The newest run of each prompt since the window opened. */
  runs: Readonly<Record<string, PromptRun>>;
  /** Texts of the variables' fields by prompt, kept while the window is open. */
  values: Readonly<Record<string, Readonly<Record<string, string>>>>;
  fill: (promptId: string, name: string, text: string) => void;
  /** Stops what the prompt was running before. Resolves at the end of the run, however it ended. */
  start: (client: Client, started: StartedRun) => Promise<void>;
  stop: (promptId: string) => void;
}

interface StartedRun {
  version: PromptVersion;
  /** Texts, and JSON values for lists and objects. */
  replacements: Record<string, unknown>;
}

/** Runs of stored prompts take texts only; a completion with the version's id takes any value and counts as its run. */
async function callVersion(
  client: Client,
  { version, replacements }: StartedRun,
  signal: AbortSignal,
): Promise<MessageAnswer> {
  const texts = textReplacements.safeParse(replacements);
  const { id: promptVersionId, promptId, promptText, systemMessage, configuration } = version;
  if (texts.success) {
    return client.call(runPrompt, { body: { promptId, promptVersionId, replacements: texts.data }, signal });
  }
  const conversationId = crypto.randomUUID();
  const { choices, ...answer } = await client.call(createCompletionSync, {
    signal,
    body: {
      promptText,
      systemMessage,
      configuration,
      ...modelNameOf(version),
      replacements,
      metadata: { conversationId, promptVersionId },
    },
  });
  return { ...answer, conversationId, message: choices[0]?.message.content ?? '' };
}

const textReplacements = z.record(z.string(), z.string());
const stopSwitches = new Map<string, AbortController>();

export const usePromptRuns = create<PromptRunsState>()((set, get) => ({
  runs: {},
  values: {},
  fill: (promptId, name, text) =>
    set(({ values }) => ({ values: { ...values, [promptId]: { ...values[promptId], [name]: text } } })),
  start: async (client, started) => {
    const { promptId, id: versionId } = started.version;
    get().stop(promptId);
    const controller = new AbortController();
    stopSwitches.set(promptId, controller);
    const show = (run: PromptRun): void => {
      if (stopSwitches.get(promptId) === controller) set(({ runs }) => ({ runs: { ...runs, [promptId]: run } }));
    };
    show({ versionId, state: 'running', answer: null, error: null });
    const end = beginStreamingRun();
    try {
      const answer = await callVersion(client, started, controller.signal);
      show({ versionId, state: 'completed', answer, error: null });
    } catch (error) {
      show({ versionId, state: controller.signal.aborted ? 'stopped' : 'failed', answer: null, error });
    } finally {
      end();
    }
  },
  stop: (promptId) => stopSwitches.get(promptId)?.abort(),
}));
