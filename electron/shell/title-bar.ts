import { nativeTheme, type BrowserWindow, type BrowserWindowConstructorOptions } from 'electron';

/** The window's `--surface-chrome` and `--text-secondary`, and the height of its title bar: the system's buttons lie on it. */
const height = 39;
const colours = {
  light: { color: '#eff1f3', symbolColor: '#4a5157' },
  dark: { color: '#101214', symbolColor: '#a9b1b8' },
};

function buttonsOverlay() {
  return { ...(nativeTheme.shouldUseDarkColors ? colours.dark : colours.light), height };
}

/** The window draws its own title bar; the system draws only its buttons into it. */
export function titleBarOptions(): BrowserWindowConstructorOptions {
  const background = nativeTheme.shouldUseDarkColors ? colours.dark.color : colours.light.color;
  const common = { titleBarStyle: 'hidden', backgroundColor: background } as const;
  if (process.platform === 'darwin') return { ...common, trafficLightPosition: { x: 14, y: 12 } };
  return { ...common, titleBarOverlay: buttonsOverlay() };
}

/** Repaints the system's buttons when the theme changes. */
export function followTheme(window: BrowserWindow): void {
  if (process.platform === 'darwin') return;
  const repaint = (): void => window.setTitleBarOverlay(buttonsOverlay());
  nativeTheme.on('updated', repaint);
  window.on('closed', () => nativeTheme.off('updated', repaint));
}
