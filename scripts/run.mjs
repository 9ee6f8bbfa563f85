import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { projectNode, runToEnd } from './project-node.mjs';

// `npm run tool -- licences --help`: the module gets its own parameters only.
const tools = [
  'conformance',
  'judge-promptfoo',
  'licences',
  'lint-api',
  'pictures',
  'promptfoo-examples',
  'train-moderation',
];
const [name = ''] = process.argv.splice(2, 1);
const parameters = process.argv.slice(2);
const module = new URL(`./${name}.ts`, import.meta.url);

/** What a module does and which parameters it takes: the comment that it begins with. */
function help() {
  const [comment = ''] = /^(\/\/.*\n)+|^\/\*[^]*?\*\//.exec(readFileSync(module, 'utf8')) ?? [];
  return comment.replaceAll(/^ ?(\/\/|\/?\*+\/?) ?/gm, '').trim();
}

async function runModule() {
  const program = await projectNode();
  if (program !== process.execPath) return runToEnd(program, [fileURLToPath(import.meta.url), name, ...parameters]);
  try {
    await import(module.href);
  } catch (error) {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    console.error(`${error.message}\n\n${help()}`);
    return 2;
  }
}

if (['serve', 'keys', 'compare'].includes(name)) {
  const node = await projectNode();
  const { runBuilt } = await import('./run-built.mjs');
  await runBuilt(name, parameters, node);
} else if (!/^[\w-]+$/.test(name) || !existsSync(module)) {
  console.error(`${name === '' ? 'Name a tool' : `Unknown tool "${name}"`}: ${tools.join(', ')}.`);
  process.exit(2);
} else if (name !== 'start-touchstone' && parameters.some((parameter) => ['-h', '--help'].includes(parameter))) {
  console.log(help());
} else {
  // A module sets the status of its own process.
  process.exitCode = (await runModule()) ?? process.exitCode;
}
