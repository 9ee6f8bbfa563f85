import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { AppError } from '../../../shared/app-error.ts';
import type { ExportSelection } from '../../../shared/contract/audit-exports.ts';
import type { AuditStore } from '../query/audit-store.ts';
import type { SelectedConversation, Selection } from '../query/selection.ts';
import type { ExportRows } from '../../storage/export-rows.ts';
import { requireTeam, type TeamRecords } from '../../team/team-records.ts';

/**
 * Writes the contents of a pack, in order, at the time of its snapshot (in the format of `Selection`). The file lets a pack continue
 * after a crash. Resolves with the number of conversations.
 */
export async function writeSelection(file: string, numbers: Int32Array): Promise<number> {
  await writeFile(`${file}.partial`, new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), {
    mode: 0o600,
    flush: true,
  });
  await rename(`${file}.partial`, file);
  let count = 0;
  for (let at = 0; at < numbers.length; at += 2 + numbers[at + 1]!) count += 1;
  return count;
}

const readNumbers = 16_384;

/** Reads a selection after skipping a number of conversations. */
export async function* readSelection(file: string, from: Position): AsyncGenerator<SelectedConversation & Position> {
  const handle = await open(file, 'r');
  try {
    let { offset } = from;
    let numbers: Int32Array = new Int32Array(0);
    let at = 0;
    for (;;) {
      let length = at + 1 < numbers.length ? 2 + numbers[at + 1]! : 2;
      if (at + length > numbers.length) {
        numbers = await readFrom(handle, offset, Math.max(readNumbers, length));
        at = 0;
        if (numbers.length < 2) return;
        length = 2 + numbers[1]!;
        if (length > numbers.length) numbers = await readFrom(handle, offset, length);
      }
      offset += length * 4;
      yield { conversation: numbers[at]!, runs: [...numbers.subarray(at + 2, at + length)], offset };
      at += length;
    }
  } finally {
    await handle.close();
  }
}

/** Bytes of the selection before a position. */
export interface Position {
  readonly offset: number;
}

async function readFrom(handle: FileHandle, offset: number, count: number): Promise<Int32Array> {
  const bytes = new Uint8Array(count * 4);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return new Int32Array(bytes.buffer, 0, Math.floor(filled / 4));
}

/** Conversations per slice, few enough that other requests don't wait. */
const sliceConversations = 100;

/** The given conversations, in their order and each once, with all their runs up to `last`. Removed ones are left out. */
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

/** The data that packs are made from. */
export interface PackSources {
  readonly audit: Pick<AuditStore, 'select'>;
  readonly rows: ExportRows;
  /** Writes queued runs, so that a snapshot includes them. */
  readonly flush: () => void;
  /** Absent where there is no team database. */
  readonly team?: TeamRecords;
}

function missingConversation(index: number): AppError {
  return new AppError('invalid_request', 'One of the conversations no longer exists.', {
    details: [{ field: `selection.conversationIds[${index}]`, issue: 'is not a conversation' }],
  });
}

/** Throws `invalid_request` if a given conversation doesn't exist. */
export async function requireConversations(selection: ExportSelection, sources: PackSources): Promise<void> {
  const team = selection.source === 'team' ? requireTeam(sources) : null;
  if (!('conversationIds' in selection)) return;
  const { rows, flush } = sources;
  flush();
  if (team !== null) {
    const missing = await team.findMissing(selection.conversationIds);
    if (missing >= 0) throw missingConversation(missing);
    return;
  }
  for (const [index, id] of selection.conversationIds.entries()) {
    if (index % 200 === 199) await new Promise((resolve) => setImmediate(resolve));
    if (rows.conversation(id) !== null) continue;
    throw missingConversation(index);
  }
}

/** The matches of a selection when `last` was the newest `runs.sequence`. */
export async function selectionOf(
  selection: ExportSelection,
  last: number,
  { audit, rows }: PackSources,
  signal: AbortSignal,
): Promise<Selection> {
  if ('filter' in selection) return audit.select(selection.filter, { last, signal });
  return selectConversations(rows, selection.conversationIds, last);
}
