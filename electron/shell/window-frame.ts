/** Position and size of the window, in the screen's units. */
export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface WindowState {
  readonly bounds: Bounds | null;
  readonly isMaximized: boolean;
  /** That of the settings, which are read after the window is open. */
  readonly theme: 'system' | 'light' | 'dark';
}

export const smallestSize = { width: 980, height: 700 };
const firstSize = { width: 1280, height: 800 };
export const firstState: WindowState = { bounds: null, isMaximized: false, theme: 'system' };

function isBounds(value: unknown): value is Bounds {
  if (typeof value !== 'object' || value === null) return false;
  const { x, y, width, height } = value as Partial<Bounds>;
  return [x, y, width, height].every((number) => Number.isInteger(number)) && width! > 0 && height! > 0;
}

/** The state from an earlier start's file; the initial state for an invalid file. */
export function parseWindowState(text: string): WindowState {
  try {
    const { bounds, isMaximized, theme } = JSON.parse(text) as Partial<WindowState>;
    return {
      bounds: isBounds(bounds) ? bounds : null,
      isMaximized: isMaximized === true,
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    };
  } catch {
    return firstState;
  }
}

function sharedArea(a: Bounds, b: Bounds): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, width) * Math.max(0, height);
}

/** The bounds, moved and shrunk so that the whole window is on the work area. */
function fitInto(bounds: Bounds, area: Bounds): Bounds {
  const width = Math.min(Math.max(bounds.width, smallestSize.width), area.width);
  const height = Math.min(Math.max(bounds.height, smallestSize.height), area.height);
  return {
    width,
    height,
    x: Math.min(Math.max(bounds.x, area.x), area.x + area.width - width),
    y: Math.min(Math.max(bounds.y, area.y), area.y + area.height - height),
  };
}

function middleOf(area: Bounds): Bounds {
  const x = area.x + Math.round((area.width - firstSize.width) / 2);
  const y = area.y + Math.round((area.height - firstSize.height) / 2);
  return fitInto({ x, y, ...firstSize }, area);
}

/**
 * The bounds of a window that was last at `bounds`, fully on one of the work areas: a display may have been removed since the last
 * start, and one may be smaller than an initial window. In the middle of `main` if it would be invisible, and for null.
 */
export function fitWindow(bounds: Bounds | null, main: Bounds, others: readonly Bounds[]): Bounds {
  if (!bounds) return middleOf(main);
  const [area] = [main, ...others]
    .filter((candidate) => sharedArea(bounds, candidate) > 0)
    .toSorted((a, b) => sharedArea(bounds, b) - sharedArea(bounds, a));
  return area ? fitInto(bounds, area) : middleOf(main);
}

/**
 * The window's `--surface-chrome` and `--text-secondary`: the system's buttons are on its title bar, and the system draws the
 * window's background until the page has loaded.
 */
export const titleBarColours = {
  light: { color: '#eff1f3', symbolColor: '#464f59' },
  dark: { color: '#101214', symbolColor: '#adb5be' },
};

/** The window's `--size-titlebar` without the line below it. */
export const titleBarHeight = 39;
