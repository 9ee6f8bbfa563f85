import { randomUUID } from 'node:crypto';
import { exportColumns, type AuditExportInput } from '../../../shared/contract/audit-exports.ts';
import type { PackSources } from './pack-selection.ts';
import type { PackPlan, PackRecord } from './pack-state.ts';

/** This moment: what ended before it is on disk, what ends later shows by its time. */
export async function snapshotOf({ flush, rows }: PackSources): Promise<{ createdAt: number; lastRun: number }> {
  const createdAt = Date.now() + 1;
  while (Date.now() < createdAt) await new Promise((resolve) => setImmediate(resolve));
  flush();
  return { createdAt, lastRun: rows.lastRun() };
}

/** A pack before anything of it is written. */
export function newPack(
  input: AuditExportInput,
  snapshot: Pick<PackPlan, 'createdAt' | 'lastRun'>,
  version: string,
): PackRecord {
  const chosen = new Set(input.columns);
  // Whoever reads these must see which of them are only the caller's word.
  if (chosen.has('metadata') || chosen.has('workspaceId')) chosen.add('callerSupplied');
  const timeZone = input.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const plan = {
    id: randomUUID(),
    name: input.name ?? `Evidence ${new Date(snapshot.createdAt).toLocaleDateString('sv', { timeZone })}`,
    ...snapshot,
    version,
    input: {
      ...input,
      name: input.name ?? '',
      timeZone,
      runs: input.runs ?? 'all',
      columns: exportColumns.filter((column) => chosen.has(column)),
      formats: [...new Set(input.formats)],
    },
  };
  return { plan, conversations: null, state: 'running', failure: null, completedAt: null, result: null };
}
