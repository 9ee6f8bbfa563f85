import { create } from 'zustand';

type Overlay = 'palette' | 'keys' | 'about';

/** The open overlay of the window itself. */
export const useOverlay = create<{ open: Overlay | null }>()(() => ({ open: null }));

export function openOverlay(open: Overlay): void {
  useOverlay.setState({ open });
}

export function closeOverlay(): void {
  useOverlay.setState({ open: null });
}
