/**
 * npm run tool -- promptfoo-examples FOLDER --schema FILE: counts how many of promptfoo's example files run here, of those that promptfoo
 * accepts. `FOLDER` is `examples/` of its repository, and `--schema` its `config-schema.json`. Nothing is run: a file counts if every
 * part of it has a counterpart.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { readComparisonFile } from '../electron/comparisons/files/read-comparison-file.ts';
import { TransferError } from '../electron/prompts/transfer/source-text.ts';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    schema: { type: 'string' },
    model: { type: 'string' },
    judge: { type: 'string', default: 'openai:gpt-4.1' },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('Usage: npm run tool -- promptfoo-examples FOLDER [--schema FILE] [--model NAME] [--judge NAME]');
  process.exit(2);
}

const from = process.env['INIT_CWD'] ?? process.cwd();
const schema =
  values.schema === undefined ? null : (JSON.parse(readFileSync(resolve(from, values.schema), 'utf8')) as object);
const accepts = schema ? new Ajv({ strict: false, logger: false, unicodeRegExp: false }).compile(schema) : () => true;

function isAccepted(file: string): boolean {
  try {
    return accepts(parse(readFileSync(file, 'utf8'), { merge: true })) === true;
  } catch {
    return false;
  }
}

/** What a file needs and Touchstone lacks. */
async function missingIn(file: string): Promise<string[]> {
  try {
    const { unsupported, comparison } = await readComparisonFile(file, {
      model: values.model ?? null,
      judge: values.judge,
    });
    if (unsupported.length === 0 && comparison.variants.length === 0) return ['no variants'];
    return unsupported.map(({ field, reason }) => `${field.replaceAll(/\[\d+\]/g, '')} ${reason}`);
  } catch (error) {
    if (error instanceof TransferError) return [error.message];
    throw error;
  }
}

/** What keeps files from running, by their first reason. */
const categories: readonly (readonly [name: string, reason: RegExp])[] = [
  ['red-teaming', /^redteam/],
  ['a provider without a counterpart', /^providers: (?!file:|python:)/],
  [
    'Python and other code for prompts, values, providers and assertions',
    /python|is code|^providers: |isn't JavaScript|extensions/,
  ],
  ['images, sound and other files in prompts and values', /contains an image|isn't a text file/],
  ["a provider's own tools and settings", /config\.|\.tools |response_format/],
  ['data sets on the web', /is not a file on this machine|stored in Langfuse/],
  ['a kind of assertion', /^tests: /],
];

function categoryOf(reasons: readonly string[]): string {
  const found = categories.find(([, pattern]) => reasons.some((reason) => pattern.test(reason)));
  return found?.[0] ?? 'other fields and templates';
}

const files = globSync('**/promptfooconfig*.{yaml,yml}', { cwd: resolve(from, folder) }).map((name) =>
  join(resolve(from, folder), name),
);
const accepted = files.filter(isAccepted);
const missing: string[][] = [];
for (const file of accepted) missing.push(await missingIn(file));
const running = missing.filter((reasons) => reasons.length === 0).length;
const failing = Object.entries(
  Object.groupBy(
    missing.filter((reasons) => reasons.length > 0),
    categoryOf,
  ),
);
for (const [category, all] of failing.toSorted(([, one], [, other]) => other!.length - one!.length))
  console.log(`${String(all!.length).padStart(4)}  ${category}`);
console.log();
const reasons = new Map<string, number>();
for (const reason of missing.flatMap((all) => [...new Set(all)])) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
console.log(`${files.length} files, ${accepted.length} accepted by promptfoo, ${running} of these run here.`);
for (const [reason, count] of [...reasons].toSorted(([, one], [, other]) => other - one).slice(0, 40))
  console.log(`${String(count).padStart(4)}  ${reason.slice(0, 150)}`);
