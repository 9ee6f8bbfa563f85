import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { forkChild } from '../../../electron/child-process/child.ts';
import { createKeyStore } from '../../../electron/key-store/create-key-store.ts';
import { createSourceReader } from '../../../electron/knowledge/parsing/source-reader.ts';
import { startEngineProcess } from '../../../electron/on-device/engine-process.ts';
import { AppError } from '../../../shared/app-error.ts';
import { fixture } from '../knowledge/parsing/test-files.ts';

const secret = 'sk-not-for-children';
let environments: string[];

/** What the system holds as the environment of each process that starts from here on. */
beforeEach(() => {
  environments = [];
  const onChild = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess };
    child.once('spawn', () => environments.push(readFileSync(`/proc/${child.pid}/environ`, 'utf8')));
  };
  subscribe('child_process', onChild);
  onTestFinished(() => void unsubscribe('child_process', onChild));
  for (const name of ['OPENAI_API_KEY', 'GROQ_API_KEY', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, secret);
  onTestFinished(() => void vi.unstubAllEnvs());
});

describe.runIf(process.platform === 'linux')('a child process gets no provider key in its environment', () => {
  test('when it parses a GGUF file', async () => {
    const options = { modelPath: '/does-not-exist.gguf', threads: 1, startChild: forkChild, log: () => {} };
    const engine = startEngineProcess(options);
    await expect(engine.loaded).rejects.toThrow();
    await engine.end(new AppError('provider_failed', 'The test is over.'));
    expect(environments).toEqual([expect.not.stringContaining(secret)]);
  });

  test('when it parses a source', async () => {
    const reader = createSourceReader();
    onTestFinished(() => reader.close());
    const report = { path: fixture('report.pdf'), fileName: 'report.pdf', mediaType: 'application/pdf' as const };
    await reader.readSource(report, { signal: new AbortController().signal });
    expect(environments).toEqual([expect.not.stringContaining(secret)]);
  });

  test('when it probes the keychain', async () => {
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/does-not-exist');
    await createKeyStore();
    expect(environments).toEqual([expect.not.stringContaining(secret)]);
    expect(environments[0]).toContain('DBUS_SESSION_BUS_ADDRESS=unix:path=/does-not-exist');
  });

  test('and none is started for the keychain of a machine that has neither a desktop nor a D-Bus', async () => {
    for (const name of ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY']) vi.stubEnv(name, '');
    vi.stubEnv('XDG_RUNTIME_DIR', '/does-not-exist');
    expect((await createKeyStore()).title).toBeNull();
    expect(environments).toEqual([]);
  });
});
