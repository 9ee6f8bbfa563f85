// @module-tag slow
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';
import { endedPack, exportInput, openExports, type ExportsWorld } from './test-exports.ts';

const content = Buffer.from('%PDF-1.7 mara@example.com');
const fileId = createHash('sha256').update(content).digest('hex');
const missingId = 'a'.repeat(64);
const packed = `file-${fileId}.pdf`;

/** Two runs with a stored file, and one with a file whose content is missing from the disk. */
async function openWorld(): Promise<ExportsWorld> {
  const world = await openExports();
  const { storage } = world;
  const folder = join(storage.directory, 'files', fileId.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, fileId), content);
  for (const id of [fileId, fileId, missingId]) {
    const file = { type: 'file' as const, fileId: id, mediaType: 'application/pdf', name: 'bill.pdf', bytes: 25 };
    const run = sampleRun({ createdAt: Date.now() - 1000, messages: [{ role: 'user', content: [file] }] });
    storage.runs.begin(run);
    await storage.runs.finish(run.runId, sampleOutcome({ completedAt: Date.now() - 500 }));
  }
  return world;
}

async function packOf({ exports, storage, log }: ExportsWorld, change: Parameters<typeof exportInput>[0]) {
  const { id } = await exports.create(exportInput(change));
  const { state, files } = await endedPack(exports, id);
  expect([state, log]).toEqual(['completed', []]);
  const folder = join(storage.directory, 'exports', id, 'pack');
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  return { folder, names: readdirSync(folder), files, manifest };
}

test('a pack has the files of its prompts once, with their hash in the manifest, and names missing ones', async () => {
  const world = await openWorld();
  const { folder, names, files, manifest } = await packOf(world, { rules: [] });
  expect(names.filter((name) => name.startsWith('file-'))).toEqual([packed]);
  expect(readFileSync(join(folder, packed))).toEqual(content);
  const described = { name: packed, bytes: content.length, sha256: fileId };
  expect(manifest.files).toContainEqual(described);
  expect(files).toContainEqual(described);
  expect(manifest.promptFiles).toEqual({ isIncluded: true, missing: [missingId] });
  expect(readFileSync(join(folder, 'evidence.html'), 'utf8')).toContain('Included unchanged');
});

test.each([
  [{}, false],
  [{ files: true }, true],
  [{ rules: [], files: false }, false],
])('files can hold what the rules replace, so that %j has files: %s', async (change, isIncluded) => {
  const { names, manifest } = await packOf(await openWorld(), change);
  expect(names.includes(packed)).toBe(isIncluded);
  expect(manifest.promptFiles.isIncluded).toBe(isIncluded);
});
