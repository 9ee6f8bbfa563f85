import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keyedProviders } from '../shared/contract/common.ts';
import { root } from './project-node.mjs';

/** One line of the recording: a process that is recorded or, with a host, a contact. */
export interface RecordedLine {
  readonly program: string;
  readonly host?: string;
  /** Null for a DNS query. */
  readonly port?: number | null;
  /** Line of our code that caused it. */
  readonly at?: string | null;
}

const recorder = join(root, 'tests/support/record-connections.cjs');

/** Makes every Node process that is started from here on record its contacts outside of this device. */
export function startRecording(folder: string, environment: NodeJS.ProcessEnv = process.env): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const option = `--require ${JSON.stringify(recorder)}`;
  environment['NODE_OPTIONS'] = [environment['NODE_OPTIONS'], option].filter(Boolean).join(' ');
  environment['TOUCHSTONE_CONNECTIONS'] = folder;
}

export function readRecording(folder: string): RecordedLine[] {
  try {
    const lines = readFileSync(join(folder, 'connections.jsonl'), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as RecordedLine);
  } catch {
    return [];
  }
}

function isNamed({ host, port }: RecordedLine, address: string): boolean {
  const { protocol, hostname, port: typed } = new URL(address.replace('://*.', '://any.'));
  const isHost = address.includes('://*.') ? host!.endsWith(hostname.slice('any'.length)) : host === hostname;
  const usual = protocol === 'http:' ? 80 : 443;
  return isHost && (port === null || port === (typed === '' ? usual : Number(typed)));
}

/** What was contacted although none of the addresses names it, each once, as a line for the log. */
export function unnamedContacts(lines: readonly RecordedLine[], addresses: readonly string[]): string[] {
  // Names below `invalid` don't exist. Tests of a failed lookup need one.
  const contacts = lines.filter(({ host }) => host !== undefined && !host.endsWith('.invalid'));
  const unnamed = contacts.filter((line) => !addresses.some((address) => isNamed(line, address)));
  const described = unnamed.map(({ host, port, program, at }) => {
    const target = port === null ? `the name ${host}` : `${host}:${port}`;
    return `${program} contacted ${target}, which Settings, Privacy doesn't name${at ? `, ${at}` : ''}`;
  });
  return [...new Set(described)];
}

const programs = { vitest: /[\\/]vitest[\\/]/, serve: /[\\/]serve\.[jt]s$/, electron: /^electron$/ };
export type WatchedProgram = keyof typeof programs;

/** A recording that never started would also contain nothing. */
export function missingWatchers(lines: readonly RecordedLine[], expected: readonly WatchedProgram[]): string[] {
  return expected
    .filter((name) => !lines.some(({ program }) => programs[name].test(program)))
    .map((name) => `No process of ${name} was watched: what it contacts is unknown`);
}

/** The addresses in Settings, Privacy on a host without any settings. */
export async function namedAddresses(): Promise<string[]> {
  const [{ fixedHosts }, { registryAddress }, { registry }] = await Promise.all([
    import('../electron/privacy.ts'),
    import('../electron/on-device/registry-address.ts'),
    import('../electron/providers/registry.ts'),
  ]);
  const fixed = fixedHosts(process.env, await registryAddress().catch(() => null));
  return [...keyedProviders.map((name) => registry[name].baseAddress), ...fixed.flatMap((host) => host.addresses)];
}
