import { resolve } from 'node:path';
import { keyedProviders } from '../../shared/contract/common.ts';
import { addEndpoint, baseAddress } from '../../shared/contract/providers.ts';
import { defaultDataDirectory } from '../storage/data-directory.ts';

/** What both hosts take from their command line. */
export interface HostOptions {
  readonly dataDirectory: string;
  readonly providerBases: Readonly<Record<string, string>>;
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
}

/** An invalid command line; the message is one line for the person who typed it. */
export class UsageError extends Error {}

/** Help wins over everything else on the line, as in most programs, except after `--`. */
export function wantsHelp(parameters: readonly string[]): boolean {
  const end = parameters.indexOf('--');
  const options = end < 0 ? parameters : parameters.slice(0, end);
  return options.includes('--help') || options.includes('-h');
}

/** What Node's `parseArgs` rejected, with the command that shows help. */
export function parseFailure(error: unknown, helpCommand: string): UsageError {
  // Only the first sentence of Node's message is about what was typed.
  const [sentence] = (error as Error).message.split(/\.\s/, 1);
  return new UsageError(`${sentence}. Run "${helpCommand}" to see all options.`);
}

/** How `parseArgs` is to read the options below. */
export const hostOptionTypes = {
  'data-dir': { type: 'string' },
  'provider-base': { type: 'string', multiple: true, default: [] as string[] },
  endpoint: { type: 'string', multiple: true, default: [] as string[] },
} as const;

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
    throw new UsageError(`${option} must be NAME=URL, where NAME is ${names} and URL is an http or https address.`);
  }
  return [name, address];
}

function isKeyedProvider(name: string): boolean {
  return keyedProviders.some((provider) => provider === name);
}

function isEndpointName(name: string): boolean {
  return addEndpoint.body?.shape.name.safeParse(name).success ?? false;
}

/** Throws `UsageError` for an empty path: a script with an unset variable passes one, and it would mean the current folder. */
export function toDataDirectory(typed: string | undefined): string {
  if (typed === '') throw new UsageError('--data-dir must be the path of a folder.');
  return typed === undefined ? defaultDataDirectory() : resolve(typed);
}

/** The options as they were typed, checked. Throws `UsageError`. */
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
