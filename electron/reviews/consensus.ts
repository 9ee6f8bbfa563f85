import type { ReviewAnswer } from '../../shared/contract/review-items.ts';
import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';

/** Half up, as people round. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)]!;
  return Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
}

/** The value that more than half give. */
function majority(values: readonly AnswerValue[]): AnswerValue | null {
  const counts = Map.groupBy(values, (value) => value);
  return [...counts].find(([, same]) => 2 * same.length > values.length)?.[0] ?? null;
}

/** What the reviews of an item say about one item of its rubric. Null if there is no answer, or none that most agree on. */
function consensusOf({ kind }: RubricItem, values: readonly AnswerValue[]): AnswerValue | null {
  if (values.length === 0) return null;
  if (kind === 'score') return median(values as number[]);
  if (kind !== 'text') return majority(values);
  return new Set(values).size === 1 ? values[0]! : null;
}

function valuesOf(item: RubricItem, reviews: readonly (readonly ReviewAnswer[])[]): AnswerValue[] {
  return reviews.flatMap((answers) => answers.find(({ rubricItemId }) => rubricItemId === item.id)?.value ?? []);
}

/** Whether reviewers answered an item of the rubric in different ways. Texts always differ, so they don't count. */
export function hasDisagreement(rubric: readonly RubricItem[], reviews: readonly (readonly ReviewAnswer[])[]): boolean {
  return rubric.some((item) => item.kind !== 'text' && new Set(valuesOf(item, reviews)).size > 1);
}

/** The gold value of each item of the rubric, otherwise the consensus of the reviews. Items without either are left out. */
export function finalAnswers(
  rubric: readonly RubricItem[],
  reviews: readonly (readonly ReviewAnswer[])[],
  gold: readonly ReviewAnswer[],
): Map<string, AnswerValue> {
  const found = rubric.map((item): [string, AnswerValue | null] => {
    const decided = gold.find(({ rubricItemId }) => rubricItemId === item.id);
    return [item.id, decided ? decided.value : consensusOf(item, valuesOf(item, reviews))];
  });
  return new Map(found.filter((entry): entry is [string, AnswerValue] => entry[1] !== null));
}

/** A run's feedback as the final answers of a rubric give it. A field without a final answer is absent, and keeps what it has. */
export interface ConsensusFeedback {
  readonly score?: number;
  readonly scoreText?: string;
  readonly scoreTags?: string;
}

const maxTags = 1000;

/** The score is that of the first item with scores, the text that of the first with texts; categories become tags. */
export function feedbackOf(rubric: readonly RubricItem[], final: ReadonlyMap<string, AnswerValue>): ConsensusFeedback {
  const first = (kind: RubricItem['kind']) => rubric.find((item) => item.kind === kind);
  const valueOf = (kind: RubricItem['kind']) => final.get(first(kind)?.id ?? '');
  const [score, text] = [valueOf('score'), valueOf('text')];
  const categories = rubric.filter(({ kind }) => kind === 'category');
  const tags = [...new Set(categories.flatMap(({ id }) => final.get(id) ?? []))].join(',').slice(0, maxTags);
  return {
    ...(score !== undefined && { score: score as number }),
    ...(text !== undefined && { scoreText: text as string }),
    ...(tags !== '' && { scoreTags: tags }),
  };
}
