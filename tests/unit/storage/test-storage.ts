import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStorage, type OpenStorageOptions } from '../../../electron/storage/open-storage.ts';
import type { Storage } from '../../../electron/storage/storage.ts';

/** A folder that is gone when the test is. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-storage-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
  return directory;
}

/** Storage in a folder of its own, closed when the test ends. */
export function openTestStorage(options: Partial<OpenStorageOptions> = {}): Storage & { directory: string } {
  const directory = options.directory ?? temporaryDirectory();
  const storage = openStorage({ ...options, directory });
  onTestFinished(() => storage.close());
  return Object.assign(storage, { directory });
}

/** Every run, newest first, page by page. */
export function listAll(storage: Storage, pageSize: number, draftId?: string) {
  const found = [];
  let continuationToken: string | undefined;
  do {
    const page = storage.runs.list({ pageSize, continuationToken, draftId });
    found.push(...page.data);
    continuationToken = page.continuationToken ?? undefined;
  } while (continuationToken !== undefined);
  return found;
}
