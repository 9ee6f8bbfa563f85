import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { AuditExport } from '../../../shared/contract/audit-exports.ts';
import { redactedPlan, timeZoneOf } from './pack-details.ts';
import { packFiles, type PackPlan, type PackRecord, type PackResult } from './pack-store.ts';
import type { WrittenPack } from './write-pack.ts';
import { AppError } from '../../../shared/app-error.ts';

/** A file of a pack that is sent. `bytes` is null if it is only known at the end. */
export interface ExportDownload {
  readonly fileName: string;
  readonly bytes: number | null;
  readonly stream: Readable;
}

function resultOf({ state, result }: PackRecord): PackResult {
  if (state === 'completed') return result!;
  throw new AppError('conflict', 'This evidence pack is not complete yet. Wait until it is, or resume it.');
}

/** A pack as one zip. Throws `conflict` if it isn't complete. */
export async function openPack(record: PackRecord, folder: string): Promise<ExportDownload> {
  const result = resultOf(record);
  const { id, createdAt, input } = record.plan;
  const files = packFiles(folder);
  const fileName = `evidence-${new Date(createdAt).toISOString().slice(0, 10)}-${id.slice(0, 8)}.zip`;
  if (input.form === 'zip') return { fileName, bytes: result.files[0]!.bytes, stream: createReadStream(files.zip) };
  const names = (await readdir(files.pack)).toSorted();
  return { fileName, bytes: null, stream: zipOf(files.pack, names, createdAt) };
}

type PackFile = AuditExport['files'][number];

async function describeFile(file: string, signal: AbortSignal): Promise<PackFile> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash, { signal });
  return { name: basename(file), bytes: (await stat(file)).size, sha256: hash.digest('hex') };
}

async function describeFolder(folder: string, signal: AbortSignal): Promise<PackFile[]> {
  const names = (await readdir(folder)).toSorted();
  const files: PackFile[] = [];
  for (const name of names) files.push(await describeFile(join(folder, name), signal));
  return files;
}

/** Files in the zip have the time of the snapshot, so that equal packs have equal bytes. */
export function zipOf(folder: string, names: readonly string[], at: number): Readable {
  const zip = new ZipFile();
  const mtime = new Date(at);
  for (const name of names) zip.addFile(join(folder, name), name, { mtime, mode: 0o100644 });
  zip.end();
  return zip.outputStream as unknown as Readable;
}

/** The manifest, with which readers verify a pack and see its contents. */
function manifestOf(plan: PackPlan, written: WrittenPack, files: readonly PackFile[]) {
  const { input } = plan;
  return {
    format: 'touchstone-evidence-pack',
    formatVersion: 1,
    madeBy: { name: 'Touchstone', version: plan.version },
    id: plan.id,
    ...redactedPlan(plan),
    snapshotAt: new Date(plan.createdAt).toISOString(),
    timeZone: timeZoneOf(plan),
    runs: input.runs,
    columns: input.columns,
    rules: input.rules.map((rule, index) => ({ ...rule, replaced: written.replaced[index] })),
    formats: input.formats,
    counts: { conversations: written.conversations, runs: written.runs },
    promptFiles: { isIncluded: input.files ?? false, missing: written.missingFiles ?? [] },
    notes: [
      'Times in JSONL, CSV and this file are UTC. HTML pages show local time with UTC below. Costs are in US dollars, durations in milliseconds.',
      'In CSV, an apostrophe precedes text that a spreadsheet could run as a formula, whether it separates by commas, semicolons or tabs.',
      'Files of prompts have the name file-<fileId> with an extension; the fileId is their SHA-256. Rules do not change them.',
      'callerSupplied names the fields that look like our own but were set by the caller. Touchstone does not verify them.',
    ],
    files,
  };
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export interface FinishPackOptions {
  readonly folder: string;
  readonly plan: PackPlan;
  readonly written: WrittenPack;
  readonly onStep: (step: 'checking' | 'packing') => void;
  readonly signal: AbortSignal;
}

/** Writes the manifest, zips the files and moves the pack to its final path. */
export async function finishPack(options: FinishPackOptions): Promise<PackResult> {
  const { plan, written, signal } = options;
  const files = packFiles(options.folder);
  const isZip = plan.input.form === 'zip';
  options.onStep('checking');
  await rm(join(files.partial, 'manifest.json'), { force: true });
  const described = await describeFolder(files.partial, signal);
  const manifest = `${JSON.stringify(manifestOf(plan, written, described), null, 2)}\n`;
  await writeFile(join(files.partial, 'manifest.json'), manifest, { mode: 0o600 });
  await syncFile(join(files.partial, 'manifest.json'));
  const counts = { conversations: written.conversations, runs: written.runs, replaced: written.replaced };
  if (!isZip) {
    await rename(files.partial, files.pack);
    return { ...counts, files: await describeFolder(files.pack, signal) };
  }
  options.onStep('packing');
  const names = (await readdir(files.partial)).toSorted();
  const partialZip = `${files.zip}.partial`;
  await pipeline(zipOf(files.partial, names, plan.createdAt), createWriteStream(partialZip, { mode: 0o600 }), {
    signal,
  });
  await syncFile(partialZip);
  await rename(partialZip, files.zip);
  return { ...counts, files: [await describeFile(files.zip, signal)] };
}
