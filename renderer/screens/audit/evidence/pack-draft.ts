import {
  exportColumns,
  type AuditExportInput,
  type ExportColumn,
  type ExportSelection,
  type RedactionRule,
} from '../../../../shared/contract/audit-exports.ts';
import { essentialColumns, type PackDraft, type StandardKind } from '../../../stores/audit.ts';

export const standardRules: readonly { kind: StandardKind; name: string }[] = [
  { kind: 'secret', name: 'Keys and tokens' },
  { kind: 'email', name: 'Email addresses' },
  { kind: 'phone', name: 'Phone numbers' },
  { kind: 'card', name: 'Card numbers' },
  { kind: 'account', name: 'Account numbers' },
];

export const columnGroups: readonly { title: string; columns: readonly ExportColumn[] }[] = [
  {
    title: 'What and when',
    columns: [
      'conversationId',
      'conversationName',
      'runId',
      'messageId',
      'matched',
      'createdAt',
      'completedAt',
      'status',
    ],
  },
  {
    title: 'Who',
    columns: ['callerId', 'workspaceId', 'promptId', 'promptVersionId', 'appHeaders', 'metadata', 'callerSupplied'],
  },
  { title: 'Model', columns: ['aiSystem', 'model', 'servedBy', 'configuration', 'dataspaceIds'] },
  { title: 'Input', columns: ['systemMessage', 'promptText', 'replacements', 'renderedPrompt', 'messages'] },
  {
    title: 'Answer',
    columns: [
      'content',
      'toolCalls',
      'reasoning',
      'finishReason',
      'errorCode',
      'errorMessage',
      'citations',
      'warnings',
    ],
  },
  { title: 'Guard', columns: ['moderationFlags', 'moderation'] },
  {
    title: 'Metrics',
    columns: [
      'promptTokens',
      'completionTokens',
      'totalTokens',
      'cachedTokens',
      'cacheWriteTokens',
      'reasoningTokens',
      'cost',
      'pricesFrom',
      'rawUsage',
      'firstTokenMs',
      'totalMs',
    ],
  },
  { title: 'Feedback', columns: ['feedbackScore', 'feedbackText', 'feedbackTags', 'feedbackAt', 'feedbackHistory'] },
];

export const columnPresets = { essential: essentialColumns, everything: exportColumns } as const;

/** The label of a column: `conversation name`, `first token ms`. */
export function columnName(column: ExportColumn): string {
  const words = column.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  if (column === 'aiSystem') return 'Provider';
  return words
    .replace(/\bids?\b/, (id) => id.replace('id', 'ID'))
    .replace(/ ms$/, ' (ms)')
    .replace(/^./, (letter) => letter.toUpperCase());
}

export function draftRules({ kinds, patterns }: PackDraft): RedactionRule[] {
  const standard = standardRules
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind }): RedactionRule => ({ kind }));
  const own = patterns
    .filter(({ pattern }) => pattern !== '')
    .map(({ name, pattern }): RedactionRule => ({ kind: 'pattern', name: name.trim() || 'Custom pattern', pattern }));
  return [...standard, ...own];
}

export function ruleName(rule: RedactionRule): string {
  if (rule.kind === 'pattern') return rule.name;
  return standardRules.find(({ kind }) => kind === rule.kind)?.name ?? rule.kind;
}

/** The first error that prevents the pack; null if there is none. */
export function draftProblem({ columns, formats }: PackDraft): string | null {
  if (columns.length === 0) return 'Choose at least one column.';
  return formats.length === 0 ? 'Choose at least one format.' : null;
}

export function packInput(draft: PackDraft, selection: ExportSelection, name: string): AuditExportInput {
  const { columns, formats, form, runs, files } = draft;
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    selection,
    runs,
    columns: [...columns],
    rules: draftRules(draft),
    formats: [...formats],
    form,
    files,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
