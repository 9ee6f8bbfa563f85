import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { TestPostgres } from './postgres.ts';

export interface SmallDatabase {
  readonly address: string;
  /** Writes to it until nothing fits any more. */
  fill(): Promise<void>;
  /** Makes its disk much larger. */
  grow(): void;
}

/** A database on a disk of its own with so many megabytes. Null, and the reason is printed, unless an administrator runs the tests. */
export async function createSmallDatabase(server: TestPostgres, megabytes: number): Promise<SmallDatabase | null> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    process.stderr.write('SKIPPED: a full disk of PostgreSQL. Only an administrator can mount a small disk.\n');
    rmSync(folder, { recursive: true });
    return null;
  }
  onTestFinished(async () => {
    // Otherwise the server would fail in later tests, whenever it has to write a page of this database to make room for another one.
    await server.query('postgres', 'DROP DATABASE IF EXISTS small WITH (FORCE)');
    await server.query('postgres', 'DROP TABLESPACE IF EXISTS small');
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  const { uid, gid } = statSync(server.folder);
  chownSync(folder, uid, gid);
  await server.query('postgres', `CREATE TABLESPACE small LOCATION '${folder}'`);
  await server.query('postgres', 'CREATE DATABASE small TABLESPACE small');
  const address = server.address('small');
  return {
    address,
    async fill() {
      await server.query(address, 'CREATE TABLE filler (text text)');
      for (const rows of [1000, 100, 1])
        for (let isFull = false; !isFull;) {
          const insert = `INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, ${rows})`;
          isFull = await server.query(address, insert).then(
            () => false,
            () => true,
          );
        }
    },
    grow: () => void execFileSync('mount', ['-o', 'remount,size=300m', folder]),
  };
}
