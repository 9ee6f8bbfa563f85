/** The values of a dataset's row by column: text, any JSON, or a file. */
export type CheckedRow = Readonly<Record<string, unknown>>;

/** A check that can't be judged, such as for a row without an expected value. */
export class NotJudged extends Error {}

function columnValue(row: CheckedRow, column: string): unknown {
  const value = Object.hasOwn(row, column) ? row[column] : null;
  if (value !== null && value !== undefined) return value;
  throw new NotJudged(`The row has no value in the column "${column.slice(0, 60)}"`);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const placeholder = /\{\{([^{}]*)\}\}/g;

/** Replaces each `{{column}}`. */
export function fillText(
  template: string,
  row: CheckedRow,
  convert: (text: string) => string = (text) => text,
): string {
  return template.replaceAll(placeholder, (_, name: string) => convert(asText(columnValue(row, name.trim()))));
}

/** The value of a text that is nothing but `{{column}}`, or else the filled text. */
function fillValue(template: string, row: CheckedRow): unknown {
  const name = /^\{\{([^{}]*)\}\}$/.exec(template)?.[1];
  return name === undefined ? fillText(template, row) : columnValue(row, name.trim());
}

/** The expected value: that of a column, or a text with its columns filled in. */
export function expectedValue(
  check: { readonly value?: string | undefined; readonly column?: string | undefined },
  row: CheckedRow,
): unknown {
  return check.column === undefined ? fillValue(check.value ?? '', row) : columnValue(row, check.column);
}

export function expectedText(check: Parameters<typeof expectedValue>[0], row: CheckedRow): string {
  return asText(expectedValue(check, row));
}

/** Fills the texts in expected arguments of any depth. */
export function fillDeep(expected: unknown, row: CheckedRow): unknown {
  if (typeof expected === 'string') return fillValue(expected, row);
  if (Array.isArray(expected)) return expected.map((item) => fillDeep(item, row));
  if (typeof expected !== 'object' || expected === null) return expected;
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, fillDeep(value, row)]));
}

/**
 * Whether a value has everything that is expected; objects may have more. Recursion ends with the expected value, which is within the
 * limits of a request, so that an answer of any depth is safe.
 */
export function matches(actual: unknown, expected: unknown, isExact: boolean): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => matches(actual[index], item, isExact))
    );
  }
  if (typeof expected !== 'object' || expected === null) return actual === expected;
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false;
  const keys = Object.keys(expected);
  return (
    (!isExact || Object.keys(actual).length === keys.length) &&
    keys.every(
      (key) =>
        Object.hasOwn(actual, key) && matches((actual as CheckedRow)[key], (expected as CheckedRow)[key], isExact),
    )
  );
}
