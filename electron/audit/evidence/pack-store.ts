import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import type { AuditExport, AuditExportInput } from '../../../shared/contract/audit-exports.ts';
import type { Log } from '../../log.ts';

/** The packs of a data folder, each in a folder with its id as the name. */
export interface ExportStore {
  folder(id: string): string;
  read(): Promise<{ record: PackRecord; checkpoint: PackCheckpoint | null }[]>;
  save(record: PackRecord): Promise<void>;
  /** Removes the files that only an unfinished pack needs. */
  tidy(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The folder of the packs of a data folder. */
export function exportsDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'exports');
}

export function createExportStore(dataDirectory: string, log: Log): ExportStore {
  const directory = exportsDirectory(dataDirectory);
  const folder = (id: string) => join(directory, id);

  async function readOne(id: string) {
    const files = packFiles(folder(id));
    const record = await readJson<PackRecord>(files.record);
    // The record is created first and removed first.
    if (record === null) await rm(folder(id), { recursive: true, force: true });
    return record && { record, checkpoint: await readCheckpoint(files.checkpoint) };
  }

  /** A pack with a damaged record must not prevent the start of the host. Its files stay. */
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
      const { selection, snapshot, checkpoint, partial, partialFile } = packFiles(folder(id));
      for (const path of [partial, partialFile, checkpoint, selection, snapshot, `${snapshot}.partial`])
        await rm(path, { recursive: true, force: true });
    },
    async remove(id) {
      await rm(packFiles(folder(id)).record, { force: true });
      await rm(folder(id), { recursive: true, force: true });
    },
  };
}

/** The record of a pack. Times are milliseconds since 1970. */
export interface PackPlan {
  readonly id: string;
  readonly name: string;
  /** The time of the snapshot. Later runs, and later ends of runs, aren't in the pack. */
  readonly createdAt: number;
  /** Highest `runs.sequence` then. */
  readonly lastRun: number;
  /** The version of the service that created it. */
  readonly version: string;
  /** `files` is absent in packs of earlier versions, which have no files. */
  readonly input: Required<Omit<AuditExportInput, 'files'>> & Pick<AuditExportInput, 'files'>;
}

/** A checkpoint. Everything up to here is on disk. */
export interface PackCheckpoint {
  /** Bytes of the selection that are written. */
  readonly offset: number;
  readonly conversations: number;
  readonly runs: number;
  readonly replaced: readonly number[];
  /** Lengths of the files that are appended to. */
  readonly lengths: Readonly<Record<string, number>>;
  /** IDs of prompts' files whose content isn't stored any more; absent in checkpoints of earlier versions. */
  readonly missingFiles?: readonly string[];
}

/** A complete pack. */
export interface PackResult {
  readonly conversations: number;
  readonly runs: number;
  readonly replaced: readonly number[];
  readonly files: AuditExport['files'];
}

/** The content of `export.json`. */
export interface PackRecord {
  readonly plan: PackPlan;
  /** The number of selected conversations; null until the selection is written. */
  readonly conversations: number | null;
  readonly state: AuditExport['state'];
  readonly failure: string | null;
  readonly completedAt: number | null;
  readonly result: PackResult | null;
}

/** The paths of a pack's files. */
export function packFiles(folder: string) {
  return {
    record: join(folder, 'export.json'),
    selection: join(folder, 'selection.bin'),
    /** Runs of other hosts; absent for packs of this device. */
    snapshot: join(folder, 'team-runs.sqlite'),
    checkpoint: join(folder, 'checkpoint.json'),
    /** The folder of unfinished files. */
    partial: join(folder, 'pack.partial'),
    /** A prompt's file while it is copied. */
    partialFile: join(folder, 'file.partial'),
    pack: join(folder, 'pack'),
    zip: join(folder, 'evidence.zip'),
  } as const;
}

/** Replaces a file atomically, so that it is complete even after a power loss. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.partial`, JSON.stringify(value, null, 2), { mode: 0o600 });
  const handle = await open(`${file}.partial`, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.partial`, file);
}

/** Null for a missing file. */
export async function readJson<Value>(file: string): Promise<Value | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Null if it is missing or damaged. The files are then written from the start. */
export async function readCheckpoint(file: string): Promise<PackCheckpoint | null> {
  try {
    return await readJson<PackCheckpoint>(file);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
