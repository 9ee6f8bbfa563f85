import type { Settings } from '../../shared/contract/settings.ts';

export type Theme = Settings['appearance']['theme'];

/** Read by `public/assets/apply-theme.v1.js` before the first paint. */
const storageKey = 'touchstone.theme';

/** Shows a theme at once and keeps it for the next start; `system` follows the machine. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(storageKey);
  } else {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(storageKey, theme);
  }
}
