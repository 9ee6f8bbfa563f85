// @module-tag slow
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { build, type Rolldown } from 'vite';
import { gzipSync } from 'node:zlib';
import { issueApiKey } from '../../shared/contract/api-keys.ts';

const root = join(import.meta.dirname, '../..');
const screenIds = readdirSync(join(root, 'renderer/screens'));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-window-'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="./main.ts"></script>');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

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

test('the window has the endpoints without the schemas of the host, and the schemas that it uses itself', async () => {
  const contract = JSON.stringify(join(root, 'shared/contract/api-keys.ts'));
  const page = await buildWindow(
    `import { apiKeyInput, issueApiKey } from ${contract};
    globalThis.built = { endpoint: issueApiKey, name: apiKeyInput.safeParse({ name: '' }).error.issues[0].message };`,
  );
  const [, script] = /src="\/(assets\/[^"]+)"/.exec(page) ?? [];
  const file = join(folder, 'out', script!);
  await import(pathToFileURL(file).href);
  const { endpoint, name } = (globalThis as { built?: { endpoint: object; name: string } }).built!;
  const { body: _, response, ...remaining } = issueApiKey;
  expect(endpoint).toEqual(remaining);
  expect(response).toBeDefined();
  expect(name).toBe('must not be empty');
  expect(readFileSync(file, 'utf8')).not.toContain('creditsUsed');
});

type Output = Rolldown.RolldownOutput['output'][number];

/** The product's window, built in memory. */
async function buildProduct(): Promise<ReadonlyMap<string, Output>> {
  // Otherwise the libraries' own checks for tests are in it.
  vi.stubEnv('NODE_ENV', 'production');
  const built = await build({ configFile: join(root, 'vite.config.ts'), logLevel: 'silent', build: { write: false } });
  const { output } = built as Rolldown.RolldownOutput;
  return new Map(output.map((file) => [file.fileName, file]));
}

/** A file with everything that must be loaded before it runs. */
function neededBy(name: string, files: ReadonlyMap<string, Output>, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  const file = files.get(name);
  if (file?.type !== 'chunk') return found;
  for (const style of file.viteMetadata?.importedCss ?? []) found.add(style);
  for (const other of file.imports) neededBy(other, files, found);
  return found;
}

function modulesOf(names: Iterable<string>, files: ReadonlyMap<string, Output>): string {
  return [...names]
    .map((name) => files.get(name))
    .flatMap((file) => (file?.type === 'chunk' ? Object.keys(file.modules) : []))
    .join('\n');
}

test('the first paint needs at most 250 KB, compressed, and no screen; the first screen needs few files', async () => {
  const files = await buildProduct();
  const entry = [...files.values()].find((file) => file.type === 'chunk' && file.isEntry)!;
  const needed = neededBy(entry.fileName, files);
  const bytes = [...needed, 'index.html'].map((name) => {
    const file = files.get(name)!;
    return gzipSync(file.type === 'chunk' ? file.code : file.source).byteLength;
  });
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250 * 1024);
  expect(modulesOf(needed, files)).not.toMatch(/codemirror|node_modules\/marked|markdown-view|playground-screen/);

  const chunks = [...files.values()].filter((file) => file.type === 'chunk');
  const screen = chunks.find(({ modules }) => Object.keys(modules).some((id) => id.endsWith('/playground-screen.tsx')));
  const playground = neededBy(screen!.fileName, files);
  expect(modulesOf(playground, files)).toMatch(/codemirror/);
  expect(modulesOf(playground, files)).not.toMatch(/markdown-view|schema-dialog|tools-view/);
  // A start waits for each file.
  const remaining = [...playground].filter((name) => !needed.has(name));
  expect(remaining.length).toBeLessThanOrEqual(12);

  const page = String((files.get('index.html') as Rolldown.OutputAsset).source);
  const listed = (name: string) => JSON.parse(new RegExp(`data-${name}='([^']+)'`).exec(page)![1]!) as unknown;
  const screens = listed('screens') as Record<string, string[]>;
  expect(Object.keys(screens).toSorted()).toEqual(screenIds.toSorted());
  expect(screens['playground']!.toSorted()).toEqual(remaining.toSorted());
  expect(listed('fonts')).toEqual([
    expect.stringMatching(/^assets\/inter-latin-wght-normal-[\w-]+\.woff2$/),
    expect.stringMatching(/^assets\/jetbrains-mono-latin-wght-normal-[\w-]+\.woff2$/),
  ]);
  for (const name of Object.values(screens).flat()) expect(files.has(name)).toBe(true);
  // V8 reads the line only before all code.
  for (const { code } of chunks) expect(code.slice(0, 29)).toBe('//# allFunctionsCalledOnLoad\n');
}, 60_000);
