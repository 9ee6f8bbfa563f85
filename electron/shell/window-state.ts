import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { screen, type BrowserWindow } from 'electron';
import { firstState, parseWindowState, placeWindow } from './window-bounds.ts';
import type { Bounds, WindowState } from './window-bounds.ts';

function stateFile(directory: string): string {
  return join(directory, 'window-state.json');
}

function readKeptState(directory: string): WindowState {
  try {
    return parseWindowState(readFileSync(stateFile(directory), 'utf8'));
  } catch {
    return firstState;
  }
}

/** How the window stood when it was last seen, moved to where the displays are now. */
export function readWindowState(directory: string): { readonly bounds: Bounds; readonly isMaximized: boolean } {
  const { bounds, isMaximized } = readKeptState(directory);
  const workAreas = screen.getAllDisplays().map((display) => display.workArea);
  return { bounds: placeWindow(bounds, screen.getPrimaryDisplay().workArea, workAreas), isMaximized };
}

function writeWindowState(directory: string, state: WindowState): void {
  const file = stateFile(directory);
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
}

/** Milliseconds without a change after which the state is written: a crash must not lose where the window was. */
const quietTime = 500;

/** Keeps the window's place and size in `directory` from now on. */
export function keepWindowState(window: BrowserWindow, directory: string): void {
  let timer: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(timer);
    if (window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return;
    writeWindowState(directory, { bounds: window.getNormalBounds(), isMaximized: window.isMaximized() });
  }

  function schedule(): void {
    clearTimeout(timer);
    timer = setTimeout(write, quietTime);
  }

  window.on('resize', schedule);
  window.on('move', schedule);
  window.on('close', write);
  window.on('closed', () => clearTimeout(timer));
}
