/**
 * The window's `--surface-chrome` and `--text-secondary`: the system's buttons lie on its title bar, and the system draws the
 * window's ground until the page is there.
 */
export const titleBarColours = {
  light: { color: '#eff1f3', symbolColor: '#464f59' },
  dark: { color: '#101214', symbolColor: '#adb5be' },
};

/** The window's `--size-titlebar` without the line below it. */
export const titleBarHeight = 39;
