import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { ExportColumn, ExportFormat, RedactionRule } from '../../shared/contract/audit-exports.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

/** What the form of a new pack holds; kept from one pack to the next. */
export interface PackDraft {
  columns: readonly ExportColumn[];
  kinds: readonly StandardKind[];
  patterns: readonly OwnPattern[];
  formats: readonly ExportFormat[];
  form: 'folder' | 'zip';
  runs: 'all' | 'matched';
}

export type StandardKind = Exclude<RedactionRule['kind'], 'pattern'>;

export interface OwnPattern {
  name: string;
  pattern: string;
}

/** What an auditor needs to follow a conversation. */
export const essentialColumns: readonly ExportColumn[] = [
  'conversationId',
  'conversationName',
  'runId',
  'createdAt',
  'status',
  'callerId',
  'aiSystem',
  'model',
  'systemMessage',
  'renderedPrompt',
  'content',
  'finishReason',
  'errorMessage',
  'citations',
  'feedbackScore',
  'feedbackText',
  'feedbackTags',
];

const firstDraft: PackDraft = {
  columns: essentialColumns,
  kinds: ['email', 'phone', 'card', 'account'],
  patterns: [],
  formats: ['html', 'jsonl', 'csv'],
  form: 'zip',
  runs: 'all',
};

/** What the next evidence pack will hold. Kept, so that a crash or a restart costs nobody their own patterns. */
export const usePackDraft = create<PackDraft>()(
  persist((): PackDraft => firstDraft, { name: 'touchstone.evidence-pack', version: 1 }),
);
shareBetweenWindows(usePackDraft);
