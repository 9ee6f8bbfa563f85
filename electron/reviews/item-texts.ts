import type { ImportedRun } from '../../shared/contract/review-items.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { StoredItem, StoredQueue } from '../storage/reviews/queue-store.ts';
import type { RunStore } from '../storage/storage.ts';
import { maxPassagesPerRun, maxRunsPerItem } from './queue-file.ts';

/** What has the texts of items. */
export interface Content {
  readonly runs: Pick<RunStore, 'read'>;
  readonly audit: Pick<AuditStore, 'readConversation'>;
}

/** Of all texts of an item; older runs of a long conversation are left out. */
const maxItemCharacters = 300_000;

const maxPassageCharacters = 5000;

interface ReadRun {
  readonly input: { readonly renderedPrompt: string | null; readonly promptText: string };
  readonly output: { readonly content: string };
  readonly citations: readonly { readonly sourceName: string; readonly text: string }[];
}

function importedRunOf(
  { input, output, citations }: ReadRun,
  run: Pick<ImportedRun, 'runId' | 'createdAt' | 'model'>,
): ImportedRun {
  const half = maxItemCharacters / 4;
  return {
    ...run,
    input: (input.renderedPrompt ?? input.promptText).slice(-half),
    answer: output.content.slice(0, half),
    passages: citations
      .slice(0, maxPassagesPerRun)
      .map(({ sourceName, text }) => ({ sourceName, text: text.slice(0, maxPassageCharacters) })),
  };
}

function charactersOf({ input, answer, passages }: ImportedRun): number {
  return input.length + answer.length + passages.reduce((sum, { text }) => sum + text.length, 0);
}

/** The runs of an item with their texts, oldest first. */
export function runsOf(
  { runs, audit }: Content,
  { plan }: Pick<StoredQueue, 'plan'>,
  { runId, conversationId }: Pick<StoredItem, 'runId' | 'conversationId'>,
): ImportedRun[] {
  if (plan.itemType === 'run') {
    const run = runs.read(runId);
    return run ? [importedRunOf(run, { runId, createdAt: run.createdAt, model: run.model })] : [];
  }
  const found: ImportedRun[] = [];
  let characters = 0;
  for (const run of audit.readConversation(conversationId, { hasFeedback: false })?.runs ?? []) {
    const { conversationRunId, createdAt, model } = run;
    const imported = importedRunOf(
      { ...run, citations: run.citations ?? [] },
      { runId: conversationRunId, createdAt, model },
    );
    found.push(imported);
    characters += charactersOf(imported);
    while ((characters > maxItemCharacters && found.length > 1) || found.length > maxRunsPerItem)
      characters -= charactersOf(found.shift()!);
  }
  return found;
}
