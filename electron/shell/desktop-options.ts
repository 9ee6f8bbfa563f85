import { parseArgs } from 'node:util';
import { type HostOptions, hostOptionTypes, toDataDirectory, UsageError } from '../server/command-line.ts';

/** The value of an option. Chromium's next switch isn't a value. */
function valueOf(option: string, value: string | boolean): string {
  if (typeof value === 'string' && value !== '' && !value.startsWith('-')) return value;
  throw new UsageError(`--${option} must be ${option === 'data-dir' ? 'the path of a folder' : 'NAME=URL'}.`);
}

/**
 * Reads `--data-dir DIR`, `--provider-base NAME=URL` and `--endpoint NAME=URL`. Other arguments are for Chromium and ignored.
 * Throws `UsageError`.
 */
export async function readDesktopOptions(parameters: readonly string[]): Promise<HostOptions> {
  const { values } = parseArgs({ args: [...parameters], strict: false, options: hostOptionTypes });
  const typedDirectory = values['data-dir'];
  const directory = typedDirectory === undefined ? undefined : valueOf('data-dir', typedDirectory);
  const bases = values['provider-base'].map((value) => valueOf('provider-base', value));
  const endpoints = values.endpoint.map((value) => valueOf('endpoint', value));
  if (bases.length + endpoints.length === 0) {
    return { dataDirectory: toDataDirectory(directory), providerBases: {}, endpoints: [] };
  }
  // Its schemas would delay the window of every start, and few starts have such options.
  const { toHostOptions } = await import('../server/host-options.ts');
  return toHostOptions({ 'data-dir': directory, 'provider-base': bases, endpoint: endpoints });
}
