/**
 * npm run tool -- judge-promptfoo: checks our files with promptfoo itself. Each file of `tests/fixtures/prompts/promptfoo/judged` is
 * imported, exported and rendered by promptfoo for the tests of the original, with the same result as the original. promptfoo is large,
 * so it is installed separately in `.cache`, outside the project's dependencies.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { parse } from 'yaml';
import { withModel } from '../electron/prompts/transfer/model-names.ts';
import { promptContent } from '../shared/prompt-content.ts';
import { readPrompts } from '../electron/prompts/transfer/read-prompts.ts';
import { writePromptfoo } from '../electron/prompts/transfer/writers/promptfoo.ts';
import { root, runToEnd } from './project-node.mjs';

parseArgs();
const version = '0.123.1';
const folder = join(root, '.cache/judges', `promptfoo-${version}`);
const fixtures = join(root, 'tests/fixtures/prompts/promptfoo/judged');
const work = mkdtempSync(join(tmpdir(), 'touchstone-promptfoo-'));
const environment = {
  ...process.env,
  PROMPTFOO_CONFIG_DIR: join(work, 'config'),
  PROMPTFOO_DISABLE_TELEMETRY: '1',
  PROMPTFOO_DISABLE_UPDATE: '1',
  PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
};

async function run(command: string, parameters: readonly string[]): Promise<void> {
  const options = { cwd: folder, env: environment, shell: process.platform === 'win32' && command === 'npm' };
  const status = await runToEnd(command, [...parameters], options);
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')} ended with ${status}`);
}

function readJson<Value>(file: string): Value {
  return JSON.parse(readFileSync(file, 'utf8')) as Value;
}

/** No install script runs, and of the optional dependencies only the database is installed, which promptfoo needs to start. */
async function install(): Promise<void> {
  const quiet = ['install', '--save-exact', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  await run('npm', [...quiet, `promptfoo@${version}`]);
  const { optionalDependencies } = readJson<{ optionalDependencies: Record<string, string> }>(
    join(folder, 'node_modules/libsql/package.json'),
  );
  const ours = Object.entries(optionalDependencies).filter(([name]) =>
    name.includes(`${process.platform}-${process.arch}`),
  );
  await run('npm', [...quiet, ...ours.map((entry) => entry.join('@'))]);
  writeFileSync(join(folder, 'complete'), '');
}

interface Suite {
  readonly prompts: readonly unknown[];
  readonly tests: readonly unknown[];
  readonly defaultTest?: unknown;
}

interface Case {
  readonly name: string;
  readonly original: Suite;
  readonly exported: Suite;
  readonly files: readonly string[];
}

function caseOf(name: string): Case {
  const text = readFileSync(join(fixtures, name), 'utf8');
  const { prompts, entries } = readPrompts({ name, content: text, format: null, variableStyle: null, folder: null });
  if (entries.length > 0) throw new Error(`${name}: ${entries.map(({ message }) => message).join('; ')}`);
  const files = prompts.map((prompt) => {
    const content = promptContent(withModel(prompt, (aiSystem) => aiSystem ?? 'OpenAi').prompt);
    return writePromptfoo({ prompt: content, version: content }).content;
  });
  const original = parse(text) as Suite;
  if (files.length !== original.prompts.length) throw new Error(`${name}: not every prompt was taken`);
  const exported = { ...original, prompts: files.flatMap((file) => (parse(file) as Suite).prompts) };
  return { name, original, exported, files };
}

/** Messages of a chat are equal regardless of the format of their JSON. */
function meaning(rendered: string): unknown {
  try {
    return JSON.parse(rendered) as unknown;
  } catch {
    return rendered;
  }
}

/** A single text is a user message, and a developer message is a system message. */
function asMessages(value: unknown): unknown {
  if (!Array.isArray(value)) return [{ role: 'user', content: typeof value === 'string' ? value.trim() : value }];
  return value.map((message: { role: string; content: unknown }) => ({
    ...message,
    role: message.role === 'developer' ? 'system' : message.role,
  }));
}

async function validate(cases: readonly Case[]): Promise<number> {
  const files = cases.flatMap(({ name, files: exported }) =>
    exported.map((content, index) => {
      const file = join(work, `${name}.${index}.yaml`);
      writeFileSync(file, content);
      return file;
    }),
  );
  for (const file of files) await run(process.execPath, [entryPoint, 'validate', 'config', '-c', file]);
  return files.length;
}

const entryPoint = join(folder, 'node_modules/promptfoo/dist/src/entrypoint.js');
if (!existsSync(join(folder, 'complete'))) await install();
const cases = readdirSync(fixtures).map(caseOf);
const [questions, answers] = [join(work, 'questions.json'), join(work, 'answers.json')];
writeFileSync(questions, JSON.stringify(cases.flatMap(({ original, exported }) => [original, exported])));
await run(process.execPath, [join(root, 'scripts/promptfoo-evaluate.mjs'), folder, questions, answers]);
const rendered = readJson<string[][]>(answers);
let compared = 0;
for (const [index, { name }] of cases.entries()) {
  const [before, after] = [rendered[2 * index]!, rendered[2 * index + 1]!];
  if (before.length !== after.length) throw new Error(`${name}: ${before.length} renderings became ${after.length}`);
  before.forEach((text, position) => {
    const [one, other] = [asMessages(meaning(text)), asMessages(meaning(after[position]!))];
    if (text.startsWith('error:') || !isDeepStrictEqual(one, other)) {
      throw new Error(`${name}: promptfoo renders\n${JSON.stringify(one)}\nand after export\n${JSON.stringify(other)}`);
    }
    compared += 1;
  });
}
const validated = await validate(cases);
process.stdout.write(
  `promptfoo ${version}: ${compared} renderings of ${cases.length} files are the same after import and export; ${validated} exported files are valid.\n`,
);
