import type { ReviewAnswer } from '../../../../shared/contract/review-items.ts';
import type { AnswersInput } from '../../../../shared/contract/reviews.ts';
import type { AnswerValue, RubricItem } from '../../../../shared/contract/rubrics.ts';
import { formatScore, formatWhole } from '../../../components/format.ts';

/** The longest text of an answer or a note. */
export const maxTextCharacters = 10_000;

/** Why a text can't be sent; null if it can. A field that cut what is pasted would lose its end without a word. */
export function lengthProblem(text: string, max = maxTextCharacters): string | null {
  if (text.length <= max) return null;
  return `${formatWhole(text.length)} characters, but at most ${formatWhole(max)} can be sent. Shorten the text.`;
}

/** A text with a quotation of what the person selected, for what they write about it; null if that is too long. */
export function withQuote(text: string, quoted: string): string | null {
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  const lines = quoted.split(/\r?\n/).map((line) => `> ${line}`.trimEnd());
  const whole = `${before}${lines.join('\n')}\n`;
  return whole.length > maxTextCharacters ? null : whole;
}

/** By the ID of the rubric item. Items without an answer are left out. */
export type Answers = Readonly<Record<string, AnswerValue>>;

export function answersOf(answers: readonly ReviewAnswer[]): Answers {
  return Object.fromEntries(answers.map(({ rubricItemId, value }) => [rubricItemId, value]));
}

/** An empty text is no answer. */
export function hasAnswer(value: AnswerValue | undefined): value is AnswerValue {
  return value !== undefined && (typeof value !== 'string' || value.trim() !== '');
}

export function toAnswersInput(answers: Answers, items: readonly RubricItem[]): AnswersInput {
  return items.flatMap(({ id }) => {
    const value = answers[id];
    return hasAnswer(value) ? [{ rubricItemId: id, value }] : [];
  });
}

export function answeredCount(answers: Answers, items: readonly RubricItem[]): number {
  return items.filter(({ id }) => hasAnswer(answers[id])).length;
}

/** Required items of the rubric without an answer. */
export function missingItems(answers: Answers, items: readonly RubricItem[]): RubricItem[] {
  return items.filter(({ id, isRequired }) => isRequired && !hasAnswer(answers[id]));
}

export function answerText(value: AnswerValue): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'number' ? formatScore(value) : value;
}

/** A label of a confusion matrix for people. */
export function labelText(label: string, kind: RubricItem['kind']): string {
  if (kind === 'yesNo') return label === 'yes' ? 'Yes' : label === 'no' ? 'No' : label;
  return kind === 'score' && /^-?\d+$/.test(label) ? formatScore(Number(label)) : label;
}

export const kindNames: Readonly<Record<RubricItem['kind'], string>> = {
  yesNo: 'Yes or no',
  category: 'Category',
  score: 'Score from −10 to +10',
  text: 'Text',
};

export interface AnswerOption {
  readonly value: AnswerValue;
  readonly label: string;
  /** Its key while its item is the current one; null if there are more options than keys. */
  readonly keys: string | null;
  readonly description: string | null;
}

/** What can be chosen for an item; empty for scores and texts. */
export function optionsOf(item: RubricItem): AnswerOption[] {
  if (item.kind === 'yesNo')
    return [
      { value: true, label: 'Yes', keys: 'Y', description: null },
      { value: false, label: 'No', keys: 'N', description: null },
    ];
  if (item.kind !== 'category') return [];
  return item.categories.map(({ label, description }, index) => ({
    value: label,
    label,
    keys: index < 10 ? String((index + 1) % 10) : null,
    description,
  }));
}

/** The same as the options of a select, by their labels in the matrix. */
export function labelOptionsOf(item: RubricItem): { value: string; label: string }[] {
  return optionsOf(item).map(({ value, label }) => ({
    value: typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value),
    label,
  }));
}
