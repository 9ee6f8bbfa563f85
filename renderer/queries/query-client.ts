import {
  MutationCache,
  notifyManager,
  type Query,
  QueryClient,
  type QueryObserverOptions,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { AppError } from '../../shared/app-error.ts';
import { describeError } from '../components/state-panels.tsx';
import { showToast } from '../stores/toasts.ts';
import { useConnection } from '../stores/window.ts';

/** The settings' cache key. A separate module, because the queries of the host's state and of the settings both need it. */
export const settingsKey = ['settings'] as const;

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** Whether the part that started it shows the error, while it is open. Otherwise the error becomes a toast. */
      isFailureShown?: boolean;
      /** A preview, or a part of something larger: nobody but the caller needs to know how it ended, also not in a toast. */
      isOnlyForCaller?: boolean;
    };
  }
}

/** Retries only if the host didn't respond. It would reject the same request again. */
function isWorthRetrying(failures: number, error: unknown): boolean {
  return failures < 2 && !(error instanceof AppError && error.status < 500);
}

/** The host is on this computer: in the default mode nothing would be fetched or changed while the network is down. */
const networkMode = 'always';

let isSending = false;
// A button is busy before the next click arrives. By default the window learns of a change in a later task, and a busy Chromium
// handles the second click of a double-click before that: it would send the change twice.
notifyManager.setScheduler((notify) => (isSending ? queueMicrotask(notify) : setTimeout(notify, 0)));

function markSending(): void {
  isSending = true;
  queueMicrotask(() => {
    isSending = false;
  });
}

/** What a part aborts when it closes is no news. */
const isAbort = (error: { readonly name: string }): boolean => error.name === 'AbortError';

/** Returns whether the part of the window that started a mutation is still open and shows its state. */
function followParts(mutations: MutationCache): (mutation: object) => boolean {
  const parts = new WeakMap<object, { hasListeners(): boolean }>();
  mutations.subscribe((event) => {
    if (event.type === 'observerAdded') {
      // It is sent next.
      markSending();
      parts.set(event.mutation, event.observer);
    }
    if (event.type === 'observerRemoved') parts.delete(event.mutation);
  });
  return (mutation) => parts.get(mutation)?.hasListeners() ?? false;
}

/**
 * The window's cache of the host's data. Every change is a mutation that refetches the data that it affects, so focusing the window
 * refetches nothing. Runs are never queries: see `stores/`.
 */
export function createQueryClient(): QueryClient {
  const mutationCache = new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      const { isFailureShown, isOnlyForCaller } = mutation.meta ?? {};
      if (isOnlyForCaller || (isFailureShown && (isOpen(mutation) || isAbort(error)))) return;
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: message, requestId });
    },
  });
  const isOpen = followParts(mutationCache);
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode,
        retry: isWorthRetrying,
      },
      mutations: { networkMode, retry: false },
    },
    mutationCache,
  });
}

/** Data that never gets stale is updated by a stream or doesn't change; a paid check runs only when a person requests it. */
function mayHaveChanged({ options, state, meta }: Query): boolean {
  const isCached = (options as QueryObserverOptions).staleTime === Infinity && state.status !== 'error';
  return !isCached && meta?.['mayCost'] !== true;
}

/** After a reconnect the host may be a different one, and requests in between have failed, so all visible data is refetched. */
export function useRefetchOnReconnect(): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    const unsubscribe = useConnection.subscribe(({ connection }) => {
      if (connection === 'there') void queryClient.invalidateQueries({ predicate: mayHaveChanged });
    });
    return () => unsubscribe();
  }, [queryClient]);
}
