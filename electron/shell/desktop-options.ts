import { parseArgs } from 'node:util';
import { hostOptionTypes, toHostOptions, UsageError, type HostOptions } from '../server/host-options.ts';

/** The value of an option. Chromium's next switch isn't a value. */
function valueOf(option: string, value: string | boolean): string {
  if (typeof value === 'string' && value !== '' && !value.startsWith('-')) return value;
  throw new UsageError(`--${option} must be ${option === 'data-dir' ? 'the path of a folder' : 'NAME=URL'}.`);
}

/**
 * Reads `--data-dir DIR`, `--provider-base NAME=URL` and `--endpoint NAME=URL`. Other arguments are for Chromium and ignored.
 * Throws `UsageError`.
 */
export function readDesktopOptions(parameters: readonly string[]): HostOptions {
  const { values } = parseArgs({ args: [...parameters], strict: false, options: hostOptionTypes });
  const directory = values['data-dir'];
  return toHostOptions({
    'data-dir': directory === undefined ? undefined : valueOf('data-dir', directory),
    'provider-base': values['provider-base'].map((value) => valueOf('provider-base', value)),
    endpoint: values.endpoint.map((value) => valueOf('endpoint', value)),
  });
}
