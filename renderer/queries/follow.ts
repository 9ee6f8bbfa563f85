import { useQuery, useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Client, Part } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';

/** The delay before reconnecting after the host was lost, in milliseconds. */
const followAgainMilliseconds = 2_000;

/**
 * Reads every part that the host streams while a component is mounted, and reconnects after the host was lost. `isFirst` marks the
 * first part of each connection: changes before it were missed.
 */
export function useFollow<E extends Endpoint>(endpoint: E, take: (part: Part<E>, isFirst: boolean) => void): void {
  const { client } = useHost();
  const onPart = useEffectEvent(take);
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = async (): Promise<void> => {
      let isFirst = true;
      try {
        const { parts } = await client.stream(endpoint as Endpoint, { signal: controller.signal } as never);
        for await (const part of parts) {
          if (controller.signal.aborted) return;
          onPart(part as Part<E>, isFirst);
          isFirst = false;
        }
      } catch {
        // The host is down or still starting. The query beside this stream shows it; this only retries.
      }
      if (!controller.signal.aborted) timer = setTimeout(() => void begin(), followAgainMilliseconds);
    };
    void begin();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, endpoint]);
}

/**
 * Writes data that the host has just pushed into the cache. An active read started earlier: its response would overwrite the newer
 * data.
 */
export function showNewer(queryClient: QueryClient, queryKey: QueryKey, data: unknown): void {
  void queryClient.cancelQueries({ queryKey, exact: true });
  queryClient.setQueryData(queryKey, data);
}

/** Refetches the visible data, also data that is loading for the first time: its response may be older than the change. */
export function readAgain(queryClient: QueryClient, queryKey: QueryKey): void {
  void queryClient.cancelQueries({ queryKey });
  void queryClient.invalidateQueries({ queryKey });
}

/** A list that the host pushes whenever it changes, while something shows it. `read` loads it at once; the stream keeps it fresh. */
export function useFollowedList<Data, E extends Endpoint>(
  key: readonly string[],
  read: (client: Client, signal: AbortSignal) => Promise<Data>,
  follow: E & (Part<E> extends Data ? unknown : never),
) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  useFollow(follow as E, (list) => showNewer(queryClient, key, list));
  return useQuery({ queryKey: key, queryFn: ({ signal }) => read(client, signal) });
}
