import type { Selection } from '../../storage/audit/selection.ts';
import type { ExportRows } from '../../storage/export-rows.ts';

/** Looked up in one go: so few that the service is not held. */
const sliceConversations = 100;

/** Conversations that are named, in that order and each once, with all their runs up to `last`; one that was removed is left out. */
export async function selectConversations(rows: ExportRows, ids: readonly string[], last: number): Promise<Selection> {
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
