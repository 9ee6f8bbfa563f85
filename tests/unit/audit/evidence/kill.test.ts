// @module-tag slow
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { killWhileExporting } from '../../../support/kills-while-exporting.ts';
import { temporaryDirectory } from '../../storage/test-storage.ts';
import { longTest } from '../../../support/patience.ts';

/** `npm run test:faults` kills the host more often, and in a larger pack. */
const isFull = process.env['TOUCHSTONE_FULL_SUITE'] === '1';
const [conversations, maxKills] = isFull ? [6000, 12] : [1500, 4];

describe.each(['folder', 'zip'] as const)('a pack as %s', (form) => {
  test('is equal byte by byte, however often its host is killed', longTest, async () => {
    const [directory, copy] = [temporaryDirectory(), temporaryDirectory()];
    const { kills, files, problems } = await killWhileExporting({
      directory,
      copy,
      form,
      conversations,
      maxKills,
    });
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThan(2);
    if (form === 'zip') return;
    const manifest = JSON.parse(files['pack/manifest.json']!.toString()) as {
      counts: unknown;
      files: { name: string; bytes: number; sha256: string }[];
    };
    expect(manifest.counts).toEqual({ conversations, runs: conversations });
    for (const { name, bytes, sha256 } of manifest.files) {
      const file = files[`pack/${name}`]!;
      expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([bytes, sha256]);
    }
    expect(files['pack/evidence.csv']!.toString().split('\r\n')).toHaveLength(conversations + 2);
  });
});
