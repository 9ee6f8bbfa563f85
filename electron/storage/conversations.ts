import { AppError } from '../../shared/app-error.ts';
import { ActiveMap } from '../common/active-values.ts';
import { prepareQuery, valuesOf } from './queries.ts';
import { type NewRun, runTitleOf } from './run-rows.ts';
import type { ConversationRow } from './schema.ts';
import type { RunStore } from './storage.ts';
import { timeOrderedId } from './time-ordered-id.ts';
import type Database from 'better-sqlite3';

/** The fields of a conversation that are checked when a run joins it. */
export interface Membership {
  readonly callerId: string;
  readonly workspaceId: string | null;
}

interface NewConversation extends Membership {
  readonly name: string;
}

/** More than can be between joining and the write of a run. Requests that fail in between must not fill the memory. */
const maxUnwritten = 10_000;

export interface Conversations {
  join: RunStore['joinConversation'];
  isKnown: RunStore['isConversation'];
  /** The name of a conversation that has joined and isn't written yet; null for every other. */
  unwrittenName(id: string): string | null;
  /** Makes the run the newest of its conversation and returns `conversations.sequence`. Call it in a transaction. */
  append(run: NewRun, runSequence: number): number;
  /** Call it after the transaction. If it was rolled back, the conversations have to be written again. */
  endRun(isCommitted: boolean): void;
}

type Queries = ReturnType<typeof conversationQueries>;

/** Writes conversations with their runs. `unwritten` are the new ones, which it removes when they are stored. */
function createConversationWriter(
  queries: Queries,
  unwritten: ActiveMap<NewConversation>,
): Pick<Conversations, 'append' | 'endRun'> {
  let inserted = new Map<string, number>();
  let lastSequence = queries.last.first({})?.sequence ?? 0;

  /** A conversation that starts with a stored prompt has the prompt's name. Others have the first words of the rendered prompt. */
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

  /** New conversations aren't in the database yet. */
  function sequenceOf(id: string): number | undefined {
    return unwritten.has(id) ? undefined : queries.find.first({ id })?.sequence;
  }

  return {
    append(run, runSequence) {
      const known = inserted.get(run.conversationId) ?? sequenceOf(run.conversationId);
      if (known === undefined) return insert(run, runSequence);
      queries.append.run({ sequence: known, last_run: runSequence, updated_at: run.createdAt });
      return known;
    },
    endRun(isCommitted) {
      if (isCommitted) {
        for (const id of inserted.keys()) unwritten.delete(id);
        lastSequence += inserted.size;
      }
      inserted = new Map();
    },
  };
}

export function createConversations(database: Database.Database): Conversations {
  const queries = conversationQueries(database);
  /** New conversations. They are written together with their first run. */
  const unwritten = new ActiveMap<NewConversation>();

  function remember(id: string, membership: NewConversation): void {
    unwritten.set(id, membership);
    if (unwritten.size > maxUnwritten) unwritten.delete(unwritten.oldest!);
  }

  /** Sets the workspace, also of the existing runs. */
  const setWorkspace = database.transaction((sequence: number, workspace: string) => {
    queries.setWorkspace.run({ sequence, workspace_id: workspace });
    queries.noteChanges.run({ conversation: sequence });
  }).immediate;

  return {
    ...createConversationWriter(queries, unwritten),
    isKnown: (id) => unwritten.has(id) || queries.find.first({ id }) !== undefined,
    unwrittenName: (id) => unwritten.get(id)?.name ?? null,
    join({ conversationId, workspaceId, callerId, name }) {
      const workspace = workspaceId?.toLowerCase() ?? null;
      const id = conversationId?.toLowerCase() ?? timeOrderedId();
      const stored = conversationId === null ? undefined : queries.find.first({ id });
      const present = stored ?? unwritten.get(id);
      if (!present) {
        remember(id, { name, callerId, workspaceId: workspace });
        return { conversationId: id, workspaceId: workspace };
      }
      requireMembership(present, { callerId, workspaceId: workspace });
      if (present.workspaceId === null && workspace !== null) {
        // Stored before the response, so that the second of two simultaneous callers gets the conflict.
        if (stored) setWorkspace(stored.sequence, workspace);
        else remember(id, { ...present, workspaceId: workspace });
      }
      return { conversationId: id, workspaceId: present.workspaceId ?? workspace };
    },
  };
}

/** Throws `forbidden` for another caller's conversation and `conflict` for one of another workspace. */
export function requireMembership(present: Membership, { callerId, workspaceId }: Membership): void {
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
