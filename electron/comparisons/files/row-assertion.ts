import { randomUUID } from 'node:crypto';
import type { Check } from '../../../shared/contract/checks.ts';
import type { JudgeInput } from '../../../shared/contract/judges.ts';
import type { ReadMap } from '../../prompts/transfer/bounded-values.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';

/** An assertion of one test. Assertions with the same key become one check, whose values are in a column. */
export interface RowAssertion {
  readonly key: string;
  /** What the check expects of this row; null if the same holds for every row. */
  readonly value: string | null;
  readonly check: (expected: { readonly value: string } | { readonly column: string }) => Check;
}

export interface AssertionContext {
  readonly vars: ReadonlyMap<string, unknown>;
  readonly field: string;
  /** Of the judge of this test. */
  readonly grader: string | null;
  /** The prompt of the judge of this test; undefined for that of its kind. */
  readonly rubricPrompt: unknown;
  /** Judges if nobody has the model of `grader`. */
  readonly fallbackJudge: string | null;
  /** Code that changes the answer of this test; null for none. */
  readonly transform: string | null;
  readonly unsupported: (field: string, reason: string) => void;
  readonly judges: JudgeList;
  /** What the values of assertions may name. */
  readonly files: ReferencedFiles;
}

/** Judges that assertions need, by the ids that the checks have until the judges are created. */
export class JudgeList {
  readonly inputs = new Map<string, JudgeInput>();
  readonly #ids = new Map<string, string>();

  idOf(input: JudgeInput): string {
    const key = JSON.stringify(input);
    const id = this.#ids.get(key) ?? randomUUID();
    this.#ids.set(key, id);
    this.inputs.set(id, input);
    return id;
  }
}

export type Common = Pick<Check, 'name' | 'weight' | 'not'>;

export interface Assertion {
  readonly type: string;
  readonly map: ReadMap;
  readonly common: Common;
  readonly context: AssertionContext;
  /** Its value as text, with the values of the test. */
  text(): string;
  list(): string[];
}

/** What no check can do, as the end of a sentence. */
export class UnsupportedAssertion extends Error {}

export const fixed = (check: Check): RowAssertion => ({ key: JSON.stringify(check), value: null, check: () => check });

/** A check of an expected text, which is in a column if the rows have different ones. */
export function expecting(
  { type, common, text }: Assertion,
  check: RowAssertion['check'],
  options: unknown = null,
): RowAssertion {
  return { key: JSON.stringify([type, common, options]), value: text(), check };
}
