import type { DatasetColumn } from '../../../../shared/contract/datasets.ts';
import type { ParsedTemplate } from '../../../../shared/prompt-template.ts';
import type { SetupDraft } from '../../../stores/comparison-drafts.ts';

/** What one variant needs from the rows. */
export interface TemplateNeeds {
  readonly template: ParsedTemplate;
  /** Variables that have a value without the row. */
  readonly defaults: readonly string[];
}

/** The variables that rows must fill, in the order of first use. A variable that only conditions use needs no value. */
export function neededVariables(variants: readonly TemplateNeeds[]): string[] {
  const names = variants.flatMap(({ template, defaults }) =>
    template.variables
      .filter(({ kind, name }) => kind !== 'condition' && !defaults.includes(name))
      .map(({ name }) => name),
  );
  return [...new Set(names)];
}

/** Every variable that a column can fill. */
export function allVariables(variants: readonly TemplateNeeds[]): string[] {
  return [...new Set(variants.flatMap(({ template }) => template.variables.map(({ name }) => name)))];
}

type Mapping = Pick<SetupDraft, 'variables'>;

/** Whether `path` has a value if `source` has one: they are the same, or one is inside the other. */
function reaches(source: string, path: string): boolean {
  return source === path || path.startsWith(`${source}.`) || source.startsWith(`${path}.`);
}

/** Variables without a column. The rows would be skipped. */
export function missingVariables(
  needed: readonly string[],
  columns: readonly DatasetColumn[],
  { variables }: Mapping,
): string[] {
  const names = new Set(columns.map(({ name }) => name));
  const sources = [
    ...columns.filter(({ type }) => type !== 'expected').map(({ name }) => name),
    ...Object.entries(variables).flatMap(([variable, column]) => (names.has(column) ? [variable] : [])),
  ];
  return needed.filter((path) => !sources.some((source) => reaches(source, path)));
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** The column whose name is most like that of a variable; null if none is. */
export function suggestedColumn(variable: string, columns: readonly DatasetColumn[]): string | null {
  const [whole, last] = [plain(variable), plain(variable.split('.').at(-1) ?? '')];
  const tests: ((name: string) => boolean)[] = [
    (name) => name === whole,
    (name) => name === last,
    (name) => last.length > 2 && (name.includes(last) || (name.length > 2 && whole.includes(name))),
  ];
  for (const test of tests) {
    const match = columns.find(({ name }) => plain(name) !== '' && test(plain(name)));
    if (match) return match.name;
  }
  return null;
}

export type ColumnTarget = { kind: 'variable'; name: string } | { kind: 'title' | 'checks' | 'none' };

/** What a column does. `none` is no choice yet. */
export function targetOf(
  { name, type }: DatasetColumn,
  variables: readonly string[],
  draft: Pick<SetupDraft, 'variables' | 'checksOnly' | 'titleColumn'>,
): ColumnTarget {
  const mapped = Object.entries(draft.variables).find(([, column]) => column === name)?.[0];
  if (mapped !== undefined) return { kind: 'variable', name: mapped };
  const isTaken = Object.hasOwn(draft.variables, name);
  if (type !== 'expected' && !isTaken) {
    const own = variables.find((variable) => reaches(name, variable));
    if (own !== undefined) return { kind: 'variable', name };
  }
  if (draft.titleColumn === name) return { kind: 'title' };
  return type === 'expected' || draft.checksOnly.includes(name) ? { kind: 'checks' } : { kind: 'none' };
}

/** The change that gives a column another target. */
export function targetChange(
  column: string,
  target: ColumnTarget,
  draft: Pick<SetupDraft, 'variables' | 'checksOnly' | 'titleColumn'>,
): Pick<SetupDraft, 'variables' | 'checksOnly' | 'titleColumn'> {
  const variables = Object.fromEntries(Object.entries(draft.variables).filter(([, mapped]) => mapped !== column));
  if (target.kind === 'variable' && target.name !== column) variables[target.name] = column;
  const checksOnly = draft.checksOnly.filter((name) => name !== column);
  return {
    variables,
    checksOnly: target.kind === 'checks' ? [...checksOnly, column] : checksOnly,
    titleColumn: target.kind === 'title' ? column : draft.titleColumn === column ? null : draft.titleColumn,
  };
}
