import { type Check, checkList, maxChecks } from '../../../shared/contract/checks.ts';
import type { Findings } from './table.ts';

/** A check of one row, such as an assertion of a test. */
export interface RowCheck {
  /** As the file names it. */
  readonly label: string;
  /** What the answer is compared with, or what else differs from row to row. */
  readonly value: unknown;
  /** The check whose value is in a column of each row. */
  readonly inColumn: (column: string) => Check;
  /** The check for a value that all rows share; `inColumn` without one. */
  readonly shared?: (value: unknown) => Check;
}

interface Collected {
  readonly first: RowCheck;
  readonly column: string;
  readonly value: string;
  isShared: boolean;
  rows: number;
}

/** A row without a value has no such check, so it passes there. */
function exceptWithout(column: string, check: Check): Check {
  const isAbsent = {
    kind: 'javascript',
    name: 'Not in this row',
    code: `row[${JSON.stringify(column)}] == null`,
  } as const;
  const { name = check.kind, weight } = check;
  return { kind: 'any', name, ...(weight !== undefined && { weight }), checks: [isAbsent, check] };
}

/** Makes checks of a comparison from those of its rows: equal ones become one check, whose values are in a column. */
export class RowChecks {
  readonly #collected = new Map<string, Collected>();
  #rows = 0;

  /** The values of a row for the columns of its checks. */
  add(checks: readonly RowCheck[]): Record<string, unknown> {
    this.#rows += 1;
    const values: Record<string, unknown> = {};
    const used = new Map<string, number>();
    for (const check of checks) {
      const form = JSON.stringify(check.inColumn(''));
      const occurrence = (used.get(form) ?? 0) + 1;
      used.set(form, occurrence);
      const collected = this.#collect(`${occurrence} ${form}`, check);
      values[collected.column] = check.value;
    }
    return values;
  }

  #collect(key: string, check: RowCheck): Collected {
    const known = this.#collected.get(key);
    const value = JSON.stringify(check.value);
    if (known) {
      known.rows += 1;
      known.isShared &&= known.value === value;
      return known;
    }
    const number = this.#collected.size + 1;
    const column = number === 1 ? '__expected' : `__expected${number}`;
    const collected = { first: check, column, value, isShared: true, rows: 1 };
    this.#collected.set(key, collected);
    return collected;
  }

  /** The checks of all rows. Reports those that are not valid here, and those that are too many. */
  finish(findings: Findings): Check[] {
    const checks: Check[] = [];
    let count = 0;
    const byRows = [...this.#collected.values()].toSorted((one, other) => other.rows - one.rows);
    for (const { first, column, isShared, rows } of byRows) {
      const inner = isShared && first.shared ? first.shared(first.value) : first.inColumn(column);
      const check = rows === this.#rows ? inner : exceptWithout(column, inner);
      const parsed = checkList.safeParse([check]);
      count += 'checks' in check ? 3 : 1;
      if (!parsed.success) {
        const issue = parsed.error.issues[0]!;
        findings.add('skipped', first.label, `The ${issue.path.at(-1)?.toString() ?? 'check'} ${issue.message}`, rows);
      } else if (count > maxChecks) {
        findings.add('skipped', first.label, `A comparison has at most ${maxChecks} checks`, rows);
      } else {
        checks.push(check);
        findings.add('imported', first.label, `Became a check of the kind ${inner.kind}`, rows);
      }
    }
    return checks;
  }
}

const cell = (column: string) => `row[${JSON.stringify(column)}]`;

interface Common {
  readonly name?: string;
  readonly weight?: number;
  readonly not?: boolean;
}

/** A check in JavaScript. `condition` gets the expression of the expected value. */
export function scriptCheck(
  label: string,
  value: unknown,
  condition: (expected: string) => string,
  common: Common = {},
): RowCheck {
  return {
    label,
    value,
    inColumn: (column) => ({ kind: 'javascript', name: label, ...common, code: condition(cell(column)) }),
  };
}

/** A check of a kind with `column` and `value`. */
export function textCheck(
  label: string,
  value: string,
  kind: 'equals' | 'contains' | 'similarity',
  common: Common & { readonly ignoreCase?: boolean; readonly threshold?: number } = {},
): RowCheck {
  return {
    label,
    value,
    inColumn: (column) => ({ kind, ...common, column }) as Check,
    // Text with braces would be read as the name of a column.
    ...(!value.includes('{{') && { shared: () => ({ kind, ...common, value }) as Check }),
  };
}

/** A check that has no expected value, or one that only a shared check can have. */
export function sharedCheck(
  label: string,
  value: unknown,
  check: Check,
  inColumn?: (expected: string) => string,
): RowCheck {
  return {
    label,
    value,
    shared: () => check,
    inColumn: (column) =>
      inColumn
        ? { kind: 'javascript', name: label, ...(check.not && { not: true }), code: inColumn(cell(column)) }
        : check,
  };
}
