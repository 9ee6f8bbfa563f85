import type { ExportSelection } from '../../../shared/contract/audit-exports.ts';
import type { ReplayInput } from '../../../shared/contract/audit-replay.ts';
import type { AuditFilter, AuditSource } from '../../../shared/contract/audit.ts';
import type { SelectedRow } from '../../stores/audit.ts';
import { formatWhole } from '../../components/format.ts';

/** What the audit shows. */
export interface Shown {
  filter: AuditFilter;
  source: AuditSource;
}

export interface Picked {
  isAll: boolean;
  rows: ReadonlyMap<string, SelectedRow>;
}

function count(number: number, noun: string): string {
  return `${formatWhole(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** The scope of an evidence pack: the selected conversations, or all that match. */
export function exportOf({ isAll, rows }: Picked, shown: Shown, total: number) {
  const selection: ExportSelection =
    isAll || rows.size === 0 ? shown : { conversationIds: [...rows.keys()], source: shown.source };
  const subject =
    'filter' in selection ? `All ${count(total, 'matching conversation')}` : count(rows.size, 'selected conversation');
  return { selection, subject };
}

/** The runs to replay: those of the selected conversations, or the open one. */
export function replayOf({ isAll, rows }: Picked, shown: Shown, open: { runId: string; name: string }) {
  const runIds = [...rows.values()].map(({ runId }) => runId);
  const selection: ReplayInput['selection'] = isAll ? shown : { runIds: runIds.length === 0 ? [open.runId] : runIds };
  const subject = isAll
    ? 'all matching runs'
    : runIds.length === 0
      ? `"${open.name}"`
      : count(runIds.length, 'selected run');
  return { selection, subject };
}
