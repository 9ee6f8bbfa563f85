import { create } from 'zustand';
import { runPrompt, type MessageAnswer } from '../../shared/contract/prompt-runs.ts';
import type { Client } from '../host/client.ts';
import { beginStreamingRun } from './activity.ts';

/** A run of a stored version through the endpoint that programs call. */
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
  start: (client: Client, run: StartedRun) => Promise<void>;
  stop: (promptId: string) => void;
}

interface StartedRun {
  promptId: string;
  promptVersionId: string;
  replacements: Record<string, string>;
}

const stopSwitches = new Map<string, AbortController>();

export const usePromptRuns = create<PromptRunsState>()((set, get) => ({
  runs: {},
  values: {},
  fill: (promptId, name, text) =>
    set(({ values }) => ({ values: { ...values, [promptId]: { ...values[promptId], [name]: text } } })),
  start: async (client, body) => {
    const { promptId, promptVersionId: versionId } = body;
    get().stop(promptId);
    const controller = new AbortController();
    stopSwitches.set(promptId, controller);
    const show = (run: PromptRun): void => {
      if (stopSwitches.get(promptId) === controller) set(({ runs }) => ({ runs: { ...runs, [promptId]: run } }));
    };
    show({ versionId, state: 'running', answer: null, error: null });
    const end = beginStreamingRun();
    try {
      const answer = await client.call(runPrompt, { body, signal: controller.signal });
      show({ versionId, state: 'completed', answer, error: null });
    } catch (error) {
      show({ versionId, state: controller.signal.aborted ? 'stopped' : 'failed', answer: null, error });
    } finally {
      end();
    }
  },
  stop: (promptId) => stopSwitches.get(promptId)?.abort(),
}));
