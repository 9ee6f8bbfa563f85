import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import packageFile from '../../../package.json' with { type: 'json' };
import { describeRelease } from '../../../scripts/debian-package.ts';
import { root } from '../../../scripts/project-node.mjs';

test('describes a release as electron-updater reads it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'touchstone_1.0.0_amd64.deb');
  writeFileSync(file, 'package');
  describeRelease(file, folder);
  const name = readdirSync(folder).find((each) => each.startsWith('latest-linux'))!;
  expect(name).toBe(process.arch === 'x64' ? 'latest-linux.yml' : `latest-linux-${process.arch}.yml`);
  const sha512 = createHash('sha512').update('package').digest('base64');
  expect(parse(readFileSync(join(folder, name), 'utf8'))).toMatchObject({
    version: packageFile.version,
    files: [{ url: 'touchstone_1.0.0_amd64.deb', sha512, size: 7 }],
    path: 'touchstone_1.0.0_amd64.deb',
    sha512,
  });
});

test('creates no package with an update server without TLS', () => {
  const env = { ...process.env, TOUCHSTONE_UPDATE_FEED: 'http://updates.example' };
  const { status, stderr } = spawnSync(process.execPath, ['scripts/package.ts'], { cwd: root, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([
    2,
    'TOUCHSTONE_UPDATE_FEED must be an https:// address without user name, query or fragment.\n',
  ]);
});
