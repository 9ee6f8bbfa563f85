import { AppError } from '../../shared/app-error.ts';
import { prepareQuery, valuesOf } from './queries.ts';
import { type NewRun, runTitleOf } from './run-rows.ts';
import type { ConversationRow } from './schema.ts';
import type { RunStore } from './storage.ts';
import { timeOrderedId } from './time-ordered-id.ts';
import type Database from 'better-sqlite3';

/** What joining needs to know of a conversation. */
interface Membership {
  readonly name: string;
  readonly callerId: string;
  readonly workspaceId: string | null;
}

/** More than can be between joining and the write of a run; requests that fail in between must not fill memory. */
const maxUnwritten = 10_000;

export interface Conversations {
  join: RunStore['joinConversation'];
  /** Inside a transaction: makes the run its conversation's newest one and returns `conversations.sequence`. */
  append(run: NewRun, runSequence: number): number;
  /** Tells after the transaction whether what it appended is on disk or has to be written again. */
  settle(isCommitted: boolean): void;
}

export function createConversations(database: Database.Database): Conversations {
  const queries = conversationQueries(database);
  /** Joined, but written only together with their first run. */
  const unwritten = new Map<string, Membership>();
  const inserted = new Map<string, number>();
  let lastSequence = queries.last.first({})?.sequence ?? 0;

  function remember(id: string, membership: Membership): void {
    unwritten.set(id, membership);
    if (unwritten.size > maxUnwritten) unwritten.delete(unwritten.keys().next().value!);
  }

  /** A conversation that a stored prompt opens has the prompt's name, any other one the first words of its rendered prompt. */
  function nameOf(run: NewRun): string {
    const promptName = run.promptId === null ? undefined : queries.promptName.first({ id: run.promptId })?.name;
    return promptName ?? unwritten.get(run.conversationId)?.name ?? runTitleOf(run);
  }

  function insert(run: NewRun, runSequence: number): number {
    const sequence = lastSequence + inserted.size + 1;
    const membership = unwritten.get(run.conversationId);
    queries.insert.run({
      sequence,
      id: run.conversationId,
      name: nameOf(run),
      caller_id: run.callerId,
      workspace_id: membership?.workspaceId ?? run.workspaceId,
      last_run: runSequence,
      created_at: run.createdAt,
      updated_at: run.createdAt,
    });
    inserted.set(run.conversationId, sequence);
    return sequence;
  }

  /** What is still to be written need not be looked for. */
  function sequenceOf(id: string): number | undefined {
    return unwritten.has(id) ? undefined : queries.find.first({ id })?.sequence;
  }

  /** The runs that are there become findable by the workspace. */
  const setWorkspace = database.transaction((sequence: number, workspace: string) => {
    queries.setWorkspace.run({ sequence, workspace_id: workspace });
    queries.noteChanges.run({ conversation: sequence });
  }).immediate;

  return {
    join({ conversationId, workspaceId, callerId, name }) {
      const workspace = workspaceId?.toLowerCase() ?? null;
      const id = conversationId?.toLowerCase() ?? timeOrderedId();
      const stored = conversationId === null ? undefined : queries.find.first({ id });
      const present = stored ?? unwritten.get(id);
      if (!present) {
        remember(id, { name, callerId, workspaceId: workspace });
        return { conversationId: id, workspaceId: workspace };
      }
      requireMembership(present, callerId, workspace);
      if (present.workspaceId === null && workspace !== null) {
        // Kept before the answer, so that of two callers at the same moment the second gets its conflict.
        if (stored) setWorkspace(stored.sequence, workspace);
        else remember(id, { ...present, workspaceId: workspace });
      }
      return { conversationId: id, workspaceId: present.workspaceId ?? workspace };
    },

    append(run, runSequence) {
      const known = inserted.get(run.conversationId) ?? sequenceOf(run.conversationId);
      if (known === undefined) return insert(run, runSequence);
      queries.append.run({ sequence: known, last_run: runSequence, updated_at: run.createdAt });
      return known;
    },

    settle(isCommitted) {
      if (isCommitted) {
        for (const id of inserted.keys()) unwritten.delete(id);
        lastSequence += inserted.size;
      }
      inserted.clear();
    },
  };
}

function requireMembership(present: Membership, callerId: string, workspaceId: string | null): void {
  if (present.callerId !== callerId) {
    const message = 'This conversation belongs to another caller. Leave out conversationId to start a new one.';
    throw new AppError('forbidden', message, {
      details: [{ field: 'metadata.conversationId', issue: 'belongs to another caller' }],
    });
  }
  if (workspaceId !== null && present.workspaceId !== null && workspaceId !== present.workspaceId) {
    const message =
      "This conversation belongs to another workspace. Send that workspace's ID, or leave out workspaceId.";
    throw new AppError('conflict', message, {
      details: [{ field: 'metadata.workspaceId', issue: "is not this conversation's workspace" }],
    });
  }
}

const conversationColumns = [
  'sequence',
  'id',
  'name',
  'caller_id',
  'workspace_id',
  'last_run',
  'created_at',
  'updated_at',
] as const satisfies (keyof ConversationRow)[];

function conversationQueries(database: Database.Database) {
  return {
    last: prepareQuery(database, (tables) =>
      tables.selectFrom('conversations').select('sequence').orderBy('sequence', 'desc').limit(1),
    ),
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables
        .selectFrom('conversations')
        .select(['sequence', 'name', 'caller_id as callerId', 'workspace_id as workspaceId'])
        .where('id', '=', input.id),
    ),
    promptName: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('prompts').select('name').where('id', '=', input.id),
    ),
    insert: prepareQuery(database, (tables, input: ConversationRow) =>
      tables.insertInto('conversations').values(valuesOf(input, conversationColumns)),
    ),
    append: prepareQuery(database, (tables, input: { sequence: number; last_run: number; updated_at: number }) =>
      tables
        .updateTable('conversations')
        .set({ last_run: input.last_run, updated_at: input.updated_at })
        .where('sequence', '=', input.sequence),
    ),
    setWorkspace: prepareQuery(database, (tables, input: { sequence: number; workspace_id: string }) =>
      tables
        .updateTable('conversations')
        .set({ workspace_id: input.workspace_id })
        .where('sequence', '=', input.sequence),
    ),
    noteChanges: prepareQuery(database, (tables, input: { conversation: number }) =>
      tables
        .insertInto('run_changes')
        .columns(['run', 'kind'])
        .expression(
          tables
            .selectFrom('runs')
            .select((expression) => ['sequence as run', expression.val<'run'>('run').as('kind')])
            .where('conversation', '=', input.conversation),
        ),
    ),
  };
}
