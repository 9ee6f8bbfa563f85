import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import { packFiles, readCheckpoint, readJson, writeJson, type PackCheckpoint, type PackRecord } from './pack-state.ts';

/** The packs of a data folder, each in a folder of its own named by its id. */
export interface ExportStore {
  folder(id: string): string;
  read(): Promise<{ record: PackRecord; checkpoint: PackCheckpoint | null }[]>;
  save(record: PackRecord): Promise<void>;
  /** Removes what only an unfinished pack needs. */
  tidy(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where the packs of a data folder lie. */
export function exportsDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'exports');
}

export function createExportStore(dataDirectory: string, log: Log): ExportStore {
  const directory = exportsDirectory(dataDirectory);
  const folder = (id: string) => join(directory, id);

  async function readOne(id: string) {
    const files = packFiles(folder(id));
    const record = await readJson<PackRecord>(files.record);
    // Its record is the first that is made and the first that is removed.
    if (record === null) await rm(folder(id), { recursive: true, force: true });
    return record && { record, checkpoint: await readCheckpoint(files.checkpoint) };
  }

  /** A pack whose record somebody damaged must not keep the host from starting; its files stay where they are. */
  async function readIfWhole(id: string) {
    try {
      return await readOne(id);
    } catch (error) {
      log(`evidence pack ${id} cannot be read`, error);
      return null;
    }
  }

  return {
    folder,
    async read() {
      if (!existsSync(directory)) return [];
      const found = await Promise.all((await readdir(directory)).filter((id) => idForm.test(id)).map(readIfWhole));
      return found
        .filter((pack) => pack !== null)
        .toSorted((one, other) => other.record.plan.createdAt - one.record.plan.createdAt);
    },
    async save(record) {
      const own = folder(record.plan.id);
      await mkdir(own, { recursive: true, mode: 0o700 });
      await writeJson(packFiles(own).record, record);
    },
    async tidy(id) {
      const { selection, checkpoint, partial } = packFiles(folder(id));
      for (const path of [partial, checkpoint, selection]) await rm(path, { recursive: true, force: true });
    },
    async remove(id) {
      await rm(packFiles(folder(id)).record, { force: true });
      await rm(folder(id), { recursive: true, force: true });
    },
  };
}
