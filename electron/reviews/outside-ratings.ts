import { categories } from '../../shared/contract/moderation.ts';
import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';
import { invalidField } from '../../shared/app-error.ts';
import type { DoneItem, JudgedItem } from './done-items.ts';

/** What the reviewers are compared with. */
export interface Outside {
  readonly kind: 'judge' | 'moderation';
  readonly id: string;
  readonly name: string;
}

/** Which answers to an item of a rubric stand for a judge's pass and a flag of the guard; null is not compared. */
export interface AnswerMeaning {
  readonly passValue: string | null;
  readonly flaggedValue: string | null;
}

/** What a caller chooses for one item of a rubric. */
export interface MeaningChoice {
  readonly rubricItemId: string;
  readonly passValue?: string | undefined;
  readonly flaggedValue?: string | undefined;
}

/** Labels of the matrix of a judge or the guard, in their order. */
export const outsideScales = { pass: ['pass', 'fail'], flag: ['flagged', 'notFlagged'] } as const;

export interface OutsideRating {
  readonly outside: Outside;
  /** `values` are the answers themselves: a judge's score beside the reviewers'. */
  readonly scale: 'values' | keyof typeof outsideScales;
  readonly label: string;
  /** Of the final value of the reviewers; null if there is none. */
  readonly people: string | null;
}

/** The label of a value in a confusion matrix. */
export const labelOf = (value: AnswerValue): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);

/** The answers of which one can stand for a pass or a flag. */
function choicesOf({ kind, categories: own }: RubricItem): string[] {
  if (kind === 'yesNo') return ['yes', 'no'];
  return kind === 'category' ? own.map(({ label }) => label) : [];
}

/** Yes stands for both unless the caller chooses; of a category nobody can guess it. */
export function meaningOf(item: RubricItem, choice?: MeaningChoice): AnswerMeaning {
  const usual = item.kind === 'yesNo' ? 'yes' : null;
  if (choice?.rubricItemId !== item.id) return { passValue: usual, flaggedValue: usual };
  return { passValue: choice.passValue ?? usual, flaggedValue: choice.flaggedValue ?? usual };
}

/** Throws `invalid_request` if the rubric has no such item, or the item has no such answer. `prefix` is that of the fields. */
export function checkMeaning(items: readonly RubricItem[], choice: MeaningChoice, prefix = ''): void {
  const item = items.find(({ id }) => id === choice.rubricItemId);
  if (!item) throw invalidField(`${prefix}rubricItemId`, 'must be an item of the rubric');
  const choices = choicesOf(item);
  for (const field of ['passValue', 'flaggedValue'] as const) {
    const value = choice[field];
    if (value === undefined || choices.includes(value)) continue;
    const reason =
      choices.length === 0
        ? 'is only for yes or no items and categories'
        : `must be an answer to the item of the rubric: ${choices.join(', ')}`;
    throw invalidField(`${prefix}${field}`, reason);
  }
}

const passes = ({ form, verdict }: JudgedItem): boolean =>
  typeof verdict === 'number' ? form.kind === 'score' && verdict >= form.passFrom : verdict === 'pass';

function judgedRating(
  judged: JudgedItem,
  { kind }: RubricItem,
  { passValue }: AnswerMeaning,
  final: string | null,
): OutsideRating[] {
  const outside: Outside = { kind: 'judge', id: judged.judgeId, name: judged.name };
  if (kind === 'score')
    return typeof judged.verdict === 'number'
      ? [{ outside, scale: 'values', label: String(judged.verdict), people: final }]
      : [];
  if (passValue === null || judged.form.kind === 'preference') return [];
  const people = final && (final === passValue ? 'pass' : 'fail');
  return [{ outside, scale: 'pass', label: passes(judged) ? 'pass' : 'fail', people }];
}

/** The guard as a whole, then each category at the threshold that it had when the run was checked. */
const guards = [
  { id: 'flagged', name: 'Guard: flagged', flags: null },
  ...categories.map((category) => ({
    id: `flagged:${category}`,
    name: `Guard: ${category === 'selfHarm' ? 'self-harm' : category}`,
    flags: [`prompt:${category}`, `answer:${category}`],
  })),
];

/** What judges and the guard say about an item, as labels of their matrices. */
export function outsideRatings(done: DoneItem, item: RubricItem, meaning: AnswerMeaning): OutsideRating[] {
  const value = done.final.get(item.id);
  const final = value === undefined ? null : labelOf(value);
  const judged = done.judged.flatMap((one) => judgedRating(one, item, meaning, final));
  const { flags } = done;
  const { flaggedValue } = meaning;
  if (flags === null || flaggedValue === null) return judged;
  const people = final && (final === flaggedValue ? 'flagged' : 'notFlagged');
  const guarded = guards.map(({ id, name, flags: own }): OutsideRating => {
    const isFlagged = own === null ? flags.length > 0 : own.some((flag) => flags.includes(flag));
    const outside = { kind: 'moderation', id, name } as const;
    return { outside, scale: 'flag', label: isFlagged ? 'flagged' : 'notFlagged', people };
  });
  return [...judged, ...guarded];
}
