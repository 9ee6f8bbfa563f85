import type { ExportSelection } from '../../../shared/contract/audit-exports.ts';
import type { ReplayInput } from '../../../shared/contract/audit-replay.ts';
import type { AuditFilter } from '../../../shared/contract/audit.ts';
import type { SelectedRow } from '../../stores/audit-selection.ts';
import { formatWhole } from '../../components/format.ts';

export interface Picked {
  isAll: boolean;
  rows: ReadonlyMap<string, SelectedRow>;
}

function count(number: number, noun: string): string {
  return `${formatWhole(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** What goes into evidence: what was picked, or everything that matches. */
export function exportOf({ isAll, rows }: Picked, filter: AuditFilter, total: number) {
  const selection: ExportSelection = isAll || rows.size === 0 ? { filter } : { conversationIds: [...rows.keys()] };
  const subject =
    'filter' in selection ? `All ${count(total, 'conversation')} that match` : count(rows.size, 'picked conversation');
  return { selection, subject };
}

/** What is replayed: the runs of what was picked, or the open one. */
export function replayOf({ isAll, rows }: Picked, filter: AuditFilter, open: { runId: string; name: string }) {
  const runIds = [...rows.values()].map(({ runId }) => runId);
  const selection: ReplayInput['selection'] = isAll
    ? { filter }
    : { runIds: runIds.length === 0 ? [open.runId] : runIds };
  const subject = isAll
    ? 'everything that matches'
    : runIds.length === 0
      ? open.name
      : count(runIds.length, 'picked run');
  return { selection, subject };
}
