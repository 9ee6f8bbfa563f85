import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The data folder when nobody names one: `TOUCHSTONE_DATA_DIR`, otherwise where the platform keeps an application's data. */
export function defaultDataDirectory(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const chosen = environment['TOUCHSTONE_DATA_DIR'];
  if (chosen) return resolve(chosen);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Touchstone');
  if (platform === 'win32') return join(environment['APPDATA'] ?? join(homedir(), 'AppData', 'Roaming'), 'Touchstone');
  return join(environment['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'touchstone');
}
