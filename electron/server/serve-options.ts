import { parseArgs } from 'node:util';
import { keyedProviders } from '../../shared/contract/common.ts';
import {
  hostOptionTypes,
  parseFailure,
  toHostOptions,
  wantsHelp,
  type HostOptions,
  UsageError,
} from './host-options.ts';

export const defaultPort = 4117;

export interface ServeOptions extends HostOptions {
  /** Null without `--port`: the default port, or a free one if that is in use. */
  readonly port: number | null;
  readonly isJson: boolean;
  readonly isTls: boolean;
  readonly fetchesModel: boolean;
}

export const serveHelp = `Starts Touchstone without a desktop window: the API, and the window for a browser.

Usage: npm run serve -- [options]

Options:
  --port N                  Port to listen on; 0 chooses a free port (default ${defaultPort})
  --data-dir DIR            Folder for all data
  --tls                     Serve https with a certificate made on this machine
  --json                    Print the addresses as one line of JSON
  --fetch-model             Download the on-device model if none is installed
  --provider-base NAME=URL  Base URL of a provider, including the version; repeatable
                            NAME: ${keyedProviders.join(', ')}
  --endpoint NAME=URL       Add an OpenAI-compatible endpoint; repeatable
  -h, --help                Show this help

Example:
  npm run serve -- --port 8080 --endpoint ollama=http://127.0.0.1:11434/v1`;

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        ...hostOptionTypes,
        port: { type: 'string' },
        json: { type: 'boolean', default: false },
        tls: { type: 'boolean', default: false },
        'fetch-model': { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw parseFailure(error, 'npm run serve -- --help');
  }
}

function toPort(text: string | undefined): number | null {
  if (text === undefined) return null;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port > 65_535) throw new UsageError(`--port must be a number from 0 (any free port) to 65535, not '${text}'.`);
  return port;
}

/** Reads the command line of the headless host; null when it asks for help. Throws `UsageError`. */
export function readServeOptions(parameters: readonly string[]): ServeOptions | null {
  if (wantsHelp(parameters)) return null;
  const values = parse(parameters);
  return {
    ...toHostOptions(values),
    port: toPort(values.port),
    isJson: values.json,
    isTls: values.tls,
    fetchesModel: values['fetch-model'],
  };
}
