import type { HostState } from '../../shared/contract/settings.ts';

/** The platform as the window distinguishes it. */
export const hostPlatform: HostState['platform'] =
  process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux';
