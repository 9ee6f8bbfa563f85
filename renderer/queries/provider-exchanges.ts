import { useQuery } from '@tanstack/react-query';
import { readProviderExchanges } from '../../shared/contract/provider-exchanges.ts';
import { useHost } from '../host/host-context.tsx';
import { runsKey } from './runs.ts';

/** What was sent to the provider for a run that has ended, and its raw response. */
export function useProviderExchanges(runId: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...runsKey, 'exchanges', runId],
    queryFn: ({ signal }) => client.call(readProviderExchanges, { signal, parameters: { id: runId } }),
    // Up to 2 MB per call: not worth holding on to once the view is closed.
    gcTime: 30_000,
  });
}
