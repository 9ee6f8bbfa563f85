import { useMemo, useSyncExternalStore } from 'react';

const checkMilliseconds = 60_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => listeners.forEach((notify) => notify()), checkMilliseconds);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current date. A component that uses it renders again when the day changes. */
export function useToday(): Date {
  const day = useSyncExternalStore(subscribe, () => new Date().toDateString());
  return useMemo(() => new Date(day), [day]);
}
