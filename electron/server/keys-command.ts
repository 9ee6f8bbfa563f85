import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AppError } from '../../shared/app-error.ts';
import { apiKeyInput, type ApiKey, type ApiKeyInput } from '../../shared/contract/api-keys.ts';
import { scopes } from '../../shared/contract/endpoint.ts';
import { createApiKeys } from '../storage/api-keys.ts';
import { databaseFile, openDatabase } from '../storage/database.ts';
import { describeStartFailure } from '../storage/disk-failure.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import { toDataDirectory, UsageError } from './command-line.ts';
import { parseFailure, wantsHelp } from './host-options.ts';

export interface KeysOutput {
  /** One line of the result. */
  print(line: string): void;
  /** One sentence about the error. */
  complain(line: string): void;
}

/** Exit status for an invalid command line, an unknown scope or an unknown id. */
const usageStatus = 2;

export const keysHelp = `Creates, lists and revokes API keys. Works while Touchstone runs.

Usage:
  npm run keys -- issue --name NAME [--credits N] [--requests-per-minute N] [--tokens-per-minute N]
                        [--scopes LIST] [--json]
  npm run keys -- list [--json]
  npm run keys -- revoke ID

Options:
  --name NAME      Name of the program that will use the key
  --credits N      Credit limit; each completion call costs 1 credit (default: no limit)
  --requests-per-minute N
  --tokens-per-minute N
                   Limits of the key; above them requests get 429 (default: no limit)
  --scopes LIST    Comma-separated scopes: ${scopes.join(', ')} (default: all)
                   run: completions, moderation, stored prompts and agents
                   audit: all callers' runs, and feedback
                   manage: prompts, agents, sources and dataspaces
  --data-dir DIR   Folder with the data
  --json           Print JSON
  -h, --help       Show this help

Example:
  npm run keys -- issue --name nightly-report --scopes run --credits 1000`;

const helpCommand = 'npm run keys -- --help';
const seeHelp = `Run "${helpCommand}" to see all commands.`;

const takenOptions: Record<string, readonly string[]> = {
  issue: ['name', 'credits', 'requests-per-minute', 'tokens-per-minute', 'scopes', 'json', 'data-dir'],
  list: ['json', 'data-dir'],
  revoke: ['data-dir'],
};

/** Runs one command line and returns the exit status. The service may run at the same time. */
export function runKeysCommand(parameters: readonly string[], output: KeysOutput): number {
  try {
    if (wantsHelp(parameters)) output.print(keysHelp);
    else perform(readCommand(parameters), output);
    return 0;
  } catch (error) {
    if (error instanceof UsageError || error instanceof AppError) {
      output.complain(error.message);
      return error instanceof UsageError || error.code === 'not_found' ? usageStatus : 1;
    }
    const startError = describeStartFailure(error);
    if (startError === null) throw error;
    output.complain(startError.message);
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
      'requests-per-minute': { type: 'string' },
      'tokens-per-minute': { type: 'string' },
      scopes: { type: 'string' },
      json: { type: 'boolean' },
      'data-dir': { type: 'string' },
    },
  });
}

function readCommand(parameters: readonly string[]): Command {
  const { values: options, positionals } = parseOrReject(parameters);
  const [name = '', id, ...rest] = positionals;
  const taken = takenOptions[name];
  if (!taken)
    throw new UsageError(
      name === '' ? `Missing command: issue, list or revoke. ${seeHelp}` : `Unknown command '${name}'. ${seeHelp}`,
    );
  const foreign = Object.keys(options).find((option) => !taken.includes(option));
  if (foreign) throw new UsageError(`keys ${name} doesn't support --${foreign}. ${seeHelp}`);
  if (rest.length > 0 || (name === 'revoke') !== (id !== undefined)) {
    throw new UsageError(
      name === 'revoke'
        ? `keys revoke needs exactly one ID. ${seeHelp}`
        : `keys ${name} supports only options. ${seeHelp}`,
    );
  }
  return { name, id, options };
}

function parseOrReject(parameters: readonly string[]): ReturnType<typeof parseCommandLine> {
  try {
    return parseCommandLine(parameters);
  } catch (error) {
    throw parseFailure(error, helpCommand);
  }
}

function perform({ name, id, options }: Command, output: KeysOutput): void {
  const directory = toDataDirectory(options['data-dir']);
  const input = name === 'issue' ? readInput(options) : null;
  if (input === null && !existsSync(databaseFile(directory))) {
    throw new UsageError(`No Touchstone data in ${directory}. Set the folder with --data-dir.`);
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
  if (options.name === undefined) throw new UsageError(`keys issue needs --name NAME. ${seeHelp}`);
  const requestedScopes = options.scopes?.split(',').map((scope) => scope.trim());
  const unknown = requestedScopes?.find((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown !== undefined) throw new UsageError(`Unknown scope '${unknown}'. The scopes are ${scopes.join(', ')}.`);
  const limit = (option: 'credits' | 'requests-per-minute' | 'tokens-per-minute', min: number): number | null => {
    const text = options[option];
    if (text === undefined) return null;
    if (/^\d+$/.test(text) && Number(text) >= min) return Number(text);
    throw new UsageError(`--${option} must be a whole number of ${min} or more, not '${text}'.`);
  };
  const checked = apiKeyInput.safeParse({
    name: options.name,
    creditLimit: limit('credits', 0),
    requestsPerMinute: limit('requests-per-minute', 1),
    tokensPerMinute: limit('tokens-per-minute', 1),
    scopes: requestedScopes,
  });
  if (checked.success) return checked.data;
  const [problem] = checked.error.issues;
  throw new UsageError(`Invalid ${optionOf[String(problem!.path[0])] ?? '--name'}: ${problem!.message}.`);
}

const optionOf: Readonly<Record<string, string>> = {
  creditLimit: '--credits',
  requestsPerMinute: '--requests-per-minute',
  tokensPerMinute: '--tokens-per-minute',
};

function issue(apiKeys: ApiKeyStore, input: ApiKeyInput, isJson: boolean, { print }: KeysOutput): void {
  const { id, key, callerId, scopes: granted } = apiKeys.issue(input);
  if (isJson) {
    print(JSON.stringify({ id, key, callerId }));
    return;
  }
  print(`Key:       ${key}`);
  print(`ID:        ${id}`);
  print(`Caller ID: ${callerId}`);
  print(`Scopes:    ${granted.join(', ')}`);
  print('Copy the key now. Touchstone stores only its hash and never shows the key again.');
}

function revoke(apiKeys: ApiKeyStore, id: string, { print }: KeysOutput): void {
  apiKeys.revoke(id);
  print(`Revoked ${id.toLowerCase()}.`);
}

function list(apiKeys: ApiKeyStore, isJson: boolean, { print }: KeysOutput): void {
  const keys = apiKeys.list();
  if (isJson) print(JSON.stringify({ data: keys }));
  else if (keys.length === 0) print('No API keys. Create one: npm run keys -- issue --name my-program');
  else for (const key of keys) print(describeKey(key));
}

function describeKey(key: ApiKey): string {
  const credits = key.creditLimit === null ? `${key.creditsUsed}` : `${key.creditsUsed} of ${key.creditLimit}`;
  const state = key.revokedAt === null ? `last used ${key.lastUsedAt ?? 'never'}` : `revoked ${key.revokedAt}`;
  return `${key.id}  ${key.name}  ${key.scopes.join(',')}  credits ${credits}  ${state}`;
}
