import { create } from 'zustand';

export interface Toast {
  id: number;
  tone: 'neutral' | 'negative';
  text: string;
  requestId?: string | undefined;
  /** A remedy that takes one press. */
  action?: { label: string; run: () => void } | undefined;
}

interface ToastState {
  toasts: readonly Toast[];
}

const maxShown = 3;
let lastId = 0;

export const useToasts = create<ToastState>()(() => ({ toasts: [] }));

/**
 * Shows a message about something outside the view, and returns its id. Show failures of something in view beside it.
 */
export function showToast(toast: Omit<Toast, 'id'>): number {
  lastId += 1;
  const added = { ...toast, id: lastId };
  useToasts.setState(({ toasts }) => ({
    toasts: [...toasts.filter((other) => other.text !== toast.text), added].slice(-maxShown),
  }));
  return added.id;
}

export function dismissToast(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}
