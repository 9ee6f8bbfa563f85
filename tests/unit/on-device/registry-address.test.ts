import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { registryAddress } from '../../../electron/on-device/registry-address.ts';

let folder: string;

/** Puts a command named `npm` first on the path, which answers as told. */
function installNpm(script: string): void {
  writeFileSync(join(folder, 'npm'), `#!${process.execPath}\n${script}\n`);
  chmodSync(join(folder, 'npm'), 0o755);
  vi.stubEnv('PATH', [folder, dirname(process.execPath)].join(delimiter));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-npm-'));
  vi.stubEnv('npm_config_registry', '');
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true, force: true });
});

// A command without an extension is no command on Windows.
describe.skipIf(process.platform === 'win32')('the address of the npm registry', () => {
  it('is the one that npm passes to its scripts', async () => {
    vi.stubEnv('npm_config_registry', 'http://127.0.0.1:4873/npm/');
    installNpm('console.log("http://127.0.0.1:1/")');
    expect(await registryAddress()).toBe('http://127.0.0.1:4873/npm/');
  });

  it("is otherwise the one in npm's configuration, regardless of npm's warnings", async () => {
    installNpm(
      'if (process.argv.slice(2).join(" ") !== "config get registry") process.exit(1);' +
        'console.error("npm warn"); console.log("http://127.0.0.1:4874/");',
    );
    expect(await registryAddress()).toBe('http://127.0.0.1:4874/');
  });

  it('is otherwise the one of the build machine', async () => {
    installNpm('process.exit(1)');
    vi.stubGlobal('TOUCHSTONE_REGISTRY', 'http://127.0.0.1:4875/');
    expect(await registryAddress()).toBe('http://127.0.0.1:4875/');
  });

  it('contains no name and password', async () => {
    vi.stubEnv('npm_config_registry', 'http://name:secret@127.0.0.1:4873/');
    expect(await registryAddress()).toBe('http://127.0.0.1:4873/');
  });

  it('is missing only without any of these, with an error that explains the fix', async () => {
    installNpm('console.log("undefined")');
    await expect(registryAddress()).rejects.toMatchObject({
      code: 'provider_not_configured',
      message: expect.stringMatching(/npm_config_registry/),
    });
  });
});
