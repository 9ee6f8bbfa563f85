import type { Check } from '../../../shared/contract/checks.ts';
import type { RowAssertion } from './row-assertion.ts';

export interface CheckedRows {
  readonly checks: Check[];
  /** Columns with expected values. */
  readonly columns: string[];
  /** Their values, row by row. */
  readonly values: Record<string, string>[];
}

/**
 * Checks of a comparison hold for every row, while each test has its own assertions. Values that differ become a column; a check of some
 * rows passes in the others.
 */
export function checksOf(rows: readonly (readonly RowAssertion[])[]): CheckedRows {
  const found = new Map<string, { assertion: RowAssertion; values: (string | null | undefined)[] }>();
  for (const [row, assertions] of rows.entries()) {
    const seen = new Map<string, number>();
    for (const assertion of assertions) {
      const count = (seen.get(assertion.key) ?? 0) + 1;
      seen.set(assertion.key, count);
      const key = `${count} ${assertion.key}`;
      const entry = found.get(key) ?? { assertion, values: rows.map(() => undefined) };
      entry.values[row] = assertion.value;
      found.set(key, entry);
    }
  }
  const columns: string[] = [];
  const values: Record<string, string>[] = rows.map(() => ({}));
  const checks = [...found.values()].map(({ assertion, values: expected }): Check => {
    const isForAll = expected.every((value) => value !== undefined);
    const [first] = expected;
    const isSame = expected.every((value) => value === first);
    // Braces in a value would be read as a column.
    if (isForAll && isSame && !(first ?? '').includes('{{')) return assertion.check({ value: first ?? '' });
    const column = `expect_${columns.length + 1}`;
    columns.push(column);
    for (const [row, value] of expected.entries()) if (value !== undefined) values[row]![column] = value ?? 'yes';
    const check = assertion.check({ column });
    if (isForAll) return check;
    const { name, weight, ...bare } = check;
    const isOther: Check = {
      kind: 'javascript',
      name: 'Not for this row',
      code: `row[${JSON.stringify(column)}] == null`,
    };
    return {
      kind: 'any',
      ...(name !== undefined && { name }),
      ...(weight !== undefined && { weight }),
      checks: [isOther, bare as Check],
    };
  });
  return { checks, columns, values };
}
