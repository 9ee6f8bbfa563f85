import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createExports, type Exports } from '../../electron/audit/evidence/create-exports.ts';
import { openStorage } from '../../electron/storage/open-storage.ts';
import type { Storage } from '../../electron/storage/storage.ts';
import { exportColumns, type AuditExportInput } from '../../shared/contract/audit-exports.ts';
import { sampleOutcome, sampleRun } from '../unit/storage/sample-run.ts';
import { runUntilKilled } from './kill-process.ts';

const script = fileURLToPath(new URL('../unit/audit/evidence/export-process.ts', import.meta.url));

export interface ExportKillsOptions {
  /** Empty; what was killed lies in it, what was not in `copy`. */
  readonly directory: string;
  readonly copy: string;
  readonly form: AuditExportInput['form'];
  readonly conversations: number;
  readonly maxKills: number;
}

export interface ExportKillsReport {
  readonly kills: number;
  /** Every file of the pack with its bytes. */
  readonly files: Readonly<Record<string, Buffer>>;
  /** Everything that should not be: a pack that is not whole, a file that is not the one of a pack that was never interrupted. */
  readonly problems: readonly string[];
}

/** The packs of a folder, as the host opens them. */
export function openPacks(storage: Storage, directory: string): Promise<Exports> {
  return createExports({
    dataDirectory: directory,
    databaseFile: storage.databaseFile,
    audit: storage.audit,
    rows: storage.exportRows,
    flush: storage.flush,
    version: '1.2.3',
    log: (message, error) => console.error(message, error),
  });
}

/** Fills a folder with conversations and begins a pack of all of them. */
async function beginPack({ directory, form, conversations }: ExportKillsOptions): Promise<void> {
  const storage = openStorage({ directory });
  const written = Array.from({ length: conversations }, (_, index) => {
    const run = sampleRun({
      createdAt: 1_700_000_000_000 + index * 1000,
      renderedPrompt: `Ask a${index}@example.com ${'about it. '.repeat(90)}`,
    });
    storage.runs.begin(run);
    const content = `Call +49 30 ${1_000_000 + index}. ${'Answer. '.repeat(90)}`;
    return storage.runs.finish(run.runId, sampleOutcome({ content }));
  });
  await Promise.all(written);
  const exports = await openPacks(storage, directory);
  await exports.create({
    name: 'Pack',
    selection: { filter: {} },
    columns: [...exportColumns],
    rules: [{ kind: 'email' }, { kind: 'phone' }, { kind: 'card' }, { kind: 'account' }],
    formats: ['html', 'jsonl', 'csv'],
    form,
  });
  await exports.close();
  await storage.close();
}

/** Lets the pack be gone on with until it is further than before, or whole; then takes the process's life. */
async function goOn(directory: string, before: number, { isKilled }: { isKilled: boolean }): Promise<number | 'done'> {
  let reached: number | 'done' = before;
  await runUntilKilled(script, [directory], (line) => {
    if (line === 'done') reached = 'done';
    else if (Number.parseInt(line, 10) > before || /checking|packing/.test(line)) {
      if (reached !== 'done') reached = Math.max(Number.parseInt(line, 10), before);
      return isKilled;
    }
    return false;
  });
  return reached;
}

function packOf(directory: string): Record<string, Buffer> {
  const [id] = readdirSync(join(directory, 'exports'));
  const folder = join(directory, 'exports', id!);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  return Object.fromEntries(
    names.filter((name) => name !== 'export.json').map((name) => [name, readFileSync(join(folder, name))]),
  );
}

function differences(killed: Record<string, Buffer>, whole: Record<string, Buffer>): string[] {
  const names = new Set([...Object.keys(killed), ...Object.keys(whole)]);
  return [...names]
    .filter((name) => killed[name] === undefined || whole[name]?.equals(killed[name]) !== true)
    .map((name) => `${name} is not as in a pack that was not interrupted`);
}

/** Takes the life of a host that writes a pack, until the pack is whole, and compares it with one that nobody interrupted. */
export async function killWhileExporting(options: ExportKillsOptions): Promise<ExportKillsReport> {
  const { directory, copy, maxKills } = options;
  await beginPack(options);
  cpSync(directory, copy, { recursive: true });
  const problems: string[] = [];
  if ((await goOn(copy, 0, { isKilled: false })) !== 'done') problems.push('the pack that was left alone is not whole');
  let kills = 0;
  let reached: number | 'done' = 0;
  while (reached !== 'done') {
    reached = await goOn(directory, reached, { isKilled: kills < maxKills });
    if (reached !== 'done') kills += 1;
  }
  const files = packOf(directory);
  return { kills, files, problems: [...problems, ...differences(files, packOf(copy))] };
}
