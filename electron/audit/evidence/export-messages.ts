import type { ErrorBody } from '../../../shared/app-error.ts';
import type { ExportColumn, RedactionPreview, RedactionRule } from '../../../shared/contract/audit-exports.ts';
import type { PackCheckpoint, PackPlan, PackResult } from './pack-state.ts';
import type { SelectedConversation } from '../query/selection.ts';

/** What the worker is started for. It ends by itself; any message to it stops it. */
export type ExportTask = { readonly databaseFile: string } & (
  | { readonly kind: 'pack'; readonly folder: string; readonly plan: PackPlan; readonly conversations: number }
  | PreviewTask
);

export interface PreviewTask {
  readonly kind: 'preview';
  readonly conversations: readonly SelectedConversation[];
  readonly runs: 'all' | 'matched';
  readonly columns: readonly ExportColumn[];
  readonly rules: readonly RedactionRule[];
}

/** What the worker tells. Without `completed` or `failed` it was stopped. */
export type ExportMessage =
  | { readonly type: 'progress'; readonly progress: PackCheckpoint }
  | { readonly type: 'step'; readonly step: 'checking' | 'packing' }
  | { readonly type: 'completed'; readonly result: PackResult }
  | { readonly type: 'previewed'; readonly rules: PreviewedRules }
  | { readonly type: 'failed'; readonly message: string; readonly stack: string; readonly body: ErrorBody | null };

export type PreviewedRules = Pick<RedactionPreview, 'examinedRuns' | 'rules'>;
