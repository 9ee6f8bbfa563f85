// @module-tag slow
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostFlags } from '../../../scripts/run-built.mjs';

const root = join(import.meta.dirname, '../../..');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-start-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves when what it printed, on either stream, matches. */
  printed(pattern: RegExp): Promise<string>;
}

function start(command: string, parameters: readonly string[]): Started {
  const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...inherited } = process.env;
  // Without a display a start downloads the on-device model.
  const env = { ...inherited, npm_config_registry: 'http://127.0.0.1:9' };
  const child = spawn(command, parameters, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (text += piece.toString()));
  return {
    child,
    output: () => text,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const scan = (): void => {
          const found = pattern.exec(text);
          if (found) resolve(found[1] ?? found[0]);
        };
        child.stdout.on('data', scan);
        child.stderr.on('data', scan);
        child.once('close', () => reject(new Error(`It ended, having printed: ${text}`)));
        scan();
      }),
  };
}

async function answers(address: string): Promise<boolean> {
  return fetch(`${address}/openapi.json`).then(
    ({ ok }) => ok,
    () => false,
  );
}

describe.runIf(process.platform === 'linux')('a start without a display', () => {
  test('prints the address, serves the service and its window, and ends cleanly on a signal', async () => {
    const host = start(process.execPath, ['scripts/run.mjs', 'start-touchstone', '--port', '0', '--data-dir', folder]);
    const address = await host.printed(/^API: +(\S+)\n/m);
    await host.printed(/^Open in a browser: +\S+\?token=/m);
    expect(host.output()).toContain('No display found');
    expect(await answers(address)).toBe(true);
    host.child.kill('SIGTERM');
    await once(host.child, 'close');
    expect(await answers(address)).toBe(false);
  });

  // `serve` runs in the process that npm starts, `start` in a child of it.
  test.each([
    ['start', 'scripts/run.mjs start-touchstone'],
    ['serve', packageJson.scripts.serve.replace('node ', '')],
  ])('`npm run %s` does not outlive the shell through which npm starts it', async (_name, parameters) => {
    const script = `"${process.execPath}" ${parameters} --port 0 --data-dir "${folder}"; true`;
    const shell = start('sh', ['-c', script]);
    const address = await shell.printed(/^API: +(\S+)\n/m);
    shell.child.kill('SIGKILL');
    // Closed when the last process that holds its output is gone.
    await once(shell.child, 'close');
    expect(await answers(address)).toBe(false);
  });
});

describe('a tool of the project', () => {
  test.each(['--help', '-h'])('says with %s what it does, and does nothing', async (option) => {
    const tool = start(process.execPath, ['scripts/run.mjs', 'licences', option]);
    await once(tool.child, 'close');
    expect(tool.output()).toMatch(/^npm run tool -- licences .*\n$/);
    expect(tool.child.exitCode).toBe(0);
  });

  test.each(['licences', 'lint-api', 'pictures', 'train-moderation'])('%s rejects an unknown option', async (name) => {
    const tool = start(process.execPath, ['scripts/run.mjs', name, '--nope']);
    await once(tool.child, 'close');
    expect(tool.output()).toMatch(/^Unknown option '--nope'.*\n\nnpm run tool -- /);
    expect(tool.child.exitCode).toBe(2);
  });
});

test('`npm run serve` has the flags of the host, without which it would need a second process', () => {
  expect(packageJson.scripts.serve).toBe(`node ${hostFlags.join(' ')} scripts/run.mjs serve`);
});
