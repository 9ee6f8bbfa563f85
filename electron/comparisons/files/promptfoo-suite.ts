import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Check } from '../../../shared/contract/checks.ts';
import type { DatasetColumn } from '../../../shared/contract/datasets.ts';
import {
  isMap,
  mapIn,
  plain,
  readJson,
  type ReadMap,
  readYaml,
  textIn,
} from '../../prompts/transfer/bounded-values.ts';
import { finishDraft, type FinishedPrompt } from '../../prompts/transfer/finish-draft.ts';
import { readObjectFiles, readScriptFile, readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import { readPromptfoo } from '../../prompts/transfer/formats/promptfoo.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';
import { NotJudged } from '../checks/expected.ts';
import { runTransform } from '../checks/script-runner.ts';
import { checksOf } from './assertion-checks.ts';
import { type ComparisonFile, type FileOptions, type Unsupported } from './comparison-file.ts';
import { filesOnDisk } from './files-on-disk.ts';
import { readAssertion } from './promptfoo-assertions.ts';
import { list, variantsOf } from './promptfoo-providers.ts';
import { transformVarsOf } from './promptfoo-scripts.ts';
import { JudgeList, type RowAssertion } from './row-assertion.ts';
import { isTest, rowTest } from './table-rows.ts';

/** Fields that a comparison takes, or that change nothing in its results. */
const knownFields = new Set([
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'scenarios',
  'evaluateOptions',
  'description',
  'metadata',
  'tags',
  '$schema',
  'sharing',
  'outputPath',
  'commandLineOptions',
  'writeLatestResults',
  // The providers of promptfoo, whose keys Touchstone has from a person.
  'env',
]);
const knownTestFields = new Set(['vars', 'assert', 'description', 'options', 'metadata', 'disableCache']);
const knownOptions = new Set([
  'provider',
  'disableVarExpansion',
  'disableDefaultAsserts',
  'transform',
  'transformVars',
  'postprocess',
  'rubricPrompt',
]);
const knownEvaluateOptions = new Set([
  'maxConcurrency',
  'repeat',
  'cache',
  'showProgressBar',
  'verbose',
  'interactiveProviders',
  // A comparison waits as long as a provider asks for.
  'delay',
]);

interface Test {
  readonly vars: ReadonlyMap<string, unknown>;
  readonly assertions: readonly ReadMap[];
  readonly grader: string | null;
  /** Code that changes the answer before its assertions; null for none. */
  readonly transform: string | null;
  /** Code that makes other variables of these; null for none. */
  readonly transformVars: string | null;
  /** Of the judge; undefined for that of its kind. */
  readonly rubricPrompt: unknown;
  readonly field: string;
}

/** Reads one configuration. */
class SuiteReader {
  readonly unsupported: Unsupported[] = [];
  readonly judges = new JudgeList();
  readonly files: ReferencedFiles;
  readonly #options: FileOptions;

  constructor(files: ReferencedFiles, options: FileOptions) {
    this.files = files;
    this.#options = options;
  }

  get chosenModel(): string | null {
    return this.#options.model;
  }

  /** Judges where this machine lacks the model that the file names. */
  get fallbackJudge(): string | null {
    return this.#options.judge;
  }

  readonly report = (field: string, reason: string): void => {
    if (this.unsupported.some((one) => one.field === field && one.reason === reason)) return;
    this.unsupported.push({ field, reason });
  };

  attempt<Result>(field: string, read: () => Result): Result | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      this.report(field, error.message);
      return null;
    }
  }

  readonly objects = (value: unknown, field: string): ReadMap[] =>
    list(value).flatMap((item) => {
      if (isMap(item)) return [item];
      if (typeof item === 'string') {
        if (/^(?:https?|huggingface|az|s3):\/\//.test(item))
          this.report(field, `${item.slice(0, 100)} is not a file on this machine`);
        else return this.attempt(field, () => readObjectFiles(item, this.files)) ?? [];
      } else this.report(field, 'is neither an object nor the name of a file');
      return [];
    });

  unknownFields(map: ReadMap, known: ReadonlySet<string>, field: string): void {
    for (const key of map.keys())
      if (!known.has(key)) this.report(field === '' ? key : `${field}.${key}`, 'has no counterpart');
  }

  /** The values of one test, with lists expanded to a test for each of their values, as promptfoo does. */
  varsOf(value: unknown, field: string, isExpanded: boolean): Map<string, unknown>[] {
    const merged = new Map<string, unknown>();
    for (const map of this.objects(value, `${field}.vars`)) for (const [name, given] of map) merged.set(name, given);
    let sets: Map<string, unknown>[] = [new Map()];
    for (const [name, given] of merged) {
      const values = isExpanded && Array.isArray(given) ? given : [given];
      const read = values.map((one) =>
        typeof one === 'string' && one.startsWith('file://')
          ? this.attempt(`${field}.vars.${name}`, () => readValueFile(one, this.files))
          : one,
      );
      sets = sets.flatMap((set) => read.map((one) => new Map(set).set(name, one)));
      if (sets.length > 100_000) throw new TransferError('The tests have more than 100,000 combinations of values');
    }
    return sets;
  }

  tests(value: unknown, field: string, shared: ReadMap | null): Test[] {
    const base = this.#part(shared, 'defaultTest');
    const baseVars = this.varsOf(shared?.get('vars'), 'defaultTest', false)[0]!;
    return this.objects(value, field).flatMap((test, index) => {
      const at = `${field}[${index}]`;
      const own = this.#part(isTest(test) ? test : rowTest(test), at);
      const isExpanded = mapIn(test, 'options')?.get('disableVarExpansion') !== true && isTest(test);
      const isAlone = mapIn(test, 'options')?.get('disableDefaultAsserts') === true;
      return this.varsOf(own.vars, at, isExpanded).map((vars) => ({
        vars: new Map([...baseVars, ...vars]),
        assertions: [...(isAlone ? [] : base.assertions), ...own.assertions],
        grader: own.grader ?? base.grader ?? this.#options.judge,
        transform: own.transform ?? base.transform,
        transformVars: own.transformVars ?? base.transformVars,
        rubricPrompt: own.rubricPrompt ?? base.rubricPrompt,
        field: at,
      }));
    });
  }

  #part(test: ReadMap | null, field: string): Omit<Test, 'vars'> & { readonly vars: unknown } {
    if (test === null)
      return {
        vars: null,
        assertions: [],
        grader: null,
        transform: null,
        transformVars: null,
        rubricPrompt: undefined,
        field,
      };
    this.unknownFields(test, knownTestFields, field);
    const options = mapIn(test, 'options');
    if (options) this.unknownFields(options, knownOptions, `${field}.options`);
    const provider = options?.get('provider');
    const grader = typeof provider === 'string' ? provider : isMap(provider) ? textIn(provider, 'id') : null;
    const transform = textIn(options, 'transform') ?? textIn(options, 'postprocess');
    return {
      vars: test.get('vars'),
      assertions: this.#assertions(test.get('assert'), field),
      grader,
      transform,
      transformVars: textIn(options, 'transformVars'),
      rubricPrompt: options?.get('rubricPrompt'),
      field,
    };
  }

  #assertions(value: unknown, field: string): ReadMap[] {
    return list(value).flatMap((item) => {
      if (isMap(item)) return [item];
      this.report(`${field}.assert`, 'is not an object');
      return [];
    });
  }

  prompts(text: string, name: string): FinishedPrompt['prompt'][] {
    return readPromptfoo(text, { name, files: this.files }).flatMap((draft) => {
      const finished = finishDraft(draft, { folder: null, style: null });
      if (finished) return [finished.prompt];
      const entry = draft.entries.findLast(({ outcome, field }) => outcome === 'refused' && field === 'prompt');
      this.report('prompts', entry?.message ?? `${draft.name} can't be read`);
      return [];
    });
  }
}

/** The tests with the variables that their code makes. Each takes a second and 64 MB at most, without files and network. */
async function withTransformedVars(tests: readonly Test[], { files, report }: SuiteReader): Promise<Test[]> {
  const transformed: Test[] = [];
  for (const test of tests) {
    const { transformVars: written, vars } = test;
    if (written === null) {
      transformed.push(test);
      continue;
    }
    try {
      const code = written.trim().startsWith('file://') ? readScriptFile(written, files) : written;
      const row = plain(vars);
      const input = { answer: '', row, toolCalls: [], latencyMs: null, cost: null };
      const made = readJson(await runTransform(transformVarsOf(code, randomUUID()), input));
      if (!isMap(made)) throw new TransferError('It returned no object');
      transformed.push({ ...test, vars: made });
    } catch (error) {
      if (!(error instanceof TransferError || error instanceof NotJudged)) throw error;
      report(`${test.field.replace(/\[\d+\]$/, '')}.options.transformVars`, `can't be used. ${error.message}`);
      transformed.push(test);
    }
  }
  return transformed;
}

function datasetOf(tests: readonly Test[], reader: SuiteReader) {
  const { report: unsupported, judges, files, fallbackJudge } = reader;
  const assertions = tests.map(({ assertions: maps, ...test }): RowAssertion[] =>
    maps.flatMap((map) => readAssertion(map, { ...test, unsupported, judges, files, fallbackJudge })),
  );
  const { checks: found, columns: expected, values } = checksOf(assertions);
  // A judge of pairs is no check: it looks at two answers. Rows without its criterion have no pair for it.
  const judgeOf = (check: Check): string | null =>
    'checks' in check
      ? (check.checks.map(judgeOf).find((id) => id !== null) ?? null)
      : check.kind === 'judge' && judges.inputs.get(check.judgeId)?.verdict.kind === 'preference'
        ? check.judgeId
        : null;
  const checks = found.filter((check) => judgeOf(check) === null);
  const pairJudges = found.flatMap((check) => judgeOf(check) ?? []);
  const names = [...new Set(tests.flatMap(({ vars }) => [...vars.keys()]))];
  const isText = (name: string) => tests.every(({ vars }) => typeof (vars.get(name) ?? '') === 'string');
  const columns: DatasetColumn[] = [
    ...names.map((name) => ({ name, type: isText(name) ? ('text' as const) : ('json' as const) })),
    ...expected.map((name) => ({ name, type: 'expected' as const })),
  ];
  const rows = tests.map(({ vars }, index) => ({
    ...Object.fromEntries([...vars].filter(([, value]) => value !== null).map(([name, value]) => [name, plain(value)])),
    ...values[index],
  }));
  if (columns.length > 0) return { checks, pairJudges, columns, rows };
  // A prompt without variables runs once for each test.
  return {
    checks,
    pairJudges,
    columns: [{ name: 'test', type: 'json' as const }],
    rows: tests.map((_, index) => ({ test: index + 1 })),
  };
}

/** A configuration of promptfoo. Throws `TransferError` for a file that is none. */
export async function readPromptfooSuite(file: string, text: string, options: FileOptions): Promise<ComparisonFile> {
  const value = /\.json$/i.test(file) ? readJson(text) : readYaml(text).value;
  if (!isMap(value) || !value.has('prompts')) throw new TransferError('It has no prompts');
  const reader = new SuiteReader(filesOnDisk(file), options);
  reader.unknownFields(value, knownFields, '');
  const evaluate = mapIn(value, 'evaluateOptions');
  if (evaluate) reader.unknownFields(evaluate, knownEvaluateOptions, 'evaluateOptions');
  const shared = value.get('defaultTest');
  const defaultTest = shared === undefined ? null : (reader.objects(shared, 'defaultTest')[0] ?? null);
  const given = value.get('tests');
  const scenarios = reader.objects(value.get('scenarios'), 'scenarios').flatMap((scenario, index) =>
    reader.objects(scenario.get('config'), `scenarios[${index}].config`).flatMap((config) => {
      const vars = reader.varsOf(config.get('vars'), `scenarios[${index}].config`, true);
      const tests = reader.tests(scenario.get('tests') ?? [new Map()], `scenarios[${index}].tests`, defaultTest);
      return vars.flatMap((own) => tests.map((test) => ({ ...test, vars: new Map([...own, ...test.vars]) })));
    }),
  );
  const own =
    given === undefined && scenarios.length > 0
      ? []
      : reader.tests(given ?? [new Map([['vars', new Map()]])], 'tests', defaultTest);
  const { checks, pairJudges, columns, rows } = datasetOf(
    await withTransformedVars([...own, ...scenarios], reader),
    reader,
  );
  const prompts = reader.prompts(/\.json$/i.test(file) ? JSON.stringify(plain(value)) : text, basename(file));
  const variants = variantsOf(prompts, value.get('providers') ?? value.get('targets'), reader);
  const [concurrency, repeats] = [evaluate?.get('maxConcurrency'), evaluate?.get('repeat')];
  return {
    comparison: {
      name: (textIn(value, 'description') ?? basename(file)).trim().slice(0, 300) || basename(file),
      variants,
      checks,
      ...(typeof concurrency === 'number' && { concurrency: Math.min(Math.max(Math.round(concurrency), 1), 64) }),
      ...(typeof repeats === 'number' && { repeats: Math.min(Math.max(Math.round(repeats), 1), 100) }),
    },
    dataset: { columns, rows },
    judges: reader.judges.inputs,
    pairJudges,
    unsupported: reader.unsupported,
  };
}
