import { create } from 'zustand';

/** Which of the window's own overlays is open. */
export const useOverlay = create<{ open: 'palette' | 'keys' | null }>()(() => ({ open: null }));

export function openOverlay(open: 'palette' | 'keys'): void {
  useOverlay.setState({ open });
}

export function closeOverlay(): void {
  useOverlay.setState({ open: null });
}
