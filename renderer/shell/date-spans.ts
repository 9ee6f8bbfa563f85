import type { AuditFilter } from '../../shared/contract/audit.ts';
import type { AuditSpan } from '../../shared/contract/audit-views.ts';

const dayMilliseconds = 86_400_000;

function startOfDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

export interface DateSpan {
  readonly id: AuditSpan;
  readonly name: string;
  readonly start: (now: Date) => Date;
}

/** Spans that end now, by the clock of this machine. Days begin at midnight. */
export const dateSpans: readonly DateSpan[] = [
  { id: 'today', name: 'Today', start: startOfDay },
  { id: 'last-24-hours', name: 'Last 24 hours', start: (now) => new Date(now.getTime() - dayMilliseconds) },
  {
    id: 'last-7-days',
    name: 'Last 7 days',
    start: (now) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 6),
  },
  {
    id: 'last-30-days',
    name: 'Last 30 days',
    start: (now) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 29),
  },
  { id: 'this-month', name: 'This month', start: (now) => new Date(now.getFullYear(), now.getMonth(), 1) },
  { id: 'this-year', name: 'This year', start: (now) => new Date(now.getFullYear(), 0, 1) },
];

export function spanOf(id: string | null | undefined): DateSpan | null {
  return dateSpans.find((span) => span.id === id) ?? null;
}

/** A filter that begins where a span does at this moment; the filter itself without one. */
export function withSpan(filter: AuditFilter, id: AuditSpan | null | undefined, now: Date): AuditFilter {
  const span = spanOf(id);
  if (span === null) return filter;
  const { endDate: _end, ...rest } = filter;
  return { ...rest, startDate: span.start(now).toISOString() };
}

/** What is kept of a filter beside its span, which says anew every day where it begins. */
export function withoutSpan(filter: AuditFilter, id: AuditSpan | null): AuditFilter {
  if (id === null) return filter;
  const { startDate: _start, ...rest } = filter;
  return rest;
}
