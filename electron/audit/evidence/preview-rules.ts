import {
  type ExportColumn,
  type RedactionPreview,
  type RedactionRule,
  replacementOf,
} from '../../../shared/contract/audit-exports.ts';
import type { ExportRows } from '../../storage/export-rows.ts';
import type { SelectedConversation } from '../query/selection.ts';
import { exportRecord } from './export-record.ts';
import { createRedactor } from './redaction.ts';
import type { Span } from './spans.ts';

export interface PreviewTask {
  readonly databaseFile: string;
  /** A copy of other hosts' runs; absent for runs of this device. */
  readonly snapshotFile?: string;
  readonly maxRuns: number;
  readonly conversations: readonly SelectedConversation[];
  readonly runs: 'all' | 'matched';
  readonly columns: readonly ExportColumn[];
  readonly rules: readonly RedactionRule[];
}

export type PreviewedRules = Pick<RedactionPreview, 'examinedRuns' | 'rules'>;

const maxSamples = 10;
/** Characters before and after a match. */
const contextLength = 40;
const maxMatchLength = 200;

function surroundings(text: string, { start, end }: Span) {
  return {
    before: text.slice(Math.max(0, start - contextLength), start),
    found: text.slice(start, Math.min(end, start + maxMatchLength)),
    after: text.slice(end, end + contextLength),
  };
}

/** Applies the rules to the first runs of a selection and returns the matches of each. */
export function previewRules(task: PreviewTask, rows: ExportRows): PreviewedRules {
  const redactor = createRedactor(task.rules);
  const samples = task.rules.map((): RedactionPreview['rules'][number]['samples'] => []);
  const runsOfRule = task.rules.map(() => 0);
  const snapshotAt = Number.POSITIVE_INFINITY;
  let examinedRuns = 0;
  for (const { conversation, runs } of task.conversations) {
    const matched = new Set(runs);
    for (const row of rows.runs(conversation, Number.MAX_SAFE_INTEGER)) {
      const isMatched = matched.has(row.sequence);
      if (task.runs === 'matched' && !isMatched) continue;
      if (examinedRuns === task.maxRuns) break;
      examinedRuns += 1;
      const countsBefore = [...redactor.counts];
      exportRecord(row, task.columns, { snapshotAt, isMatched }, redactor, (column, rule, text, span) => {
        if (samples[rule]!.length >= maxSamples) return;
        samples[rule]!.push({
          conversationId: row.conversation_id,
          runId: row.id,
          column,
          ...surroundings(text, span),
          replacement: replacementOf(task.rules[rule]!),
        });
      });
      for (const [rule, count] of countsBefore.entries()) if (redactor.counts[rule]! > count) runsOfRule[rule]! += 1;
    }
  }
  return {
    examinedRuns,
    rules: samples.map((found, rule) => ({ count: redactor.counts[rule]!, runs: runsOfRule[rule]!, samples: found })),
  };
}
