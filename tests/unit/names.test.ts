// @module-tag slow
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** The peers that a benchmark installs. */
const exclude = ['**/node_modules/**', 'tests/fixtures/**'];

interface OutdatedWord {
  /** A word of a name, or several that follow one another, in lower case. */
  readonly word: string;
  readonly write: string;
  /** Names in which the word is right, such as bank accounts. */
  readonly except?: readonly string[];
}

const outdated = JSON.parse(readFileSync(join(root, 'tests/fixtures/names.json'), 'utf8')) as OutdatedWord[];

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** `createRunList` and `create-run-list` are ` create run list `. */
function wordsOf(name: string): string {
  return ` ${name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .toLowerCase()} `;
}

function findOutdated(name: string): string[] {
  const words = wordsOf(name);
  return outdated
    .filter(({ word, except }) => words.includes(` ${word} `) && !except?.includes(name))
    .map(({ write }) => `${name}: write ${write}`);
}

/** Names that a node declares. Keys of plain objects are left out: many of them are stored or sent. */
function declaredNames(node: Node): unknown[] {
  if (/^(Function|Class|TSInterface|TSTypeAlias|TSEnum)/.test(node.type)) return [node['id'], node['params']];
  if (node.type === 'ArrowFunctionExpression') return [node['params']];
  if (node.type === 'VariableDeclarator') return [node['id']];
  if (/^(TSPropertySignature|TSMethodSignature|PropertyDefinition|MethodDefinition)$/.test(node.type))
    return [node['key']];
  return [];
}

function identifiersIn(pattern: unknown): string[] {
  if (Array.isArray(pattern)) return pattern.flatMap(identifiersIn);
  if (typeof pattern !== 'object' || pattern === null) return [];
  const { type, name, elements, properties, value, left, argument } = pattern as Node;
  if (type === 'Identifier' || type === 'PrivateIdentifier') return [String(name)];
  return [elements, properties, type === 'Property' ? value : null, left, argument].flatMap(identifiersIn);
}

function namesIn(node: unknown, names: Set<string>): Set<string> {
  if (Array.isArray(node)) for (const child of node) namesIn(child, names);
  else if (typeof node === 'object' && node !== null) {
    if (typeof (node as Node).type === 'string') {
      for (const name of declaredNames(node as Node).flatMap(identifiersIn)) names.add(name);
    }
    for (const child of Object.values(node)) namesIn(child, names);
  }
  return names;
}

/** Its names are tables and columns of existing databases. */
const schema = 'electron/storage/schema.ts';

test.each(['electron', 'renderer', 'shared', 'scripts', 'benchmarks', 'tests'])(
  '%s declares no outdated name',
  (folder) => {
    const found = globSync(`${folder}/**/*.{ts,tsx,mjs}`, { cwd: root, exclude }).flatMap((file) => {
      if (file === schema) return [];
      const lang = file.endsWith('.tsx') ? 'tsx' : file.endsWith('.mjs') ? 'js' : 'ts';
      const names = namesIn(parseAst(readFileSync(join(root, file), 'utf8'), { lang }), new Set());
      return [...names].flatMap((name) => findOutdated(name).map((finding) => `${file}: ${finding}`));
    });
    expect(found).toEqual([]);
  },
);

test('no path has an outdated name', () => {
  const paths = globSync('{electron,renderer,shared,scripts,benchmarks,tests,docs}/**/*', {
    cwd: root,
    exclude: ['tests/fixtures/**', 'benchmarks/peers/**'],
  });
  expect(paths.flatMap((path) => findOutdated(path))).toEqual([]);
});

test.each([
  ['sentenceCutter', ['sentenceCutter: write chunker']],
  ['passage-shelf', ['passage-shelf: write store or staging']],
  ['shelfless', []],
  ['retryHeldRuns', ['retryHeldRuns: write retry buffer']],
  ['runsHeld', []],
  ['findAccounts', []],
  ['providerAccounts', ['providerAccounts: write credentials']],
])('finds what is outdated in the name %s', (name, findings) => {
  expect(findOutdated(name)).toEqual(findings);
});
