import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { loadAuditSamples, readAuditSamples, removeAuditSamples } from '../../shared/contract/audit-samples.ts';
import { useHost } from '../host/host-context.tsx';
import { auditKey } from './audit.ts';
import { hostKey } from './host-state.ts';
import { runsKey } from './runs.ts';

const samplesKey = ['audit', 'samples'] as const;

/** Whether the sample set is loaded. */
export function useAuditSamples() {
  const { client } = useHost();
  return useQuery({ queryKey: samplesKey, queryFn: ({ signal }) => client.call(readAuditSamples, { signal }) });
}

/** Loads the sample set, or removes it and nothing else. Everything that shows runs is read anew. */
export function useChangeAuditSamples() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (change: 'load' | 'remove') =>
      change === 'load' ? client.call(loadAuditSamples) : client.call(removeAuditSamples),
    onSettled: () =>
      Promise.all([auditKey, runsKey, hostKey].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
