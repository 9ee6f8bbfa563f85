import { create } from 'zustand';

type Overlay = 'palette' | 'keys' | 'about';

/** Which of the window's own overlays is open. */
export const useOverlay = create<{ open: Overlay | null }>()(() => ({ open: null }));

export function openOverlay(open: Overlay): void {
  useOverlay.setState({ open });
}

export function closeOverlay(): void {
  useOverlay.setState({ open: null });
}
