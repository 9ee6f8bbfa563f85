import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Opens the test keyring; it protects nothing. */
const keyringPassword = 'test keyring';

/** What this machine lacks for a real Secret Service, as a sentence; null when it has one. */
export function obstacleToKeyring(): string | null {
  if (process.platform !== 'linux') return 'The Secret Service is a Linux service.';
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const missing = ['dbus-run-session', 'gnome-keyring-daemon'].filter(
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

/**
 * The command that runs another one inside a D-Bus session of its own with a gnome-keyring-daemon, for callers that start
 * processes themselves: `[program, ...parameters]`. Everything ends with the command.
 */
export function keyringCommand(
  command: readonly string[],
  { keyring, keyringDirectory }: Pick<KeyringCommandOptions, 'keyring' | 'keyringDirectory'>,
): [string, ...string[]] {
  const runtime = join(keyringDirectory, 'runtime');
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  // The daemon answers before it goes to the background, and ends when its session does.
  const script = `
    directory=$1; password=$2; keyring=$3; shift 3
    daemon() {
      env HOME="$directory" XDG_DATA_HOME="$directory" XDG_RUNTIME_DIR="$directory/runtime" \\
        gnome-keyring-daemon --components=secrets "$@" >/dev/null 2>&1
    }
    if [ "$keyring" = unlocked ]; then printf %s "$password" | daemon --unlock; else daemon --start; fi
    exec "$@"`;
  return ['dbus-run-session', '--', 'sh', '-c', script, 'sh', keyringDirectory, keyringPassword, keyring, ...command];
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
  rmSync(directory, { recursive: true, force: true });
}
