/** The part of a kept store that is needed here, so that stores of every content fit. */
interface KeptStore {
  persist: { getOptions: () => { name?: string }; rehydrate: () => Promise<void> | void };
}

/**
 * Takes over what another window of this browser writes to the same store. A window that kept its older state would write it back
 * with its own next change, and what was typed in the other one would be gone.
 */
export function shareBetweenWindows({ persist }: KeptStore): void {
  if (typeof window === 'undefined') return;
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === persist.getOptions().name && newValue !== null) void persist.rehydrate();
  });
}
