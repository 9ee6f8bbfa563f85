import type { AnswerValue, Rubric, RubricInput, RubricItem } from '../../../../shared/contract/rubrics.ts';
import { readNumber } from '../../../components/format.ts';
import { answerText } from './answers.ts';

/** A rubric as it is typed. */
export interface RubricDraft {
  readonly name: string;
  readonly description: string;
  readonly items: readonly ItemDraft[];
}

export interface ItemDraft {
  /** Of the window alone, to tell items apart. */
  readonly key: string;
  /** Of the same item in an earlier version. */
  readonly id: string | null;
  readonly kind: RubricItem['kind'];
  readonly question: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Of a text. */
  readonly isCorrection: boolean;
  readonly categories: readonly { readonly label: string; readonly description: string }[];
  /** `value` as text; empty for none. */
  readonly examples: readonly { readonly text: string; readonly value: string }[];
}

export function emptyItem(kind: RubricItem['kind'] = 'yesNo'): ItemDraft {
  const none = { label: '', description: '' };
  return {
    key: crypto.randomUUID(),
    id: null,
    kind,
    question: '',
    description: '',
    isRequired: true,
    isCorrection: false,
    categories: [none, none],
    examples: [],
  };
}

export function draftOf(rubric: Rubric | null): RubricDraft {
  if (!rubric) return { name: '', description: '', items: [emptyItem()] };
  return {
    name: rubric.name,
    description: rubric.description ?? '',
    items: rubric.items.map(({ id, kind, question, description, isRequired, isCorrection, categories, examples }) => ({
      key: id,
      id,
      kind,
      question,
      description: description ?? '',
      isRequired,
      isCorrection: isCorrection ?? false,
      categories: categories.map((category) => ({ label: category.label, description: category.description ?? '' })),
      examples: examples.map(({ text, value }) => ({ text, value: value === null ? '' : answerText(value) })),
    })),
  };
}

function readAnswer(kind: RubricItem['kind'], text: string): AnswerValue | null {
  if (text.trim() === '') return null;
  if (kind === 'yesNo') return text === 'Yes';
  return kind === 'score' ? (readNumber(text.replace('−', '-').replace('+', '')) ?? text) : text;
}

/** What the host stores. It checks it, and names what is wrong. */
export function toRubricInput({ name, description, items }: RubricDraft): RubricInput {
  return {
    name: name.trim(),
    description: description.trim() || null,
    items: items.map(({ id, kind, question, isRequired, isCorrection, categories, examples, description: hint }) => ({
      ...(id !== null && { id }),
      kind,
      question: question.trim(),
      description: hint.trim() || null,
      isRequired,
      ...(kind === 'text' && isCorrection && { isCorrection }),
      ...(kind === 'category' && {
        categories: categories
          .filter(({ label }) => label.trim() !== '')
          .map((category) => ({ label: category.label.trim(), description: category.description.trim() || null })),
      }),
      examples: examples
        .filter(({ text }) => text.trim() !== '')
        .map(({ text, value }) => ({ text: text.trim(), value: readAnswer(kind, value) })),
    })),
  };
}

/** The first thing that keeps a rubric from being saved; null if nothing does. */
export function draftProblem({ name, items }: RubricDraft): string | null {
  if (name.trim() === '') return 'Enter a name.';
  if (items.length === 0) return 'Add an item.';
  if (items.filter(({ kind, isCorrection }) => kind === 'text' && isCorrection).length > 1)
    return 'Only one item can be the corrected answer.';
  for (const [index, { question, kind, categories }] of items.entries()) {
    if (question.trim() === '') return `Enter the question of item ${index + 1}.`;
    const labels = categories.map(({ label }) => label.trim().toLowerCase()).filter((label) => label !== '');
    if (kind !== 'category') continue;
    if (labels.length < 2) return `Item ${index + 1} needs at least two categories.`;
    if (new Set(labels).size < labels.length) return `Item ${index + 1} has a category twice.`;
    if (labels.some((label) => label.includes(','))) return `A category of item ${index + 1} has a comma.`;
  }
  return null;
}
