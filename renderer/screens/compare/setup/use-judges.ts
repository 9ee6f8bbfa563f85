import { useQuery } from '@tanstack/react-query';
import { listJudges } from '../../../../shared/contract/judges.ts';
import { useHost } from '../../../host/host-context.tsx';

/** The newest hundred judges. */
export function useJudges() {
  const { client } = useHost();
  return useQuery({
    queryKey: ['judges', 'newest'],
    queryFn: async ({ signal }) => (await client.call(listJudges, { signal, query: { pageSize: 100 } })).data,
  });
}
