import type {
  ExportColumn,
  ExportSelection,
  RedactionPreview,
  RedactionRule,
} from '../../../shared/contract/audit-exports.ts';
import { conversationsOf, type SelectedConversation } from '../../storage/audit/selection.ts';
import type { ExportMessage } from './export-messages.ts';
import { selectionOf, type PackSources } from './pack-selection.ts';
import { mostPreviewedRuns } from './preview-rules.ts';
import { createRedactor } from './redaction.ts';
import { runExportWorker } from './run-export-worker.ts';

export interface PreviewRequest {
  readonly selection: ExportSelection;
  readonly runs?: 'all' | 'matched' | undefined;
  readonly columns: readonly ExportColumn[];
  readonly rules: readonly RedactionRule[];
}

/** What rules would replace in the first runs of a selection. Throws `invalid_request` for a pattern that is none. */
export async function previewPack(
  request: PreviewRequest,
  options: PackSources & { readonly databaseFile: string },
  signal: AbortSignal,
): Promise<RedactionPreview> {
  createRedactor(request.rules);
  const { databaseFile, rows, flush } = options;
  flush();
  const { numbers } = await selectionOf(request.selection, rows.lastRun(), options, signal);
  const first: SelectedConversation[] = [];
  const count = { conversations: 0, runs: 0 };
  for (const selected of conversationsOf(numbers)) {
    if (first.push(selected) === mostPreviewedRuns) break;
  }
  for (let at = 0; at < numbers.length; at += 2 + numbers[at + 1]!) {
    count.conversations += 1;
    count.runs += numbers[at + 1]!;
  }
  const answers: Extract<ExportMessage, { type: 'previewed' }>['rules'][] = [];
  const { columns, rules, runs = 'all' } = request;
  await runExportWorker(
    { kind: 'preview', databaseFile, conversations: first, runs, columns, rules },
    { signal, onMessage: (message) => message.type === 'previewed' && answers.push(message.rules) },
  );
  signal.throwIfAborted();
  const [answer] = answers;
  if (answer === undefined) throw new Error('The preview ended without an answer.');
  return { ...count, ...answer };
}
