import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { z } from 'zod';
import { createCompletionSync } from '../../shared/contract/completions.ts';
import { runPrompt } from '../../shared/contract/prompt-library.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { modelNameOf } from '../../shared/prompt-content.ts';
import type { Client } from '../host/client.ts';
import { startRun, type VersionRun } from './live-runs.ts';
import type { RunSource } from './run-stream.ts';

/** What the library is narrowed to. */
export interface LibraryFilter {
  query: string;
  /** Prompts in it and in the folders below it; null for all, the empty text for those without a folder. */
  folder: string | null;
  /** All of them present. */
  tags: readonly string[];
}

export const everyPrompt: LibraryFilter = { query: '', folder: null, tags: [] };

export function isNarrowed({ query, folder, tags }: LibraryFilter): boolean {
  return query !== '' || folder !== null || tags.length > 0;
}

/** The same until the window closes. */
export const usePromptsView = create<LibraryFilter>()(() => everyPrompt);

/** How two versions are compared; kept across restarts. */
export const useDiffView = create<{ view: 'split' | 'unified' }>()(
  persist((): { view: 'split' | 'unified' } => ({ view: 'split' }), { name: 'touchstone.diff-view', version: 1 }),
);

interface RunValues {
  /** Texts of the variables' fields by prompt, kept until the window closes. */
  values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const useRunValues = create<RunValues>()(() => ({ values: {} }));

export function setRunValue(promptId: string, name: string, text: string): void {
  useRunValues.setState(({ values }) => ({ values: { ...values, [promptId]: { ...values[promptId], [name]: text } } }));
}

/** The slot of a prompt's newest run, of whichever version. */
export function promptSlot(promptId: string): `prompt/${string}` {
  return `prompt/${promptId}`;
}

const textReplacements = z.record(z.string(), z.string());

/** Runs of stored prompts take texts only; a completion with the version's id takes any value and counts as its run. */
function versionSource(version: PromptVersion, replacements: Record<string, unknown>): RunSource {
  const texts = textReplacements.safeParse(replacements);
  const { id: promptVersionId, promptId, promptText, systemMessage, configuration } = version;
  return {
    isStreamed: false,
    hasReasoning: false,
    open: async (client, options) => {
      if (texts.success) {
        const { message, ...answer } = await client.call(runPrompt, {
          body: { promptId, promptVersionId, replacements: texts.data },
          ...options,
        });
        return { answer: { ...answer, text: message, finishReason: null } };
      }
      const conversationId = crypto.randomUUID();
      const { choices, ...answer } = await client.call(createCompletionSync, {
        body: {
          promptText,
          systemMessage,
          configuration,
          ...modelNameOf(version),
          replacements,
          metadata: { conversationId, promptVersionId },
        },
        ...options,
      });
      const [first] = choices;
      return {
        answer: {
          ...answer,
          conversationId,
          text: first?.message.content ?? '',
          finishReason: first?.finish_reason ?? null,
        },
      };
    },
  };
}

/** Runs a version with texts, and JSON values for lists and objects. Resolves at the end of the run: completed, stopped or failed. */
export function startVersionRun(
  client: Client,
  version: PromptVersion,
  replacements: Record<string, unknown>,
): Promise<VersionRun> {
  return startRun(client, promptSlot(version.promptId), {
    details: { versionId: version.id },
    source: versionSource(version, replacements),
  });
}
