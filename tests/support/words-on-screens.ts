import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

interface Word {
  /** A text that no screen shows any more. */
  readonly now: string;
  /** Whether it is part of a text, a text of its own, or a regular expression. */
  readonly match: 'part' | 'whole' | 'pattern';
  readonly better: string;
}

const words = JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/words.json'), 'utf8')) as Word[];
const patterns = new Map(words.map((word) => [word, new RegExp(word.now)]));

function isIn(word: Word, text: string, isLabel: boolean): boolean {
  if (word.match === 'part') return text.includes(word.now);
  return word.match === 'whole' ? isLabel && text === word.now : patterns.get(word)!.test(text);
}

/** What is wrong with a text, each finding with the better wording. A label is a text that stands alone. */
export function outdatedWords(text: string, { isLabel = true } = {}): string[] {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return words
    .filter((word) => isIn(word, plain, isLabel))
    .map(({ now, better }) => `"${now}" in "${plain.slice(0, 120)}": write "${better}"`);
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** Names of properties and attributes whose value a person reads by itself. */
const labelNames =
  /^(label|title|placeholder|aria-label|text|altText|hint|reason|note|name|caption|value)$|Label$|Title$/;

function nameOf(node: Node): string {
  const { name, value } = (node['key'] ?? node['name'] ?? {}) as { name?: unknown; value?: unknown };
  return typeof name === 'string' ? name : String(value ?? '');
}

interface SourceText {
  readonly text: string;
  readonly start: number;
  readonly isLabel: boolean;
}

function templateText(node: Node): string {
  const quasis = node['quasis'] as { value: { cooked: string } }[];
  // A number stands for every value, so that patterns with numbers match.
  return quasis.map(({ value }) => value.cooked).join('0');
}

/** Every text in a syntax tree, except names of modules and of types. */
function textsOf(node: unknown, isLabel: boolean, found: SourceText[]): void {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const child of node) textsOf(child, isLabel, found);
    return;
  }
  const { type, start } = node as Node;
  if (typeof type !== 'string' || /^(Import|Export(Named|All))|^TS/.test(type)) {
    if (type !== 'ExportNamedDeclaration' && !/^TS(As|Satisfies|NonNull)/.test(type)) return;
  }
  const of = node as Node;
  if (type === 'Literal' && typeof of['value'] === 'string') found.push({ text: of['value'], start, isLabel });
  if (type === 'JSXText') found.push({ text: of['value'] as string, start, isLabel: true });
  if (type === 'TemplateLiteral') found.push({ text: templateText(of), start, isLabel });
  const isOwnLabel = type === 'JSXAttribute' || type === 'Property' ? labelNames.test(nameOf(of)) : null;
  for (const [key, child] of Object.entries(of)) {
    if (key === 'typeAnnotation' || key === 'typeArguments' || key === 'typeParameters') continue;
    textsOf(
      child,
      isOwnLabel ?? (type === 'ConditionalExpression' || type === 'LogicalExpression' ? isLabel : false),
      found,
    );
  }
}

/** Outdated words in the sources of a folder of the project, each as `path:line`. */
export function outdatedWordsInSources(root: string, folder: string): string[] {
  const findings: string[] = [];
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const source = readFileSync(path, 'utf8');
    const texts: SourceText[] = [];
    textsOf(parseAst(source, { lang: entry.name.endsWith('x') ? 'tsx' : 'ts' }), false, texts);
    for (const { text, start, isLabel } of texts) {
      const line = source.slice(0, start).split('\n').length;
      for (const finding of outdatedWords(text, { isLabel }))
        findings.push(`${relative(root, path)}:${line}: ${finding}`);
    }
  }
  return findings;
}
