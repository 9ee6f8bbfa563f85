import { resolve } from 'node:path';
import { defaultDataDirectory } from '../storage/data-directory.ts';

// Without schemas: the desktop's window opens before they load.

/** The command-line options of both hosts. */
export interface HostOptions {
  readonly dataDirectory: string;
  readonly providerBases: Readonly<Record<string, string>>;
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
}

/** An invalid command line. The message is one line for the user. */
export class UsageError extends Error {}

/** The options for `parseArgs`. */
export const hostOptionTypes = {
  'data-dir': { type: 'string' },
  'provider-base': { type: 'string', multiple: true, default: [] as string[] },
  endpoint: { type: 'string', multiple: true, default: [] as string[] },
} as const;

/** Throws `UsageError` for an empty path. A script with an unset variable passes one, and it would mean the current folder. */
export function toDataDirectory(typed: string | undefined): string {
  if (typed === '') throw new UsageError('--data-dir must be the path of a folder.');
  return typed === undefined ? defaultDataDirectory() : resolve(typed);
}
