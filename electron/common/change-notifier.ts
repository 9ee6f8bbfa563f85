/** Calls listeners with a state at most once per `intervalMs`, and always after the last change. */
export interface ChangeNotifier<State> {
  changed(): void;
  subscribe(listener: (state: State) => void): () => void;
  close(): void;
}

export function createChangeNotifier<State>(read: () => State, intervalMs: number): ChangeNotifier<State> {
  const listeners = new Set<(state: State) => void>();
  let timer: NodeJS.Timeout | null = null;
  let isPending = false;

  function tell(): void {
    isPending = false;
    timer = setTimeout(() => {
      timer = null;
      if (isPending) tell();
    }, intervalMs);
    timer.unref();
    const state = read();
    for (const listener of listeners) listener(state);
  }

  return {
    changed() {
      if (listeners.size === 0) return;
      isPending = true;
      if (!timer) tell();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      if (timer) clearTimeout(timer);
      listeners.clear();
    },
  };
}
