import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { expect } from '../../support/electron.ts';
import { packageDirectory, test as base } from '../../support/packaged-app.ts';

interface UpdateServer {
  readonly address: string;
  /** Path and headers of each request so far. */
  readonly requests: { path: string; headers: IncomingHttpHeaders }[];
  /** What is at each path; everything else is not found. */
  readonly files: Map<string, string>;
}

/** A server on this machine, and a copy of the package that names it as its update server. */
const test = base.extend<{ server: UpdateServer; program: string }>({
  server: async ({}, use) => {
    const requests: UpdateServer['requests'] = [];
    const files = new Map<string, string>();
    const server = createServer(({ url = '', headers }, response) => {
      const path = url.split('?')[0]!;
      requests.push({ path, headers });
      response.statusCode = files.has(path) ? 200 : 404;
      response.end(files.get(path));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await use({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, files });
    server.closeAllConnections();
    server.close();
  },

  program: async ({ server }, use) => {
    const copy = join(packageDirectory, '../with-update-server');
    rmSync(copy, { recursive: true, force: true });
    // Links, because the package has 400 MB.
    execFileSync('cp', ['-al', packageDirectory, copy]);
    const update = { provider: 'generic', url: server.address, updaterCacheDirName: 'touchstone-updater' };
    writeFileSync(join(copy, 'resources/app-update.yml'), stringify(update));
    writeFileSync(join(copy, 'resources/package-type'), 'deb');
    await use(join(copy, 'touchstone'));
    rmSync(copy, { recursive: true });
  },
});

function describeRelease(version: string, url: string, content: string): string {
  const sha512 = createHash('sha512').update(content).digest('base64');
  return stringify({ version, files: [{ url, sha512, size: content.length }], path: url, sha512 });
}

test('checks for, downloads and verifies an update, each only on request', async ({
  folder,
  launch,
  program,
  server: { address, requests, files },
}) => {
  const elsewhere = createServer((_request, response) => response.end('package')).listen(0, '127.0.0.1');
  let elsewhereRequests = 0;
  elsewhere.on('connection', () => (elsewhereRequests += 1));
  const { page } = await launch({ dataDirectory: join(folder, 'data'), program });
  const press = (name: string) => page.getByRole('button', { name }).click();
  const feed = '/latest-linux.yml';
  const paths = () => requests.map(({ path }) => path);

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Updates' }).click();
  await expect(page.getByText(`Contacts only ${new URL(address).host}`)).toBeVisible();
  expect(paths()).toEqual([]);

  files.set(feed, describeRelease('0.0.1', 'touchstone.deb', 'package'));
  await page.getByRole('switch', { name: 'Check for updates' }).click();
  await expect(page.getByText('Touchstone is up to date')).toBeVisible();
  expect(paths()).toEqual([feed]);
  // Installations can't be told apart.
  expect(requests[0]!.headers['x-user-staging-id']).toBe('00000000-0000-0000-0000-000000000000');

  files.set(feed, '<html>: [not a release');
  await press('Check now');
  await expect(page.getByText(/sent a description of the release that can't be read/)).toBeVisible();
  files.delete(feed);
  await press('Try again');
  await expect(page.getByText(/has no release for this system/)).toBeVisible();

  const { port } = elsewhere.address() as AddressInfo;
  files.set(feed, describeRelease('99.0.0', `http://127.0.0.1:${port}/touchstone.deb`, 'package'));
  await press('Try again');
  await expect(page.getByText('Version 99.0.0 is available')).toBeVisible();
  await press('Download');
  await expect(page.getByText(/refers to another server/)).toBeVisible();
  expect(elsewhereRequests).toBe(0);
  elsewhere.close();

  files.set(feed, describeRelease('99.0.0', 'touchstone.deb', 'package'));
  files.set('/touchstone.deb', 'changed');
  for (const [content, outcome] of [
    ['changed', /The download is damaged/],
    ['package', 'Version 99.0.0 is ready to install'],
  ] as const) {
    files.set('/touchstone.deb', content);
    await press('Try again');
    await press('Download');
    await expect(page.getByText(outcome)).toBeVisible();
  }
  const pending = join(folder, 'data/window/touchstone-updater/pending/touchstone.deb');
  expect(readFileSync(pending, 'utf8')).toBe('package');
  expect(new Set(paths())).toEqual(new Set([feed, '/touchstone.deb']));
});
