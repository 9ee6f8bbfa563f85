import { maxDatasetRows } from '../../../shared/contract/datasets.ts';
import type { JudgeProposal } from '../../../shared/contract/dataset-import.ts';
import { isMap, mapIn, plain, type ReadMap, textIn, valueText } from '../../prompts/transfer/bounded-values.ts';
import { readObjectFiles, readScriptFile, readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';
import { tooManyRows } from '../dataset-row.ts';
import { isRubric, mapAssertion, rubricPrompt } from './promptfoo-assertions.ts';
import { assertionOfCell, combinations, rendered } from './promptfoo-values.ts';
import { type RowCheck, RowChecks } from './row-checks.ts';
import { Findings, type OpenTable, type Row } from './table.ts';

/** One of promptfoo's tests, with `defaultTest` in it. */
interface Test {
  readonly vars: ReadMap;
  readonly assertions: readonly ReadMap[];
  readonly isExpanded: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
}

const empty: ReadMap = new Map();

/** What the tests are read with. */
interface Reading {
  readonly findings: Findings;
  /** Those that the tests may refer to. */
  readonly files: ReferencedFiles;
}

/** Reports what can't be read, and leaves it out. */
function attempt<Result>(field: string, { findings }: Reading, read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    findings.add('skipped', field, error.message, 1);
    return null;
  }
}

const isReference = (value: unknown): value is string => typeof value === 'string' && value.startsWith('file://');

const maps = (value: unknown): ReadMap[] => (Array.isArray(value) ? value.filter(isMap) : []);

/** Fields of a test that no dataset has. */
const unsupported = ['provider', 'providers', 'prompts', 'providerOutput', 'threshold', 'assertScoringFunction'];
const unsupportedOptions = [
  'transform',
  'transformVars',
  'postprocess',
  'prefix',
  'suffix',
  'provider',
  'rubricPrompt',
  'storeOutputAs',
];

function reportUnsupported(test: ReadMap, findings: Findings): void {
  for (const name of unsupported) if (test.has(name)) findings.add('skipped', name, 'Datasets have no such field', 1);
  for (const name of unsupportedOptions) {
    if (mapIn(test, 'options')?.has(name)) findings.add('skipped', `options.${name}`, 'Datasets have no such field', 1);
  }
}

/** An assertion whose value is in a file has it in its place. */
function withValue(assertion: ReadMap, reading: Reading): ReadMap[] {
  const value = assertion.get('value');
  if (!isReference(value)) return [assertion];
  const type = (textIn(assertion, 'type') ?? '').replace(/^not-/, '');
  const read = attempt(type, reading, () =>
    type === 'javascript' ? readScriptFile(value, reading.files) : readValueFile(value, reading.files),
  );
  return read === null ? [] : [new Map([...assertion, ['value', read]])];
}

/** Assertions, those of sets included. */
function assertionsOf(test: ReadMap, reading: Reading): ReadMap[] {
  return maps(test.get('assert'))
    .flatMap((assertion) => {
      if (textIn(assertion, 'type') !== 'assert-set') return [assertion];
      if (assertion.has('threshold'))
        reading.findings.add('changed', 'assert-set', 'All of its assertions must pass', 1);
      return maps(assertion.get('assert'));
    })
    .flatMap((assertion) => withValue(assertion, reading));
}

/** The variables of a test, with those in other files. */
function varsOf(value: unknown, reading: Reading): ReadMap {
  if (typeof value === 'string' || Array.isArray(value)) {
    const paths = [value].flat().filter((path) => typeof path === 'string');
    return new Map(
      paths.flatMap((path) =>
        (attempt('vars', reading, () => readObjectFiles(path, reading.files)) ?? []).flatMap((map) => [
          ...varsOf(map, reading),
        ]),
      ),
    );
  }
  if (!isMap(value)) return empty;
  return new Map(
    [...value].flatMap(([name, given]): [string, unknown][] => {
      if (!isReference(given)) return [[name, given]];
      const read = attempt(`vars.${name}`, reading, () => readValueFile(given, reading.files));
      return read === null ? [] : [[name, read]];
    }),
  );
}

const specialColumn =
  /^__(?:expected\d*|prefix|suffix|description|providerOutput|metric|threshold|config:.*|metadata:.*)$/;

/** A row of a CSV file: its columns are variables, except for those with two underscores. */
function testOfRow(row: ReadMap, findings: Findings): Test {
  const vars = [...row].filter(([name]) => !specialColumn.test(name));
  const metric = valueText(row.get('__metric') ?? null);
  const assertions: ReadMap[] = [];
  const extra: Record<string, unknown> = {};
  for (const [name, value] of row) {
    const text = valueText(value) ?? '';
    if (text.trim() === '') continue;
    if (/^__expected\d*$/.test(name))
      assertions.push(new Map([...assertionOfCell(text), ...(metric ? [['metric', metric] as const] : [])]));
    else if (name === '__description') extra['description'] = text;
    else if (name.startsWith('__metadata:')) extra[name.slice('__metadata:'.length).replace(/\[\]$/, '')] = text;
    else if (specialColumn.test(name) && name !== '__metric')
      findings.add('skipped', name, 'Datasets have no such field', 1);
  }
  return { vars: new Map(vars), assertions, isExpanded: false, extra };
}

const isCsvRow = (test: ReadMap) =>
  !['vars', 'assert', 'description', 'options', 'metadata'].some((key) => test.has(key));

function testOf(test: ReadMap, base: ReadMap, reading: Reading): Test {
  reportUnsupported(test, reading.findings);
  const own = isCsvRow(test) && test.size > 0 ? testOfRow(test, reading.findings) : null;
  const description = textIn(test, 'description');
  const isInherited = mapIn(test, 'options')?.get('disableDefaultAsserts') !== true;
  const options = new Map([...(mapIn(base, 'options') ?? empty), ...(mapIn(test, 'options') ?? empty)]);
  const metadata = plain(new Map([...(mapIn(base, 'metadata') ?? empty), ...(mapIn(test, 'metadata') ?? empty)]));
  return {
    vars: new Map([...varsOf(base.get('vars'), reading), ...(own?.vars ?? varsOf(test.get('vars'), reading))]),
    assertions: [
      ...(isInherited ? assertionsOf(base, reading) : []),
      ...(own?.assertions ?? assertionsOf(test, reading)),
    ],
    isExpanded: own === null && options.get('disableVarExpansion') !== true,
    extra: { ...(description !== null && { description }), ...(metadata as object), ...own?.extra },
  };
}

/** Objects that are given here or in other files. */
function* objectsOf(value: unknown, field: string, reading: Reading): Generator<ReadMap> {
  for (const entry of Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]) {
    if (isMap(entry)) yield entry;
    else if (typeof entry === 'string')
      yield* attempt(field, reading, () => readObjectFiles(entry, reading.files)) ?? [];
  }
}

/** The tests of a configuration: its own, and those of its scenarios. */
function* testsOf(config: ReadMap, reading: Reading): Generator<Test> {
  const [base = empty] = objectsOf(config.get('defaultTest'), 'defaultTest', reading);
  for (const test of objectsOf(config.get('tests'), 'tests', reading)) yield testOf(test, base, reading);
  for (const scenario of objectsOf(config.get('scenarios'), 'scenarios', reading)) {
    const tests = [...objectsOf(scenario.get('tests'), 'scenarios.tests', reading)];
    for (const each of objectsOf(scenario.get('config'), 'scenarios.config', reading)) {
      for (const test of tests.length > 0 ? tests : [empty]) {
        const vars = new Map([...(mapIn(base, 'vars') ?? empty), ...(mapIn(each, 'vars') ?? empty)]);
        const assert = [...maps(base.get('assert')), ...maps(each.get('assert'))];
        yield testOf(test, new Map<string, unknown>([...base, ...each, ['vars', vars], ['assert', assert]]), reading);
      }
    }
  }
}

/** Proposes judges for rubrics. Rubrics of one kind that differ from row to row become one judge with a column. */
class Rubrics {
  readonly #found = new Map<string, { type: string; column: string; texts: Set<string>; model: string | null }>();

  /** The values of a row for the columns of the judges. */
  add(assertions: readonly ReadMap[]): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    const used = new Map<string, number>();
    for (const assertion of assertions) {
      const type = (textIn(assertion, 'type') ?? '').replace(/^not-/, '');
      const occurrence = (used.get(type) ?? 0) + 1;
      used.set(type, occurrence);
      const key = `${type} ${occurrence}`;
      const provider = assertion.get('provider');
      const model = typeof provider === 'string' ? provider.slice(0, 300) : null;
      const name = type.replaceAll('-', '_');
      const column = occurrence === 1 ? name : `${name}_${occurrence}`;
      const known = this.#found.get(key) ?? { type, column, texts: new Set<string>(), model };
      this.#found.set(key, known);
      const text = valueText(assertion.get('value') ?? null) ?? '';
      if (known.texts.size < 2) known.texts.add(text);
      if (text !== '') values[known.column] = text;
    }
    return values;
  }

  get columns(): string[] {
    return [...this.#found.values()].map(({ column }) => column);
  }

  proposals(findings: Findings): JudgeProposal[] {
    return [...this.#found.values()].slice(0, 20).map(({ type, column, texts, model }) => {
      findings.add('changed', type, 'Became a proposal for a judge, which needs a model and labels by hand');
      const [only = ''] = texts;
      const expected = texts.size > 1 || only.includes('{{') ? `{{${column}}}` : only;
      return {
        name: column,
        promptText: rubricPrompt(type, expected).slice(0, 100_000),
        verdict: { kind: 'passOrFail' },
        model,
      };
    });
  }
}

/** The table of tests that are given one by one. */
function tableOf(tests: (findings: Findings) => Iterable<Test> | AsyncIterable<Test>): OpenTable {
  let checks = new RowChecks();
  let rubrics = new Rubrics();
  const types = new Map<string, 'expected'>();
  let last = new Findings();
  return {
    format: 'promptfoo',
    types,
    async *rows(findings) {
      checks = new RowChecks();
      rubrics = new Rubrics();
      last = findings;
      let rows = 0;
      for await (const test of tests(findings)) {
        for (const vars of combinations(test.vars, test.isExpanded)) {
          rows += 1;
          if (rows > maxDatasetRows) throw tooManyRows(rows);
          yield rowOf(test, vars, { checks, rubrics, findings });
        }
      }
      for (const column of rubrics.columns) types.set(column, 'expected');
    },
    checks: () => checks.finish(last),
    judges: () => rubrics.proposals(last),
  };
}

function rowOf(
  { assertions, extra }: Test,
  vars: Record<string, unknown>,
  { checks, rubrics, findings }: { checks: RowChecks; rubrics: Rubrics; findings: Findings },
): Row {
  const mapped: RowCheck[] = [];
  const judged: ReadMap[] = [];
  for (const assertion of assertions) {
    const fields = new Map([...assertion, ['value', rendered(assertion.get('value'), vars)]]);
    const type = textIn(fields, 'type') ?? '';
    if (isRubric(type)) {
      judged.push(fields);
      continue;
    }
    const check = mapAssertion(fields);
    if (typeof check === 'string') findings.add('skipped', type || 'assert', check, 1);
    else mapped.push(check);
  }
  return { ...extra, ...vars, ...checks.add(mapped), ...rubrics.add(judged) };
}

/** The tests of a configuration, or a list of tests. */
export function openPromptfoo(document: unknown, files: ReferencedFiles): OpenTable {
  const config = isMap(document) ? document : new Map([['tests', document]]);
  return tableOf((findings) => testsOf(config, { findings, files }));
}

const mapOf = (row: Row): ReadMap => new Map(Object.entries(row));

/** Rows of a CSV or JSONL file with promptfoo's columns, and the configuration that they belong to. */
export function openPromptfooRows(table: OpenTable, config: ReadMap | null, files: ReferencedFiles): OpenTable {
  return tableOf(async function* (findings) {
    const reading = { findings, files };
    const [base = empty] = objectsOf(config?.get('defaultTest'), 'defaultTest', reading);
    for await (const row of table.rows(findings)) yield testOf(deepMap(mapOf(row)), base, reading);
  });
}

/** Objects of parsed JSON as maps. */
function deepMap(map: ReadMap): ReadMap {
  const converted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(converted);
    if (typeof value !== 'object' || value === null || value instanceof Map) return value;
    return new Map(Object.entries(value).map(([key, item]) => [key, converted(item)]));
  };
  return new Map([...map].map(([key, value]) => [key, converted(value)]));
}
