import { sessionStorageKey } from '../../shared/window-session.ts';

/**
 * The session secret of this browser; null when it is not signed in. Read for every request: after a restart of the host, the
 * secret comes with an address that another tab opened.
 */
export function readSession(): string | null {
  try {
    return localStorage.getItem(sessionStorageKey);
  } catch {
    // The browser blocks site data.
    return null;
  }
}
