import { onTestFinished } from 'vitest';
import { createExports, type Exports } from '../../../../electron/audit/evidence/create-exports.ts';
import { createSamples } from '../../../../electron/audit/samples/create-samples.ts';
import type { Storage } from '../../../../electron/storage/storage.ts';
import { exportColumns, type AuditExport, type AuditExportInput } from '../../../../shared/contract/audit-exports.ts';
import { openTestStorage } from '../../storage/test-storage.ts';

export interface ExportsWorld {
  readonly storage: Storage & { directory: string };
  readonly exports: Exports;
  readonly log: string[];
}

/** The packs of a folder, over real storage. Everything is closed when the test ends. */
export async function openExports(storage: Storage & { directory: string } = openTestStorage()): Promise<ExportsWorld> {
  const log: string[] = [];
  const exports = await createExports({
    dataDirectory: storage.directory,
    databaseFile: storage.databaseFile,
    audit: storage.audit,
    rows: storage.exportRows,
    flush: storage.flush,
    version: '1.2.3',
    log: (message, error) => void log.push(`${message} ${error instanceof Error ? error.message : ''}`),
  });
  onTestFinished(() => exports.close());
  return { storage, exports, log };
}

/** The same with the sample set in it. */
export async function openSampleExports(): Promise<ExportsWorld> {
  const world = await openExports();
  const samples = await createSamples({ store: world.storage.samples, runs: world.storage.runs });
  await samples.load();
  return world;
}

export function exportInput(change: Partial<AuditExportInput> = {}): AuditExportInput {
  return {
    name: 'Pack',
    selection: { filter: {} },
    columns: [...exportColumns],
    rules: [{ kind: 'email' }, { kind: 'phone' }, { kind: 'card' }, { kind: 'account' }],
    formats: ['html', 'jsonl', 'csv'],
    form: 'folder',
    ...change,
  };
}

/** Resolves when the pack fits; looks at it after every change. */
export function packThat(exports: Exports, id: string, fits: (pack: AuditExport) => boolean): Promise<AuditExport> {
  return new Promise((resolve) => {
    const scan = () => {
      const pack = exports.read(id);
      if (!fits(pack)) return;
      unsubscribe();
      resolve(pack);
    };
    const unsubscribe = exports.subscribe(scan);
    scan();
  });
}

export function endedPack(exports: Exports, id: string): Promise<AuditExport> {
  return packThat(exports, id, ({ state }) => state !== 'running');
}
