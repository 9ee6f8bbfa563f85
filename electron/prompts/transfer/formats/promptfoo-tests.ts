import { isMap, mapIn, valueText, type ReadMap, type ReadYaml } from '../bounded-values.ts';
import type { PromptVariable } from '../../../../shared/contract/prompts.ts';
import type { TransferEntry } from '../../../../shared/contract/prompt-transfer.ts';
import { note } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import type { ReferencedFiles } from '../referenced-files.ts';
import { readObjectFiles, readValueFile } from './promptfoo-files.ts';

/** Further tests are only counted. */
const maxTests = 100;
/** A longer value would make every prompt that uses it as large. */
const maxValueCharacters = 100_000;
/** Fields of objects that become separate values, for templates that use them: `customer.name`. */
const maxFields = 200;

export interface SuiteVariables {
  readonly variables: ReadonlyMap<string, Partial<PromptVariable>>;
  readonly entries: readonly TransferEntry[];
}

/** `customer` and `customer.name`: a template may use the object or a field of it. */
function* valuesIn(name: string, value: unknown): Generator<readonly [string, unknown]> {
  yield [name, value];
  if (isMap(value)) for (const [key, inner] of value) yield* valuesIn(`${name}.${key}`, inner);
}

class SuiteReader {
  readonly variables = new Map<string, Partial<PromptVariable>>();
  readonly entries: TransferEntry[] = [];
  private readonly files: ReferencedFiles;

  constructor(files: ReferencedFiles) {
    this.files = files;
  }

  skip(field: string, message: string, line: number | null): void {
    note(this, 'refused', field, message, line);
  }

  /** The result of reading a file, or nothing with the reason in the report. */
  attempt<Result>(field: string, line: number | null, read: () => Result): Result | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      this.skip(field, error.message, line);
      return null;
    }
  }

  /** Objects of the configuration or of files that it names. */
  objects(value: unknown, field: string, line: number | null): ReadMap[] {
    const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    return list.flatMap((item) => {
      if (isMap(item)) return [item];
      if (typeof item !== 'string') return [];
      return this.attempt(field, line, () => readObjectFiles(item, this.files)) ?? [];
    });
  }

  /** Sets the default or sample of variables. Returns whether one of them had none yet. */
  take(vars: unknown, kind: 'defaultValue' | 'sampleValue', line: number | null): boolean {
    const field = kind === 'defaultValue' ? 'defaultTest' : 'tests';
    let isNew = false;
    for (const values of this.objects(vars, field, line)) {
      for (const [name, given] of values) {
        if (this.variables.get(name)?.[kind] != null) continue;
        isNew = true;
        const isFile = typeof given === 'string' && given.startsWith('file://');
        this.set(name, isFile ? this.attempt(field, line, () => readValueFile(given, this.files)) : given, kind, line);
      }
    }
    return isNew;
  }

  private set(name: string, value: unknown, kind: 'defaultValue' | 'sampleValue', line: number | null): void {
    let fields = 0;
    for (const [path, inner] of valuesIn(name, value)) {
      if (++fields > maxFields) break;
      const text = valueText(inner);
      if (text !== null && text.length > maxValueCharacters) {
        const limit = maxValueCharacters.toLocaleString('en');
        this.skip('tests', `The value of ${path.slice(0, 100)} is longer than ${limit} characters`, line);
      } else this.variables.set(path, { ...this.variables.get(path), [kind]: text });
    }
  }
}

/** A row of a CSV file is a test whose columns are variables, except for those that begin with two underscores. */
function varsOf(test: ReadMap): unknown {
  if (test.has('vars')) return test.get('vars');
  const isTest = [...test.keys()].some((key) => key === 'assert' || key === 'description' || key === 'options');
  return isTest ? null : new Map([...test].filter(([key]) => !key.startsWith('__')));
}

const hasAssertions = (test: ReadMap) =>
  test.has('assert') || [...test.keys()].some((key) => key.startsWith('__expected'));

/** Values of `defaultTest` become defaults; those of the first test with the variable become samples. */
export function readSuiteVariables(
  fields: ReadMap,
  lineOf: ReadYaml['lineOf'],
  files: ReferencedFiles,
): SuiteVariables {
  const reader = new SuiteReader(files);
  const defaultLine = lineOf(['defaultTest']);
  for (const test of reader.objects(fields.get('defaultTest'), 'defaultTest', defaultLine))
    reader.take(mapIn(test, 'vars') ?? test.get('vars'), 'defaultValue', defaultLine);
  const line = lineOf(['tests']);
  const tests = reader.objects(fields.get('tests'), 'tests', line);
  let others = Math.max(0, tests.length - maxTests);
  for (const test of tests.slice(0, maxTests)) if (!reader.take(varsOf(test), 'sampleValue', line)) others += 1;
  if (others > 0) reader.skip('tests', `Skipped the values of ${others} more tests; a variable has one sample`, line);
  if (tests.some(hasAssertions)) reader.skip('tests', "Prompts can't contain assertions", line);
  return reader;
}
