import { AppError } from '../../shared/app-error.ts';
import type { ConversationRun } from '../../shared/contract/conversations.ts';
import type { ImportedRun, LeftOut } from '../../shared/contract/review-items.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { RunStore } from '../storage/storage.ts';
import { readTeamRuns, type TeamRecords } from '../team/team-records.ts';
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
  const whole = input.renderedPrompt ?? input.promptText;
  const shown = citations.slice(0, maxPassagesPerRun);
  const tooMany = (length: number, max: number) => Math.max(0, length - max);
  const leftOut: LeftOut = {
    ...nothingLeftOut,
    inputCharacters: tooMany(whole.length, half),
    answerCharacters: tooMany(output.content.length, half),
    passages: citations.length - shown.length,
    passageCharacters: shown.reduce((sum, { text }) => sum + tooMany(text.length, maxPassageCharacters), 0),
  };
  return {
    ...run,
    input: whole.slice(-half),
    answer: output.content.slice(0, half),
    passages: shown.map(({ sourceName, text }) => ({ sourceName, text: text.slice(0, maxPassageCharacters) })),
    ...(Object.values(leftOut).some((count) => count > 0) && { leftOut }),
  };
}

const nothingLeftOut: LeftOut = {
  inputCharacters: 0,
  answerCharacters: 0,
  passages: 0,
  passageCharacters: 0,
  earlierRuns: 0,
};

function charactersOf({ input, answer, passages }: ImportedRun): number {
  return input.length + answer.length + passages.reduce((sum, { text }) => sum + text.length, 0);
}

const ofRun = (run: RunDetail): ImportedRun =>
  importedRunOf(run, { runId: run.runId, createdAt: run.createdAt, model: run.model });

function ofConversation(runs: Iterable<ConversationRun>): ImportedRun[] {
  const found: ImportedRun[] = [];
  let characters = 0;
  let earlierRuns = 0;
  for (const run of runs) {
    const { conversationRunId, createdAt, model } = run;
    const imported = importedRunOf(
      { ...run, citations: run.citations ?? [] },
      { runId: conversationRunId, createdAt, model },
    );
    found.push(imported);
    characters += charactersOf(imported);
    while ((characters > maxItemCharacters && found.length > 1) || found.length > maxRunsPerItem) {
      characters -= charactersOf(found.shift()!);
      earlierRuns += 1;
    }
  }
  const [first, ...rest] = found;
  if (!first || earlierRuns === 0) return found;
  return [{ ...first, leftOut: { ...(first.leftOut ?? nothingLeftOut), earlierRuns } }, ...rest];
}

type ItemOf = Pick<StoredItem, 'runId' | 'conversationId'>;

/** The runs of an item of this device with their texts, oldest first. */
export function runsOf(
  { runs, audit }: Content,
  { plan }: Pick<StoredQueue, 'plan'>,
  { runId, conversationId }: ItemOf,
): ImportedRun[] {
  if (plan.itemType === 'conversation')
    return ofConversation(audit.readConversation(conversationId, { hasFeedback: false })?.runs ?? []);
  const run = runs.read(runId);
  return run ? [ofRun(run)] : [];
}

/** As `runsOf`, from the team database, for at most 100 items. Without runs, an item was deleted there. */
export async function readTeamTexts(
  team: Pick<TeamRecords, 'readRuns' | 'readConversation'>,
  { itemType }: Pick<StoredQueue['plan'], 'itemType'>,
  items: readonly ItemOf[],
): Promise<ImportedRun[][]> {
  const readRuns = async (ids: readonly string[]) => {
    const found = new Map((await readTeamRuns(ids, team)).map((run) => [run.runId, run]));
    return ids.map((id) => found.get(id)).map((run) => (run ? [ofRun(run)] : []));
  };
  if (itemType === 'run') return readRuns(items.map(({ runId }) => runId));
  const found: ImportedRun[][] = [];
  for (const { conversationId, runId } of items) {
    try {
      const conversation = await team.readConversation(conversationId, { hasFeedback: false });
      found.push(ofConversation(conversation?.runs ?? []));
    } catch (failure) {
      // Of one that is too long for memory, the matching run is reviewed.
      if (!(failure instanceof AppError) || failure.code !== 'conflict') throw failure;
      found.push(...(await readRuns([runId])));
    }
  }
  return found;
}
