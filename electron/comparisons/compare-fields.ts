import type { ComparisonFields, FieldAgreement } from '../../shared/contract/comparison-results.ts';
import type { DatasetColumn, RowValues } from '../../shared/contract/datasets.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { ReadComparison } from './trend.ts';
import { matches } from './checks/expected.ts';
import { createTurns } from './turns.ts';

/** A longer answer is not compared field by field. */
export const maxComparedCharacters = 100_000;
const maxFields = 100;

type Fields = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Fields | null {
  if (typeof value !== 'string')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  if (!value.trimStart().startsWith('{') || value.length > maxComparedCharacters) return null;
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return null;
  }
}

/** The fields that the answers of a row should have: those of the first expected value that is a JSON object. */
export function expectedFields(values: RowValues, columns: readonly DatasetColumn[]): Fields | null {
  for (const { name, type } of columns) {
    const fields = type === 'expected' ? objectOf(values[name]) : null;
    if (fields && Object.keys(fields).length > 0) return fields;
  }
  return null;
}

function comparedNames(expected: Fields): string[] {
  return Object.keys(expected).slice(0, maxFields);
}

/** Which of the expected fields an answer has with their values. A text that isn't a JSON object has none of them. */
export function compareFields(expected: Fields, answer: string): FieldAgreement {
  const actual = objectOf(answer) ?? {};
  const names = comparedNames(expected);
  const wrong = names.filter((name) => !Object.hasOwn(actual, name) || !matches(actual[name], expected[name], true));
  return { agreeing: names.length - wrong.length, total: names.length, wrong };
}

/** Answers that are compared field by field; each takes some microseconds, or milliseconds if it is long. */
const maxAnswers = 20_000;

/** Counts by field and variant how many answers have the expected value. */
export async function fieldsOf(
  { comparison, setup }: Pick<ReadComparison, 'comparison' | 'setup'>,
  datasets: Pick<DatasetStore, 'read' | 'rows'>,
  store: {
    runIds(row: number): readonly (string | null)[];
    answer(runId: string, maxCharacters: number): string | null;
  },
  signal: AbortSignal,
): Promise<ComparisonFields> {
  const { datasetId, datasetVersion, settings } = comparison;
  const { columns } = datasets.read(datasetId, datasetVersion);
  const fields = new Map<string, { agreeing: number; answers: number }[]>();
  const giveTurn = createTurns(() => signal.throwIfAborted());
  let [rows, answers, row] = [0, 0, 0];
  for (; row < settings.rowCount && answers < maxAnswers; row += 1) {
    if (!columns.some(({ type }) => type === 'expected')) break;
    await giveTurn();
    const [found] = datasets.rows(datasetId, datasetVersion, { offset: row, limit: 1, maxBytes: Infinity });
    const expected = found ? expectedFields(found.values, columns) : null;
    if (!expected) continue;
    rows += 1;
    const names = comparedNames(expected);
    for (const [cell, runId] of store.runIds(row).entries()) {
      const answer = runId === null ? null : store.answer(runId, maxComparedCharacters);
      if (answer === null) continue;
      answers += 1;
      const wrong = new Set(compareFields(expected, answer).wrong);
      for (const name of names) {
        const counts = fields.get(name) ?? setup.variants.map(() => ({ agreeing: 0, answers: 0 }));
        fields.set(name, counts);
        const count = counts[Math.floor(cell / settings.repeats)]!;
        count.answers += 1;
        if (!wrong.has(name)) count.agreeing += 1;
      }
      await giveTurn();
    }
  }
  return {
    rows,
    isComplete: row === settings.rowCount || answers < maxAnswers,
    fields: [...fields].map(([name, variants]) => ({ name, variants })),
  };
}
