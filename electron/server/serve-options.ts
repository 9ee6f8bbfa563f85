import { parseArgs } from 'node:util';
import { hostOptionTypes, toHostOptions, UsageError, type HostOptions } from './host-options.ts';

export const defaultPort = 4117;

export interface ServeOptions extends HostOptions {
  /** Null when nobody named one: the default port, or a free one if that is taken. */
  readonly port: number | null;
  readonly isJson: boolean;
  readonly isTls: boolean;
  readonly fetchesModel: boolean;
}

const usage =
  'npm run serve -- [--port N] [--data-dir DIR] [--json] [--tls] [--provider-base NAME=URL]... [--endpoint NAME=URL]... [--fetch-model]';

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
    // Only the first sentence of Node's message is about what was typed.
    const [sentence] = (error as Error).message.split(/\.\s/, 1);
    throw new UsageError(`${sentence}; usage: ${usage}`);
  }
}

function toPort(text: string | undefined): number | null {
  if (text === undefined) return null;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (port > 65_535) throw new UsageError(`--port takes a number from 0 (any free port) to 65535, not '${text}'.`);
  return port;
}

/** Reads the command line of the headless host. Throws `UsageError`. */
export function readServeOptions(parameters: readonly string[]): ServeOptions {
  const values = parse(parameters);
  return {
    ...toHostOptions(values),
    port: toPort(values.port),
    isJson: values.json,
    isTls: values.tls,
    fetchesModel: values['fetch-model'],
  };
}
