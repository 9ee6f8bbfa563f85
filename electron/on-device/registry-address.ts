import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { AppError } from '../../shared/app-error.ts';

/** The registry of the machine that built the package, inserted at build time; absent in the source tree. */
declare const TOUCHSTONE_REGISTRY: string | undefined;

function toAddress(text: string | undefined): string | null {
  const address = URL.parse(text?.trim() ?? '');
  if (!address || !/^https?:$/.test(address.protocol)) return null;
  // A name and password would end up in logs and errors, and `fetch` rejects them.
  address.username = '';
  address.password = '';
  return address.href;
}

/** npm's registry from its configuration files; null without npm. */
async function askNpm(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], {
      timeout: 20_000,
      // On Windows npm is a command file, which only a shell can start.
      shell: process.platform === 'win32',
      windowsHide: true,
    });
    return toAddress(stdout);
  } catch {
    return null;
  }
}

/**
 * Address of the user's npm registry: from the environment, else from npm's configuration, else the one of the build. Throws
 * `provider_not_configured` if there is none.
 */
export async function registryAddress(): Promise<string> {
  const address =
    toAddress(process.env['npm_config_registry']) ??
    (await askNpm()) ??
    toAddress(typeof TOUCHSTONE_REGISTRY === 'undefined' ? undefined : TOUCHSTONE_REGISTRY);
  if (address) return address;
  throw new AppError(
    'provider_not_configured',
    'No npm registry is known on this machine. Set the environment variable npm_config_registry and start again, or add a model by file.',
  );
}
