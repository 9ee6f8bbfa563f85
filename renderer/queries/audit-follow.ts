import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Client, Part } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';

/** How long to wait before following again after the host was lost, in milliseconds. */
const followAgainMilliseconds = 2_000;

/**
 * A list that the host sends again whenever it changes, for as long as something shows it. `read` fills it at once, the
 * stream keeps it fresh.
 */
export function useFollowedList<Data, E extends Endpoint>(
  key: readonly string[],
  read: (client: Client, signal: AbortSignal) => Promise<Data>,
  follow: E & (Part<E> extends Data ? unknown : never),
) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const name = key.join('/');
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (list: unknown): void => {
      const queryKey = name.split('/');
      // A read that is still under way was asked for earlier: its answer would put an older list over this one, and stay.
      void queryClient.cancelQueries({ queryKey, exact: true });
      queryClient.setQueryData(queryKey, list);
    };
    const begin = async (): Promise<void> => {
      try {
        const { parts } = await client.stream(follow as Endpoint, { signal: controller.signal } as never);
        for await (const list of parts) show(list);
      } catch {
        // The host is gone or not there yet: the read beside it says so, this only tries again.
      }
      if (!controller.signal.aborted) timer = setTimeout(() => void begin(), followAgainMilliseconds);
    };
    void begin();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, queryClient, name, follow]);
  return useQuery({ queryKey: name.split('/'), queryFn: ({ signal }) => read(client, signal) });
}
