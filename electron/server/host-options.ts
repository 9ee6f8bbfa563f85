import { parseArgs } from 'node:util';
import { keyedProviders } from '../../shared/contract/common.ts';
import { baseAddress, endpointInput } from '../../shared/contract/providers.ts';
import { parseTeamAddress } from '../../shared/team-address.ts';
import { defaultTeamOfflineMinutes } from '../team/key-sharing.ts';
import { type HostOptions, hostOptionTypes, toDataDirectory, UsageError } from './command-line.ts';

/** `--help` overrides everything else, as in most programs, except after `--`. */
export function wantsHelp(parameters: readonly string[]): boolean {
  const end = parameters.indexOf('--');
  const options = end < 0 ? parameters : parameters.slice(0, end);
  return options.includes('--help') || options.includes('-h');
}

/** The message for an error of Node's `parseArgs`, with the command that shows help. */
export function parseFailure(error: unknown, helpCommand: string): UsageError {
  // Only the first sentence of Node's message is about the input.
  const [sentence] = (error as Error).message.split(/\.\s/, 1);
  return new UsageError(`${sentence}. Run "${helpCommand}" to see all options.`);
}

/** Splits `NAME=URL` at the first equals sign. Addresses can contain more of them. */
function toNamedAddress(
  option: string,
  text: string,
  isName: (name: string) => boolean,
  names: string,
): [string, string] {
  const [name, address] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
  if (!text.includes('=') || !isName(name) || !baseAddress.safeParse(address).success) {
    // The message doesn't repeat the address, which may contain a password.
    throw new UsageError(
      `${option} must be NAME=URL, where NAME is ${names} and URL is an http or https address without query, user name and password.`,
    );
  }
  return [name, address];
}

function isKeyedProvider(name: string): boolean {
  return keyedProviders.some((provider) => provider === name);
}

function isEndpointName(name: string): boolean {
  return endpointInput.shape.name.safeParse(name).success;
}

/** Validates the options. Throws `UsageError`. */
export function toHostOptions(typed: {
  readonly 'data-dir'?: string | undefined;
  readonly 'provider-base': readonly string[];
  readonly endpoint: readonly string[];
}): HostOptions {
  const bases = typed['provider-base'].map((text) =>
    toNamedAddress('--provider-base', text, isKeyedProvider, `one of ${keyedProviders.join(', ')}`),
  );
  const endpoints = typed.endpoint.map((text) =>
    toNamedAddress('--endpoint', text, isEndpointName, 'made of letters, digits, dots, dashes and underscores'),
  );
  return {
    dataDirectory: toDataDirectory(typed['data-dir']),
    providerBases: Object.fromEntries(bases),
    endpoints: endpoints.map(([name, address]) => ({ name, baseAddress: address })),
  };
}

export const defaultPort = 4117;

export interface ServeOptions extends HostOptions {
  /** Null without `--port`, for the default port, or a free one if that is in use. */
  readonly port: number | null;
  readonly isJson: boolean;
  readonly isTls: boolean;
  readonly fetchesModel: boolean;
  /** The address of the team database; null without one. */
  readonly team: string | null;
  readonly teamOfflineMinutes: number;
}

export const serveHelp = `Starts Touchstone without a desktop window: the API, and the window for a browser.

Usage: npm run serve -- [options]

Options:
  --port N                  Port to listen on; 0 chooses a free port (default ${defaultPort})
  --data-dir DIR            Folder for all data
  --tls                     Serve https with a certificate made on this machine
  --json                    Print the addresses as one line of JSON
  --fetch-model             Download the on-device model if none is installed
  --team URL                Copy runs to this PostgreSQL and serve the records of all hosts, as in
                            postgres://user@host:5432/database; set PGPASSWORD for its password
  --team-offline-minutes N  How long to accept API keys while the team database can't be reached
                            (default ${defaultTeamOfflineMinutes})
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
        team: { type: 'string' },
        'team-offline-minutes': { type: 'string' },
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

function toTeam(text: string | undefined): string | null {
  if (text === undefined) return null;
  try {
    parseTeamAddress(text);
    return text;
  } catch (error) {
    throw new UsageError(`--team: ${(error as Error).message}`);
  }
}

/** At most a week. */
const maxOfflineMinutes = 10_080;

function toOfflineMinutes(text: string | undefined, team: string | undefined): number {
  if (text === undefined) return defaultTeamOfflineMinutes;
  if (team === undefined) throw new UsageError('--team-offline-minutes needs --team.');
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (minutes <= maxOfflineMinutes) return minutes;
  throw new UsageError(`--team-offline-minutes must be a whole number from 0 to ${maxOfflineMinutes}, not '${text}'.`);
}

/** Reads the command line of the headless host; null for `--help`. Throws `UsageError`. */
export function readServeOptions(parameters: readonly string[]): ServeOptions | null {
  if (wantsHelp(parameters)) return null;
  const values = parse(parameters);
  return {
    ...toHostOptions(values),
    port: toPort(values.port),
    isJson: values.json,
    isTls: values.tls,
    fetchesModel: values['fetch-model'],
    team: toTeam(values.team),
    teamOfflineMinutes: toOfflineMinutes(values['team-offline-minutes'], values.team),
  };
}
