import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { AuditExportInput } from '../../../../shared/contract/audit-exports.ts';
import { openTestStorage, temporaryDirectory } from '../../storage/test-storage.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';
import { exportInput, openExports } from './test-exports.ts';

const conversations = 6000;
const mostKills = 12;

/** A folder with many conversations and a pack that was begun. */
async function beginPack(input: Partial<AuditExportInput>): Promise<string> {
  const storage = openTestStorage({ directory: temporaryDirectory() });
  const written = Array.from({ length: conversations }, (_, index) => {
    const run = sampleRun({
      createdAt: 1_700_000_000_000 + index * 1000,
      renderedPrompt: `Ask a${index}@example.com ${'about it. '.repeat(90)}`,
    });
    storage.runs.begin(run);
    return storage.runs.finish(
      run.runId,
      sampleOutcome({ content: `Call +49 30 ${1_000_000 + index}. ${'Answer. '.repeat(90)}` }),
    );
  });
  await Promise.all(written);
  const { exports } = await openExports(storage);
  await exports.create(exportInput(input));
  await exports.close();
  await storage.close();
  return storage.directory;
}

/** Lets the pack be gone on with until it is further than before, or whole; then takes the process's life. */
async function goOn(directory: string, before: number, { isKilled }: { isKilled: boolean }): Promise<number | 'done'> {
  const script = fileURLToPath(new URL('export-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let reached: number | 'done' = before;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'done') reached = 'done';
    else if (Number.parseInt(line, 10) > before || /checking|packing/.test(line)) {
      if (reached !== 'done') reached = Math.max(Number.parseInt(line, 10), before);
      if (isKilled) child.kill('SIGKILL');
    }
  }
  await closed;
  return reached;
}

/** Every file of the only pack with its bytes. */
function packOf(directory: string): Record<string, Buffer> {
  const [id] = readdirSync(join(directory, 'exports'));
  const folder = join(directory, 'exports', id!);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  return Object.fromEntries(
    names.filter((name) => name !== 'export.json').map((name) => [name, readFileSync(join(folder, name))]),
  );
}

describe.each(['folder', 'zip'] as const)('a pack as %s', (form) => {
  test('is the same, byte by byte, however often its host is killed', { timeout: 180_000 }, async () => {
    const directory = await beginPack({ form });
    const copy = temporaryDirectory();
    cpSync(directory, copy, { recursive: true });
    expect(await goOn(copy, 0, { isKilled: false })).toBe('done');

    let kills = 0;
    let reached: number | 'done' = 0;
    while (reached !== 'done') {
      reached = await goOn(directory, reached, { isKilled: kills < mostKills });
      if (reached !== 'done') kills += 1;
    }
    expect(kills).toBeGreaterThan(2);
    const [killed, whole] = [packOf(directory), packOf(copy)];
    expect(Object.keys(killed)).toEqual(Object.keys(whole));
    expect(Object.keys(killed).filter((name) => !killed[name]!.equals(whole[name]!))).toEqual([]);

    if (form === 'zip') return;
    const manifest = JSON.parse(killed['pack/manifest.json']!.toString()) as {
      counts: unknown;
      files: { name: string; bytes: number; sha256: string }[];
    };
    expect(manifest.counts).toEqual({ conversations, runs: conversations });
    for (const { name, bytes, sha256 } of manifest.files) {
      const file = killed[`pack/${name}`]!;
      expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([bytes, sha256]);
    }
    expect(killed['pack/evidence.csv']!.toString().split('\r\n')).toHaveLength(conversations + 2);
  });
});
