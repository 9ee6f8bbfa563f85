import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { keyedProviders } from '../../shared/contract/common.ts';
import { addEndpoint, baseAddress } from '../../shared/contract/providers.ts';
import { defaultDataDirectory } from '../storage/data-directory.ts';

export const defaultPort = 4117;

export interface ServeOptions {
  /** Null when nobody named one: the default port, or a free one if that is taken. */
  readonly port: number | null;
  readonly dataDirectory: string;
  readonly isJson: boolean;
  readonly isTls: boolean;
  readonly fetchesModel: boolean;
  readonly providerBases: Readonly<Record<string, string>>;
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
}

/** A command line that cannot be followed; the message is one sentence that says what is taken. */
export class UsageError extends Error {}

const usage =
  'npm run serve -- [--port N] [--data-dir DIR] [--json] [--tls] [--provider-base NAME=URL]... [--endpoint NAME=URL]... [--fetch-model]';

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        json: { type: 'boolean', default: false },
        tls: { type: 'boolean', default: false },
        'provider-base': { type: 'string', multiple: true, default: [] },
        endpoint: { type: 'string', multiple: true, default: [] },
        'fetch-model': { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    // Only the first sentence of Node's message is about what was typed.
    const [sentence] = (error as Error).message.split('. ', 1);
    throw new UsageError(`${sentence}; usage: ${usage}`);
  }
}

function toPort(text: string | undefined): number | null {
  if (text === undefined) return null;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port > 65_535) throw new UsageError(`--port takes a number from 0 (any free port) to 65535, not '${text}'.`);
  return port;
}

/** Splits `NAME=URL` at its first equals sign: addresses may hold more of them. */
function toNamedAddress(
  option: string,
  text: string,
  isName: (name: string) => boolean,
  names: string,
): [string, string] {
  const [name, address] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
  if (!text.includes('=') || !isName(name) || !baseAddress.safeParse(address).success) {
    // What was typed is not repeated: an address may hold a password.
    throw new UsageError(`${option} takes NAME=URL, where NAME is ${names} and URL an http or https address.`);
  }
  return [name, address];
}

function isKeyedProvider(name: string): boolean {
  return keyedProviders.some((provider) => provider === name);
}

function isEndpointName(name: string): boolean {
  return addEndpoint.body?.shape.name.safeParse(name).success ?? false;
}

/** Reads the command line of the headless host. Throws `UsageError`. */
export function readServeOptions(parameters: readonly string[]): ServeOptions {
  const values = parse(parameters);
  const bases = values['provider-base'].map((text) =>
    toNamedAddress('--provider-base', text, isKeyedProvider, `one of ${keyedProviders.join(', ')}`),
  );
  const endpoints = values.endpoint.map((text) =>
    toNamedAddress('--endpoint', text, isEndpointName, 'made of letters, digits, dots, dashes and underscores'),
  );
  return {
    port: toPort(values.port),
    dataDirectory: values['data-dir'] === undefined ? defaultDataDirectory() : resolve(values['data-dir']),
    isJson: values.json,
    isTls: values.tls,
    fetchesModel: values['fetch-model'],
    providerBases: Object.fromEntries(bases),
    endpoints: endpoints.map(([name, address]) => ({ name, baseAddress: address })),
  };
}
