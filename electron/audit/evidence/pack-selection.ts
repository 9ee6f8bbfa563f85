import { AppError } from '../../../shared/app-error.ts';
import type { ExportSelection } from '../../../shared/contract/audit-exports.ts';
import type { AuditStore } from '../query/audit-store.ts';
import type { Selection } from '../query/selection.ts';
import type { ExportRows } from '../../storage/export-rows.ts';

/** Looked up in one go: so few that the service is not held. */
const sliceConversations = 100;

/** Conversations that are named, in that order and each once, with all their runs up to `last`; one that was removed is left out. */
async function selectConversations(rows: ExportRows, ids: readonly string[], last: number): Promise<Selection> {
  const numbers: number[] = [];
  const unique = [...new Set(ids.map((id) => id.toLowerCase()))];
  for (const [index, id] of unique.entries()) {
    if (index % sliceConversations === sliceConversations - 1) await new Promise((resolve) => setImmediate(resolve));
    const conversation = rows.conversation(id);
    if (conversation === null) continue;
    const runs = rows.runSequences(conversation).filter((run) => run <= last);
    numbers.push(conversation, runs.length, ...runs);
  }
  return { last, numbers: Int32Array.from(numbers) };
}

/** Where packs find what they hold. */
export interface PackSources {
  readonly audit: Pick<AuditStore, 'select'>;
  readonly rows: ExportRows;
  /** Writes runs that are queued, so that a snapshot has them. */
  readonly flush: () => void;
}

/** Throws `invalid_request` when a conversation that is named does not exist. */
export async function requireConversations(selection: ExportSelection, { rows, flush }: PackSources): Promise<void> {
  if (!('conversationIds' in selection)) return;
  flush();
  for (const [index, id] of selection.conversationIds.entries()) {
    if (index % 200 === 199) await new Promise((resolve) => setImmediate(resolve));
    if (rows.conversation(id) !== null) continue;
    throw new AppError('invalid_request', 'One of the conversations no longer exists.', {
      details: [{ field: `selection.conversationIds[${index}]`, issue: 'is not a conversation' }],
    });
  }
}

/** What a selection found when `last` was the newest `runs.sequence`. */
export async function selectionOf(
  selection: ExportSelection,
  last: number,
  { audit, rows }: PackSources,
  signal: AbortSignal,
): Promise<Selection> {
  if ('filter' in selection) return audit.select(selection.filter, { last, signal });
  return selectConversations(rows, selection.conversationIds, last);
}
