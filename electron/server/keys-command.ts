import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AppError } from '../../shared/app-error.ts';
import { apiKeyInput, type ApiKey, type ApiKeyInput } from '../../shared/contract/api-keys.ts';
import { scopes } from '../../shared/contract/endpoint.ts';
import { createApiKeys } from '../storage/api-keys.ts';
import { databaseFile, openDatabase } from '../storage/database.ts';
import { describeStartFailure } from '../storage/disk-failure.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import { toDataDirectory, UsageError } from './host-options.ts';

export interface KeysOutput {
  /** One line of the answer. */
  print(line: string): void;
  /** One sentence that says what is wrong. */
  complain(line: string): void;
}

/** Exit status for a command line that cannot be followed, an unknown scope or an unknown id. */
const usageStatus = 2;

const usage =
  'keys issue --name N [--credits N] [--scopes a,b] [--json] | keys list [--json] | keys revoke ID, each with [--data-dir DIR]';

const takenOptions: Record<string, readonly string[]> = {
  issue: ['name', 'credits', 'scopes', 'json', 'data-dir'],
  list: ['json', 'data-dir'],
  revoke: ['data-dir'],
};

/** Does what one command line asks for and returns the exit status. The service may run at the same time. */
export function runKeysCommand(parameters: readonly string[], output: KeysOutput): number {
  try {
    perform(readCommand(parameters), output);
    return 0;
  } catch (error) {
    if (error instanceof UsageError || error instanceof AppError) {
      output.complain(error.message);
      return error instanceof UsageError || error.code === 'not_found' ? usageStatus : 1;
    }
    const told = describeStartFailure(error);
    if (told === null) throw error;
    output.complain(told.message);
    return 1;
  }
}

interface Command {
  readonly name: string;
  readonly id: string | undefined;
  readonly options: ReturnType<typeof parseCommandLine>['values'];
}

function parseCommandLine(parameters: readonly string[]) {
  return parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      credits: { type: 'string' },
      scopes: { type: 'string' },
      json: { type: 'boolean' },
      'data-dir': { type: 'string' },
    },
  });
}

function readCommand(parameters: readonly string[]): Command {
  const { values: options, positionals } = parseOrRefuse(parameters);
  const [name = '', id, ...rest] = positionals;
  const taken = takenOptions[name];
  if (!taken) throw new UsageError(`Say what to do with the keys: ${usage}.`);
  const foreign = Object.keys(options).find((option) => !taken.includes(option));
  if (foreign) throw new UsageError(`keys ${name} does not take --${foreign}; usage: ${usage}.`);
  if (rest.length > 0 || (name === 'revoke') !== (id !== undefined)) {
    throw new UsageError(
      name === 'revoke'
        ? 'Name the one key to revoke: keys revoke ID.'
        : `keys ${name} takes options only; usage: ${usage}.`,
    );
  }
  return { name, id, options };
}

function parseOrRefuse(parameters: readonly string[]): ReturnType<typeof parseCommandLine> {
  try {
    return parseCommandLine(parameters);
  } catch (error) {
    // Only the first sentence of Node's message is about what was typed.
    const [sentence] = (error as Error).message.split(/\.\s/, 1);
    throw new UsageError(`${sentence}; usage: ${usage}.`);
  }
}

function perform({ name, id, options }: Command, output: KeysOutput): void {
  const directory = toDataDirectory(options['data-dir']);
  const input = name === 'issue' ? readInput(options) : null;
  if (input === null && !existsSync(databaseFile(directory))) {
    throw new UsageError(`There is no Touchstone data in ${directory}; name its folder with --data-dir.`);
  }
  const database = openDatabase(directory);
  try {
    const apiKeys = createApiKeys(database);
    if (input !== null) issue(apiKeys, input, options.json ?? false, output);
    else if (id !== undefined) revoke(apiKeys, id, output);
    else list(apiKeys, options.json ?? false, output);
  } finally {
    database.close();
  }
}

function readInput(options: Command['options']): ApiKeyInput {
  if (options.name === undefined) throw new UsageError('Name the key: keys issue --name N.');
  const wanted = options.scopes?.split(',').map((scope) => scope.trim());
  const unknown = wanted?.find((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is not a scope; the scopes are ${scopes.join(', ')}.`);
  if (options.credits !== undefined && !/^\d+$/.test(options.credits)) {
    throw new UsageError(`--credits takes a whole number from 0 on, not '${options.credits}'.`);
  }
  const checked = apiKeyInput.safeParse({
    name: options.name,
    creditLimit: options.credits === undefined ? null : Number(options.credits),
    scopes: wanted,
  });
  if (checked.success) return checked.data;
  const [problem] = checked.error.issues;
  throw new UsageError(
    `${problem!.path[0] === 'creditLimit' ? '--credits' : '--name'} cannot be taken: ${problem!.message}.`,
  );
}

function issue(apiKeys: ApiKeyStore, input: ApiKeyInput, isJson: boolean, { print }: KeysOutput): void {
  const { id, key, callerId } = apiKeys.issue(input);
  if (isJson) {
    print(JSON.stringify({ id, key, callerId }));
    return;
  }
  print(`Key:       ${key}`);
  print(`Id:        ${id}`);
  print(`Caller id: ${callerId}`);
  print('The key is shown this once; only its hash is kept.');
}

function revoke(apiKeys: ApiKeyStore, id: string, { print }: KeysOutput): void {
  apiKeys.revoke(id);
  print(`Revoked ${id.toLowerCase()}.`);
}

function list(apiKeys: ApiKeyStore, isJson: boolean, { print }: KeysOutput): void {
  const keys = apiKeys.list();
  if (isJson) print(JSON.stringify({ data: keys }));
  else if (keys.length === 0) print('There are no keys. Issue one: npm run keys -- issue --name my-program');
  else for (const key of keys) print(describeKey(key));
}

function describeKey(key: ApiKey): string {
  const credits = key.creditLimit === null ? `${key.creditsUsed}` : `${key.creditsUsed} of ${key.creditLimit}`;
  const state = key.revokedAt === null ? `last used ${key.lastUsedAt ?? 'never'}` : `revoked ${key.revokedAt}`;
  return `${key.id}  ${key.name}  ${key.scopes.join(',')}  credits ${credits}  ${state}`;
}
