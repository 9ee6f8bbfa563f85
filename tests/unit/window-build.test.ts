import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { build } from 'vite';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-window-'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="./main.ts"></script>');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Builds a window of one module with the product's configuration; resolves with its page. */
async function buildWindow(module: string): Promise<string> {
  writeFileSync(join(folder, 'main.ts'), module);
  await build({
    configFile: join(root, 'vite.config.ts'),
    root: folder,
    logLevel: 'silent',
    build: { outDir: join(folder, 'out') },
  });
  return readFileSync(join(folder, 'out/index.html'), 'utf8');
}

test.each(["import 'node:fs';", "import { join } from 'path'; console.log(join);", "void import('node:crypto');"])(
  'a window that needs Node is not built, and the error explains the fix: %s',
  async (module) => {
    await expect(buildWindow(module)).rejects.toThrow(/The window has no Node: .*main\.ts imports ".*"\. Ask the host/);
  },
);

test('the page of a built window has no inline script, and its file paths start at the root', async () => {
  const page = await buildWindow('console.log(1);');
  expect(page.match(/<script[^>]*>/g)).toEqual([expect.stringMatching(/ src="\/assets\/[\w-]+\.js"/)]);
  expect(page).not.toMatch(/<script[^>]*>[^<]|data:/);
});

test("small files stay files: the window's policy allows no data URLs for fonts and scripts", async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'assets/x.woff2'), 'tiny');
  await buildWindow("console.log(new URL('./assets/x.woff2', import.meta.url).href);");
  const page = readFileSync(join(folder, 'out/index.html'), 'utf8');
  const [, script] = /src="\/(assets\/[^"]+)"/.exec(page) ?? [];
  expect(readFileSync(join(folder, 'out', script!), 'utf8')).toMatch(/\/assets\/x-[\w-]+\.woff2/);
});
