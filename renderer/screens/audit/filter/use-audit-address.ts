import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { AuditFilter, AuditSort } from '../../../../shared/contract/audit.ts';
import { auditAddress, readAuditAddress, readFilter, type AuditAddress } from './filter-address.ts';

export interface AddressedAudit extends AuditAddress {
  /** Names in the address that could not be read and are left out. */
  ignored: readonly string[];
  /** Another list; the conversation that is open stays open if it has a place in it. */
  search: (change: { filter?: AuditFilter; sort?: AuditSort }, options?: { replace?: boolean }) => void;
  /** Another conversation of the same list. Going through a list is one step of the way back. */
  open: (conversationId: string | null, runId?: string | null) => void;
}

/** The state of the screen that stands in the address, and the ways to change it. */
export function useAuditAddress(): AddressedAudit {
  const [location, navigate] = useLocation();
  const { conversationId, runId } = readAuditAddress(location);
  const text = location.split('/')[2] ?? 'all';
  // The same object for the same words: everything that is read from the host hangs on it.
  const { filter, sort, ignored } = useMemo(() => readFilter(text), [text]);
  return {
    filter,
    sort,
    ignored,
    conversationId,
    runId,
    search: (change, options) =>
      navigate(auditAddress({ filter, sort, runId: null, conversationId: null, ...change }), options),
    open: (id, openRunId = null) =>
      navigate(auditAddress({ filter, sort, conversationId: id, runId: openRunId }), {
        replace: conversationId !== null,
      }),
  };
}
