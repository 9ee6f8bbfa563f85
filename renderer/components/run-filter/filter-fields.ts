import type { AuditFacets, AuditFilter } from '../../../shared/contract/audit.ts';
import type { OriginApi } from '../../../shared/contract/conversations.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { AuditSpan } from '../../../shared/contract/audit-views.ts';
import { formatDuration, formatScore } from '../format.ts';
import { finishName, originName } from '../run-words.ts';
import { spanOf, type DateSpan } from '../../shell/audit-address.ts';

/** A part of the filter with its label. */
export type FilterFieldId =
  | 'dates'
  | 'models'
  | 'aiSystems'
  | 'statuses'
  | 'origins'
  | 'clients'
  | 'importId'
  | 'callerIds'
  | 'hasFeedback'
  | 'score'
  | 'tags'
  | 'feedbackText'
  | 'totalMs'
  | 'firstTokenMs'
  | 'cost'
  | 'totalTokens'
  | 'finishReasons'
  | 'errorCodes'
  | 'moderationFlags'
  | 'appHeaders'
  | 'workspaceId'
  | 'agentId'
  | 'conversationId'
  | 'conversationRunId'
  | 'promptId'
  | 'promptVersionId'
  | 'promptRunId';

export type ListFieldId = Extract<
  FilterFieldId,
  | 'models'
  | 'aiSystems'
  | 'statuses'
  | 'origins'
  | 'clients'
  | 'callerIds'
  | 'tags'
  | 'finishReasons'
  | 'errorCodes'
  | 'moderationFlags'
>;
export type RangeFieldId = Extract<FilterFieldId, 'score' | 'totalMs' | 'firstTokenMs' | 'cost' | 'totalTokens'>;
export type IdFieldId = Extract<
  FilterFieldId,
  | 'workspaceId'
  | 'agentId'
  | 'importId'
  | 'conversationId'
  | 'conversationRunId'
  | 'promptId'
  | 'promptVersionId'
  | 'promptRunId'
>;

interface FieldDefinition {
  name: string;
  group: 'Run' | 'Feedback' | 'Metrics' | 'Origin' | 'IDs';
  keywords?: readonly string[];
}

export type FilterField = FieldDefinition &
  (
    | { id: 'dates' | 'hasFeedback' | 'feedbackText' | 'appHeaders'; kind: 'own' }
    | { id: ListFieldId; kind: 'list'; isEvery?: boolean }
    | { id: RangeFieldId; kind: 'range'; unit: string; scale: number; isWhole?: boolean }
    | { id: IdFieldId; kind: 'id' }
  );

/** In the order of the menu, the most used first. */
export const filterFields: readonly FilterField[] = [
  { id: 'dates', kind: 'own', name: 'Date', group: 'Run', keywords: ['from', 'until', 'time', 'day', 'when'] },
  { id: 'models', kind: 'list', name: 'Model', group: 'Run' },
  { id: 'aiSystems', kind: 'list', name: 'Provider', group: 'Run', keywords: ['aiSystem'] },
  { id: 'statuses', kind: 'list', name: 'Status', group: 'Run', keywords: ['failed', 'cancelled', 'completed'] },
  { id: 'finishReasons', kind: 'list', name: 'Finish reason', group: 'Run', keywords: ['length', 'content filter'] },
  { id: 'errorCodes', kind: 'list', name: 'Error', group: 'Run', keywords: ['failed', 'rate limit'] },
  {
    id: 'moderationFlags',
    kind: 'list',
    name: 'Moderation flag',
    group: 'Run',
    keywords: ['moderation', 'guard', 'violence'],
  },
  { id: 'hasFeedback', kind: 'own', name: 'Has feedback', group: 'Feedback', keywords: ['rated', 'unrated'] },
  { id: 'score', kind: 'range', name: 'Score', group: 'Feedback', unit: '', scale: 1, isWhole: true },
  { id: 'tags', kind: 'list', name: 'Tags', group: 'Feedback', isEvery: true },
  { id: 'feedbackText', kind: 'own', name: 'Comment', group: 'Feedback', keywords: ['feedback text'] },
  {
    id: 'totalMs',
    kind: 'range',
    name: 'Latency',
    group: 'Metrics',
    unit: 's',
    scale: 1000,
    keywords: ['slow', 'time'],
  },
  { id: 'firstTokenMs', kind: 'range', name: 'First token', group: 'Metrics', unit: 's', scale: 1000 },
  { id: 'cost', kind: 'range', name: 'Cost', group: 'Metrics', unit: '$', scale: 1, keywords: ['price', 'dollars'] },
  { id: 'totalTokens', kind: 'range', name: 'Tokens', group: 'Metrics', unit: '', scale: 1, isWhole: true },
  { id: 'origins', kind: 'list', name: 'Recorded from', group: 'Origin', keywords: ['API', 'import', 'recorded'] },
  { id: 'clients', kind: 'list', name: 'Program', group: 'Origin', keywords: ['client', 'user agent'] },
  { id: 'callerIds', kind: 'list', name: 'Caller', group: 'Origin', keywords: ['API key'] },
  { id: 'appHeaders', kind: 'own', name: 'Header', group: 'Origin', keywords: ['x-app'] },
  { id: 'workspaceId', kind: 'id', name: 'Workspace ID', group: 'Origin' },
  { id: 'importId', kind: 'id', name: 'Import ID', group: 'Origin' },
  { id: 'agentId', kind: 'id', name: 'Agent ID', group: 'Origin' },
  { id: 'conversationId', kind: 'id', name: 'Conversation ID', group: 'IDs' },
  { id: 'conversationRunId', kind: 'id', name: 'Run ID', group: 'IDs' },
  { id: 'promptId', kind: 'id', name: 'Prompt ID', group: 'IDs' },
  { id: 'promptVersionId', kind: 'id', name: 'Prompt version ID', group: 'IDs' },
  { id: 'promptRunId', kind: 'id', name: 'Prompt run ID', group: 'IDs' },
];

/** One condition of the filter as text, with a function that removes it. */
export interface FilterChip {
  id: string;
  field: FilterFieldId;
  name: string;
  value: string;
  without: AuditFilter;
}

function omit<Key extends keyof AuditFilter>(filter: AuditFilter, ...keys: Key[]): AuditFilter {
  const rest = { ...filter };
  for (const key of keys) delete rest[key];
  return rest;
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** `14 Nov 2026` for midnight, with the time of day for any other moment. */
export function formatMoment(moment: string): string {
  const date = new Date(moment);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return (isMidnight ? day : dayAndTime).format(date);
}

function formatBound(field: RangeFieldId, value: number): string {
  if (field === 'score') return formatScore(value);
  if (field === 'cost') return `$${value}`;
  return field === 'totalTokens' ? value.toLocaleString('en') : formatDuration(value);
}

function formatRange(field: RangeFieldId, { min, max }: { min?: number | null; max?: number | null }): string {
  if (min == null) return max == null ? 'any' : `at most ${formatBound(field, max)}`;
  if (max == null) return `at least ${formatBound(field, min)}`;
  return min === max ? formatBound(field, min) : `${formatBound(field, min)} to ${formatBound(field, max)}`;
}

function formatList(values: readonly string[], isEvery: boolean): string {
  const [first = '', second] = values;
  if (second === undefined) return first;
  const joint = isEvery ? 'and' : 'or';
  return values.length === 2 ? `${first} ${joint} ${second}` : `${first} ${joint} ${values.length - 1} more`;
}

/** A caller's display name: this window, or the name of its API key; otherwise its short ID. */
export function callerName(callerId: string, facets: AuditFacets | undefined): string {
  if (callerId === facets?.windowCallerId) return 'This window';
  const known = facets?.callers.find((caller) => caller.callerId === callerId);
  return known?.name ?? `${callerId.slice(0, 4)}…${callerId.slice(-4)}`;
}

function dateChips(filter: AuditFilter, span: DateSpan | null): FilterChip[] {
  const { startDate, endDate } = filter;
  if (span) return [{ id: 'span', field: 'dates', name: 'Date', value: span.name, without: omit(filter, 'startDate') }];
  return [
    ...(startDate
      ? [
          {
            id: 'from',
            field: 'dates',
            name: 'From',
            value: formatMoment(startDate),
            without: omit(filter, 'startDate'),
          } as const,
        ]
      : []),
    ...(endDate
      ? [
          {
            id: 'to',
            field: 'dates',
            name: 'Until',
            value: formatMoment(endDate),
            without: omit(filter, 'endDate'),
          } as const,
        ]
      : []),
  ];
}

function headerChips(filter: AuditFilter): FilterChip[] {
  return Object.entries(filter.appHeaders ?? {}).map(([name, value]) => {
    const { [name]: _taken, ...others } = filter.appHeaders ?? {};
    const rest = omit(filter, 'appHeaders');
    return {
      id: `header-${name}`,
      field: 'appHeaders',
      name: `Header ${name}`,
      value: value ?? 'absent',
      without: Object.keys(others).length === 0 ? rest : { ...rest, appHeaders: others },
    };
  });
}

/** `prompt:selfHarm` as "Prompt: self-harm". */
function flagName(flag: string): string {
  const [side, category] = flag.split(':');
  return `${side === 'prompt' ? 'Prompt' : 'Answer'}: ${category === 'selfHarm' ? 'self-harm' : category}`;
}

/** The label of a value. */
export function nameOfValue(field: ListFieldId, value: string, facets: AuditFacets | undefined): string {
  if (field === 'callerIds') return callerName(value, facets);
  if (field === 'aiSystems') return providerName(value as AiSystem);
  if (field === 'origins') return originName(value as OriginApi);
  if (field === 'finishReasons') return finishName(value);
  return field === 'moderationFlags' ? flagName(value) : value;
}

function chipsOf(
  field: FilterField,
  filter: AuditFilter,
  facets: AuditFacets | undefined,
  span: DateSpan | null,
): FilterChip[] {
  const chip = (value: string, without: AuditFilter): FilterChip[] => [
    { id: field.id, field: field.id, name: field.name, value, without },
  ];
  if (field.kind === 'list') {
    const values = filter[field.id];
    if (!values?.length) return [];
    const named = values.map((value) => nameOfValue(field.id, value, facets));
    return chip(formatList(named, field.isEvery === true), omit(filter, field.id));
  }
  if (field.kind === 'range') {
    const range = filter[field.id];
    return range ? chip(formatRange(field.id, range), omit(filter, field.id)) : [];
  }
  if (field.kind === 'id') {
    const id = filter[field.id];
    return id ? chip(`${id.slice(0, 4)}…${id.slice(-4)}`, omit(filter, field.id)) : [];
  }
  if (field.id === 'dates') return dateChips(filter, span);
  if (field.id === 'appHeaders') return headerChips(filter);
  if (field.id === 'feedbackText') {
    const text = filter.feedback?.scoreText;
    return text ? chip(text, omit(filter, 'feedback')) : [];
  }
  const has = filter.hasFeedback;
  return typeof has === 'boolean' ? chip(has ? 'yes' : 'no', omit(filter, 'hasFeedback')) : [];
}

/** Chips for all conditions except the full text, in the order of the menu; `span` is the span that its dates come from. */
export function filterChips(
  filter: AuditFilter,
  facets: AuditFacets | undefined,
  span: AuditSpan | null = null,
): FilterChip[] {
  return filterFields.flatMap((field) => chipsOf(field, filter, facets, spanOf(span)));
}

/** Whether a filter matches everything. */
export function isEverything(filter: AuditFilter): boolean {
  return Object.keys(filter).length === 0;
}
