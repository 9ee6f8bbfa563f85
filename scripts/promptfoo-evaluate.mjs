// Runs inside an installation of promptfoo, which is its first parameter: reads configurations from a file, has promptfoo render
// their prompts for their tests, and writes the rendered prompts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, questions, answers] = process.argv.slice(2);
const entry = join(folder, 'node_modules/promptfoo/dist/src/index.js');
const { default: promptfoo } = await import(pathToFileURL(entry).href);

/** Without assertions: the provider only repeats its input. */
const bare = (test) => ({ vars: test?.vars ?? {} });

const rendered = [];
for (const { prompts, tests, defaultTest } of JSON.parse(readFileSync(questions, 'utf8'))) {
  const suite = { prompts, providers: ['echo'], tests: tests.map(bare), defaultTest: bare(defaultTest) };
  const evaluated = await promptfoo.evaluate(suite, { maxConcurrency: 1, cache: false });
  const summary = await (evaluated.toEvaluateSummary?.() ?? evaluated);
  const results = summary.results.toSorted(
    (one, other) => one.testIdx - other.testIdx || one.promptIdx - other.promptIdx,
  );
  rendered.push(results.map(({ response, error }) => response?.output ?? `error: ${error}`));
}
writeFileSync(answers, JSON.stringify(rendered));
process.exit(0);
