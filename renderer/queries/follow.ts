import { useQuery, useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Client, Part } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';

/** How long to wait before following again after the host was lost, in milliseconds. */
const followAgainMilliseconds = 2_000;

/**
 * Takes every part that the host streams for as long as something is mounted, and begins again after the host was lost.
 * `isFirst` tells the first part of each beginning: what changed before it was not told.
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
        // The host is gone or not there yet: the read beside it says so, this only tries again.
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
 * Puts what the host has just told in its place. A read that is still under way was asked for earlier: its answer would
 * put older data over this, and stay.
 */
export function showNewer(queryClient: QueryClient, queryKey: QueryKey, data: unknown): void {
  void queryClient.cancelQueries({ queryKey, exact: true });
  queryClient.setQueryData(queryKey, data);
}

/** Reads again what is shown, also what is being read for the first time: that may have been answered before the change. */
export function readAgain(queryClient: QueryClient, queryKey: QueryKey): void {
  void queryClient.cancelQueries({ queryKey });
  void queryClient.invalidateQueries({ queryKey });
}

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
  useFollow(follow as E, (list) => showNewer(queryClient, key, list));
  return useQuery({ queryKey: key, queryFn: ({ signal }) => read(client, signal) });
}
