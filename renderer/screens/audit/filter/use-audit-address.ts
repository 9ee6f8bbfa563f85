import { useCallback, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { AuditFilter, AuditSort } from '../../../../shared/contract/audit.ts';
import type { AuditSpan } from '../../../../shared/contract/audit-views.ts';
import { auditAddress, readAuditAddress, readFilter, type AuditAddress } from '../../../shell/audit-address.ts';

export interface AddressedAudit extends AuditAddress {
  /** Names in the address that could not be parsed and are ignored. */
  ignored: readonly string[];
  span: AuditSpan | null;
  /** Opens another list. The open conversation stays open if the list contains it. */
  search: (
    change: { filter?: AuditFilter; sort?: AuditSort; span?: AuditSpan | null | undefined },
    options?: { replace?: boolean },
  ) => void;
  /** Moves a relative span of time to end now. */
  renew: () => void;
  /** Opens another conversation of the same list. Going through a list is a single step for Back. */
  open: (conversationId: string | null, runId?: string | null) => void;
}

/** The part of the screen's state that the address holds, and functions that change it. */
export function useAuditAddress(): AddressedAudit {
  const [location, navigate] = useLocation();
  const { conversationId, runId } = readAuditAddress(location);
  const text = location.split('/')[2] ?? 'all';
  // The same object for the same address, because queries depend on its identity.
  const [read, setRead] = useState(() => ({ text, at: new Date() }));
  // oxlint-disable-next-line react/purity -- "The last hour" ends when its address opens; a repeated render moves it by milliseconds.
  if (read.text !== text) setRead({ text, at: new Date() });
  const { filter, sort, span, ignored } = useMemo(() => readFilter(read.text, read.at), [read]);
  const search: AddressedAudit['search'] = useCallback(
    ({ span: nextSpan, ...change }, options) => {
      const next = change.filter;
      // A change of other fields keeps a relative span relative.
      const keepsDates = next === undefined || (next.startDate === filter.startDate && !next.endDate);
      const currentSpan = keepsDates ? span : null;
      const dates = nextSpan === undefined ? currentSpan : nextSpan;
      navigate(auditAddress({ filter, sort, span: dates, runId: null, conversationId: null, ...change }), options);
    },
    [filter, sort, span, navigate],
  );
  return {
    filter,
    sort,
    span,
    ignored,
    conversationId,
    runId,
    search,
    renew: () => setRead({ text, at: new Date() }),
    open: (id, openRunId = null) =>
      navigate(auditAddress({ filter, sort, span, conversationId: id, runId: openRunId }), {
        replace: conversationId !== null,
      }),
  };
}
