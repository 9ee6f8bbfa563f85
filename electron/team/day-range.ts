import { type RawBuilder, sql } from 'kysely';
import type { AuditFilter } from '../../shared/contract/audit.ts';
import { firstMillisecond } from '../audit/query/conditions.ts';
import { conditionsOf } from './filter-conditions.ts';
import { dayMs, dayOf } from './run-counts.ts';

/** Milliseconds since 1970, both included; null without a bound. */
export interface TimeRange {
  readonly from: number | null;
  readonly to: number | null;
}

/** The range of a filter that has no other condition; null for any other filter. */
export function timeRangeOf({ startDate, endDate, ...others }: AuditFilter): TimeRange | null {
  if (conditionsOf(others, 'n').length > 0) return null;
  return {
    from: startDate == null ? null : firstMillisecond(startDate),
    to: endDate == null ? null : Date.parse(endDate),
  };
}

/** The days that are whole within a range, whose counts are kept, and conditions for the runs of `n` in the rest of it. */
export function wholeDays({ from, to }: TimeRange): {
  days: { readonly first: number; readonly last: number } | null;
  rest: RawBuilder<unknown>[];
} {
  const first = from === null ? -2_147_483_648 : dayOf(from - 1) + 1;
  const last = to === null ? 2_147_483_647 : dayOf(to + 1) - 1;
  if (first > last) return { days: null, rest: [] };
  const rest: RawBuilder<unknown>[] = [];
  if (from !== null && from < first * dayMs)
    rest.push(sql`n.created_at >= ${from}::bigint AND n.created_at < ${first * dayMs}::bigint`);
  if (to !== null && to >= (last + 1) * dayMs)
    rest.push(sql`n.created_at >= ${(last + 1) * dayMs}::bigint AND n.created_at <= ${to}::bigint`);
  return { days: { first, last }, rest };
}
