import { nativeTheme, type BrowserWindow, type BrowserWindowConstructorOptions } from 'electron';
import { titleBarColours, titleBarHeight } from './title-bar-colours.ts';

function buttonsOverlay() {
  return {
    ...(nativeTheme.shouldUseDarkColors ? titleBarColours.dark : titleBarColours.light),
    height: titleBarHeight,
  };
}

/** The window draws its own title bar; the system draws only its buttons into it. */
export function titleBarOptions(): BrowserWindowConstructorOptions {
  const background = nativeTheme.shouldUseDarkColors ? titleBarColours.dark.color : titleBarColours.light.color;
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
