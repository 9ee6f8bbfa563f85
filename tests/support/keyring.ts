import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Opens the test keyring; it protects nothing. */
const keyringPassword = 'test keyring';

/** What this machine lacks for a real Secret Service, as a sentence; null when it has one. */
export function obstacleToKeyring(): string | null {
  if (process.platform !== 'linux') return 'The Secret Service is a Linux service.';
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const missing = ['dbus-run-session', 'dbus-send', 'gnome-keyring-daemon'].filter(
    (program) => !folders.some((folder) => existsSync(join(folder, program))),
  );
  return missing.length === 0 ? null : `Install ${missing.join(' and ')} (Debian: dbus, gnome-keyring).`;
}

export interface KeyringCommandOptions {
  /** `unlocked` as after logging in, `locked` as before. */
  readonly keyring: 'unlocked' | 'locked';
  /** Where the keyring's files live; the same folder in a later session is the same keyring. */
  readonly keyringDirectory: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly workingDirectory?: string;
}

export interface CommandResult {
  readonly status: number | null;
  readonly output: string;
  readonly errorOutput: string;
}

/** A new folder for a keyring; the caller removes it. */
export function makeKeyringDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'touchstone-keyring-'));
}

/** The bus starts nothing but the test's own daemon: the one of the machine would know other folders and no password. */
function busConfiguration(services: string): string {
  return `<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <auth>EXTERNAL</auth>
  <servicedir>${services}</servicedir>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
  <limit name="service_start_timeout">600000</limit>
  <limit name="auth_timeout">240000</limit>
</busconfig>`;
}

function daemonScript(directory: string, keyring: 'unlocked' | 'locked'): string {
  const environment = `HOME='${directory}' XDG_DATA_HOME='${directory}' XDG_RUNTIME_DIR='${directory}/runtime'`;
  const unlock = keyring === 'unlocked' ? `--unlock < '${directory}/bus/password'` : '';
  return `#!/bin/sh
exec env ${environment} gnome-keyring-daemon --foreground --components=secrets ${unlock} >/dev/null 2>&1
`;
}

/** Writes what a bus with a keyring of its own needs into `keyringDirectory` and returns the bus's configuration file. */
function writeBus(keyringDirectory: string, keyring: 'unlocked' | 'locked'): string {
  const [bus, runtime] = [join(keyringDirectory, 'bus'), join(keyringDirectory, 'runtime')];
  mkdirSync(join(bus, 'services'), { recursive: true });
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  writeFileSync(join(bus, 'password'), keyringPassword);
  writeFileSync(join(bus, 'daemon'), daemonScript(keyringDirectory, keyring));
  chmodSync(join(bus, 'daemon'), 0o755);
  const service = `[D-BUS Service]\nName=org.freedesktop.secrets\nExec="${join(bus, 'daemon')}"\n`;
  writeFileSync(join(bus, 'services/org.freedesktop.secrets.service'), service);
  writeFileSync(join(bus, 'session.conf'), busConfiguration(join(bus, 'services')));
  return join(bus, 'session.conf');
}

/** Resolves its call when the daemon has its keyring open and its name on the bus, and not when it has only been started. */
const startDaemon =
  'dbus-send --session --print-reply --reply-timeout=600000 --dest=org.freedesktop.DBus /org/freedesktop/DBus ' +
  'org.freedesktop.DBus.StartServiceByName string:org.freedesktop.secrets uint32:0 >/dev/null';

/**
 * The command that runs another one inside a D-Bus session of its own with a gnome-keyring-daemon, for callers that start
 * processes themselves: `[program, ...parameters]`. Everything ends with the command.
 */
export function keyringCommand(
  command: readonly string[],
  { keyring, keyringDirectory }: Pick<KeyringCommandOptions, 'keyring' | 'keyringDirectory'>,
): [string, ...string[]] {
  const configuration = writeBus(keyringDirectory, keyring);
  const session = ['dbus-run-session', `--config-file=${configuration}`, '--'] as const;
  return [...session, 'sh', '-c', `${startDaemon} && exec "$@"`, 'sh', ...command];
}

/** Runs a command inside a session of its own and collects what it says. */
export async function runWithKeyring(
  command: readonly string[],
  options: KeyringCommandOptions,
): Promise<CommandResult> {
  const [program, ...parameters] = keyringCommand(command, options);
  const child = spawn(program, parameters, {
    cwd: options.workingDirectory,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const status = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, errorOutput] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, output, errorOutput };
}

export function removeKeyringDirectory(directory: string): void {
  // The daemon ends a moment after its session, and may write until then.
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
}
