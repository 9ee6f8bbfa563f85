import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { electronForTests } from './electron-runtime.mjs';

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function missingPrograms(): string[] {
  if (process.platform !== 'linux') return [];
  return ['Xvfb', 'dbus-daemon', 'gnome-keyring-daemon'].filter((program) => !isOnPath(program));
}

async function obstacleToElectron(): Promise<string | null> {
  const missing = missingPrograms();
  if (missing.length > 0) return `Install ${missing.join(', ')}.`;
  try {
    await electronForTests();
    return null;
  } catch (error) {
    return `No Electron could be fetched: ${String(error)}`;
  }
}

/** The headless shell has the engine without the window of a browser: the tests take a quarter less time than with all of Chromium. */
export function chromiumForTests(): string {
  const shell = '/usr/bin/chromium-headless-shell';
  return process.env['CHROMIUM_PATH'] ?? (existsSync(shell) ? shell : '/usr/bin/chromium');
}

/** What an end-to-end suite needs and this machine lacks, as a sentence; null if it can run. */
export async function obstacleTo(suite: 'browser' | 'electron' | 'package'): Promise<string | null> {
  if (suite === 'package' && process.platform !== 'linux') return 'The tests of the package run on Linux.';
  if (suite !== 'browser') return obstacleToElectron();
  const chromium = chromiumForTests();
  return existsSync(chromium) ? null : `There is no Chromium at ${chromium}; name one in CHROMIUM_PATH.`;
}
