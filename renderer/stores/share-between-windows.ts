/** The part of a persisted store that this module needs, so that every store fits. */
interface PersistedStore {
  persist: { getOptions: () => { name?: string }; rehydrate: () => Promise<void> | void };
}

/**
 * Loads what another window of this browser writes to the same store. A window with an older state would overwrite it with its
 * next change, and the text typed in the other window would be lost.
 */
export function shareBetweenWindows({ persist }: PersistedStore): void {
  if (typeof window === 'undefined') return;
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === persist.getOptions().name && newValue !== null) void persist.rehydrate();
  });
}
