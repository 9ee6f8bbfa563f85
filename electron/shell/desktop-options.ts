import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultDataDirectory } from '../storage/data-directory.ts';

export interface DesktopOptions {
  readonly dataDirectory: string;
  readonly providerBases: Readonly<Record<string, string>>;
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
}

/** Splits `NAME=ADDRESS` at its first equals sign; addresses may hold more of them. */
function named(values: readonly (string | boolean)[] | undefined): [string, string][] {
  return (values ?? [])
    .filter((value) => typeof value === 'string' && value.includes('='))
    .map((value) => {
      const text = String(value);
      const split = text.indexOf('=');
      return [text.slice(0, split), text.slice(split + 1)];
    });
}

/**
 * Reads `--data-dir DIR`, `--provider-base NAME=URL` and `--endpoint NAME=URL`. Everything else on the command line is for
 * Chromium and is passed over.
 */
export function readDesktopOptions(parameters: readonly string[]): DesktopOptions {
  const { values } = parseArgs({
    args: [...parameters],
    strict: false,
    options: {
      'data-dir': { type: 'string' },
      'provider-base': { type: 'string', multiple: true },
      endpoint: { type: 'string', multiple: true },
    },
  });
  const directory = values['data-dir'];
  return {
    dataDirectory: typeof directory === 'string' ? resolve(directory) : defaultDataDirectory(),
    providerBases: Object.fromEntries(named(values['provider-base'])),
    endpoints: named(values.endpoint).map(([name, baseAddress]) => ({ name, baseAddress })),
  };
}
