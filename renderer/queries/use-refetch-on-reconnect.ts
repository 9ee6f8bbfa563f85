import { useQueryClient, type Query, type QueryObserverOptions } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConnection } from '../stores/window.ts';

/** What never grows old is kept fresh by a stream or stays as it is; a check may cost something, and a person asks for it. */
function mayHaveChanged({ options, state, meta }: Query): boolean {
  const isKept = (options as QueryObserverOptions).staleTime === Infinity && state.status !== 'error';
  return !isKept && meta?.['mayCost'] !== true;
}

/** A host that is there again may be another one than before, and reads in between have failed: what is shown is read anew. */
export function useRefetchOnReconnect(): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    const unsubscribe = useConnection.subscribe(({ connection }) => {
      if (connection === 'there') void queryClient.invalidateQueries({ predicate: mayHaveChanged });
    });
    return () => unsubscribe();
  }, [queryClient]);
}
