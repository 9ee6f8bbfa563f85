import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { previewGrounding, type GroundedRequest } from '../../shared/contract/grounding.ts';
import { useHost } from '../host/host-context.tsx';

/** The passages that a run would be given; null while there is nothing to ground. */
export function useGroundingPreview(request: GroundedRequest | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['knowledge', 'grounding', request],
    enabled: request !== null,
    // Sources change and each key press is a request of its own: nothing of this is worth keeping.
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(previewGrounding, { signal, body: request! }),
  });
}
