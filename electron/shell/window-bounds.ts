/** Where the window stands, in the screen's own units. */
export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface WindowState {
  readonly bounds: Bounds | null;
  readonly isMaximized: boolean;
}

export const smallestSize = { width: 980, height: 700 };
export const firstSize = { width: 1280, height: 800 };
export const firstState: WindowState = { bounds: null, isMaximized: false };

function isBounds(value: unknown): value is Bounds {
  if (typeof value !== 'object' || value === null) return false;
  const { x, y, width, height } = value as Partial<Bounds>;
  return [x, y, width, height].every((number) => Number.isInteger(number)) && width! > 0 && height! > 0;
}

/** What a file of an earlier start says; the first state for anything that is not one. */
export function parseWindowState(text: string): WindowState {
  try {
    const { bounds, isMaximized } = JSON.parse(text) as Partial<WindowState>;
    return { bounds: isBounds(bounds) ? bounds : null, isMaximized: isMaximized === true };
  } catch {
    return firstState;
  }
}

function sharedArea(a: Bounds, b: Bounds): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, width) * Math.max(0, height);
}

/**
 * The bounds moved and cut so that the whole window is on one of the work areas: a display may be gone since the last start.
 * Null, for the middle of the main display, where nothing of the window would be seen.
 */
export function clampBounds(bounds: Bounds, workAreas: readonly Bounds[]): Bounds | null {
  const [area] = workAreas
    .filter((candidate) => sharedArea(bounds, candidate) > 0)
    .toSorted((a, b) => sharedArea(bounds, b) - sharedArea(bounds, a));
  if (!area) return null;
  const width = Math.min(Math.max(bounds.width, smallestSize.width), area.width);
  const height = Math.min(Math.max(bounds.height, smallestSize.height), area.height);
  return {
    width,
    height,
    x: Math.min(Math.max(bounds.x, area.x), area.x + area.width - width),
    y: Math.min(Math.max(bounds.y, area.y), area.y + area.height - height),
  };
}
