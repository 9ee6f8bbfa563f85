import { parseArgs } from 'node:util';
import { namedModel } from '../comparisons/files/comparison-file.ts';
import { type FailCondition, parseFailCondition } from '../comparisons/files/fail-condition.ts';
import { type HostOptions, hostOptionTypes, UsageError } from './command-line.ts';
import { parseFailure, toHostOptions, wantsHelp } from './host-options.ts';

export interface CompareOptions extends HostOptions {
  readonly file: string;
  /** Of a running Touchstone; null runs one in this process. */
  readonly url: string | null;
  readonly outputs: readonly string[];
  readonly failIf: readonly { readonly expression: string; readonly condition: FailCondition }[];
  readonly repeats: number | null;
  readonly maxCost: number | null;
  readonly concurrency: number | null;
  readonly maxRows: number | null;
  readonly model: string | null;
  readonly judge: string | null;
  readonly onlyEstimates: boolean;
  readonly skipsUnsupported: boolean;
}

export const compareHelp = `Compares variants over the rows of a dataset, and says which one is better.

Usage: npm run compare -- FILE [options]

FILE is a comparison as in POST /comparisons (YAML or JSON), with "dataset": {"file": "rows.csv"} or "datasetId",
or a configuration of promptfoo.

Options:
  --output FILE       Write the results; repeatable. By its ending: .json (comparison, report and conditions),
                      .xml (JUnit), .html, .md, .csv, .jsonl
  --fail-if CONDITION Exit with 1 if the whole 95 % interval says so; repeatable
                      "B < A"             the pass rate of B is below that of A, paired by row
                      "B.cost > A.cost"   the same for score, cost and latency
                      "passRate < 0.8"    of any variant; "'B 2'.passRate < 0.8" of one
  --max-cost DOLLARS  Stop before more is spent
  --repeats N         Runs of each row and variant
  --concurrency N     Runs at a time for each provider
  --max-rows N        Only the first rows
  --model NAME        Run all prompts of promptfoo's file on this model, such as Groq/openai/gpt-oss-20b
  --judge NAME        Model that judges where promptfoo's file names none
  --skip-unsupported  Run without what promptfoo's file has and Touchstone lacks
  --estimate          Only print the estimated cost and time
  --url URL           Use a running Touchstone, with a key with the scope manage in TOUCHSTONE_KEY
  --data-dir DIR      Folder with the data, for a Touchstone that isn't running
  --provider-base NAME=URL, --endpoint NAME=URL
                      As for npm run serve
  -h, --help          Show this help

Exit status: 0 passed, 1 a condition is met, 2 the command or the file is not valid, 3 not completed.

Example:
  npm run compare -- promptfooconfig.yaml --repeats 3 --max-cost 5 --output results.xml --fail-if "passRate < 0.8"`;

const helpCommand = 'npm run compare -- --help';

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        ...hostOptionTypes,
        output: { type: 'string', multiple: true, default: [] as string[] },
        'fail-if': { type: 'string', multiple: true, default: [] as string[] },
        'max-cost': { type: 'string' },
        repeats: { type: 'string' },
        concurrency: { type: 'string' },
        'max-rows': { type: 'string' },
        model: { type: 'string' },
        judge: { type: 'string' },
        'skip-unsupported': { type: 'boolean', default: false },
        estimate: { type: 'boolean', default: false },
        url: { type: 'string' },
      },
    });
  } catch (error) {
    throw parseFailure(error, helpCommand);
  }
}

function wholeNumber(option: string, text: string | undefined, max: number): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(`--${option} must be a number from 1 to ${max}, not '${text}'.`);
  return value;
}

function toCost(text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!(value > 0 && value <= 1_000_000))
    throw new UsageError(`--max-cost must be a number of US dollars, not '${text}'.`);
  return value;
}

function toModel(option: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (namedModel(text) === null)
    throw new UsageError(`--${option} must name a provider and a model, such as Groq/openai/gpt-oss-20b.`);
  return text;
}

function toUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError('--url must be an http or https address.');
  return new URL(text).origin;
}

function toCondition(expression: string) {
  try {
    return { expression, condition: parseFailCondition(expression) };
  } catch (error) {
    throw new UsageError(`--fail-if "${expression}": ${(error as Error).message}.`);
  }
}

/** Null for `--help`. Throws `UsageError`. */
export function readCompareOptions(parameters: readonly string[]): CompareOptions | null {
  if (wantsHelp(parameters)) return null;
  const { values, positionals } = parse(parameters);
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new UsageError(`Name one file. Run "${helpCommand}" to see all options.`);
  const unknown = values.output.find((name) => !/\.(?:json|xml|html|md|csv|jsonl)$/i.test(name));
  if (unknown !== undefined)
    throw new UsageError(`--output ${unknown}: the ending must be .json, .xml, .html, .md, .csv or .jsonl.`);
  return {
    ...toHostOptions(values),
    file,
    url: toUrl(values.url),
    outputs: values.output,
    failIf: values['fail-if'].map(toCondition),
    repeats: wholeNumber('repeats', values.repeats, 100),
    maxCost: toCost(values['max-cost']),
    concurrency: wholeNumber('concurrency', values.concurrency, 64),
    maxRows: wholeNumber('max-rows', values['max-rows'], 100_000),
    model: toModel('model', values.model),
    judge: toModel('judge', values.judge),
    onlyEstimates: values.estimate,
    skipsUnsupported: values['skip-unsupported'],
  };
}
