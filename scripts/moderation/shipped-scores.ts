import { categories, type Category } from '../../shared/contract/moderation.ts';
import { textFeatures } from '../../electron/moderation/features.ts';
import { embeddingSum, ngramSum, scoreOfSum } from '../../electron/moderation/linear-model.ts';
import { moderationWeights } from '../../electron/moderation/weights.ts';
import { embedAll, type LabelledText } from './corpus.ts';

/** Scores of the shipped weights, by category in the order of the texts. Embeddings come from the cache where it has them. */
export async function shippedScores(texts: readonly LabelledText[]): Promise<Record<Category, number[]>> {
  const { heads, rarity, lexicon } = moderationWeights();
  const embeddings = await embedAll(texts.flatMap(({ windows }) => windows));
  const windowScores = (window: string) => {
    const features = textFeatures(window, rarity, lexicon);
    const embedding = embeddings.get(window)!;
    return categories.map((category) => {
      const head = heads[category];
      return scoreOfSum(head, ngramSum(head, features) + embeddingSum(head, embedding));
    });
  };
  const scored = texts.map(({ windows }) => windows.map(windowScores));
  return Object.fromEntries(
    categories.map((category, index) => [
      category,
      scored.map((windows) => Math.max(0, ...windows.map((scores) => scores[index]!))),
    ]),
  ) as Record<Category, number[]>;
}

/** Whether each text is flagged at the default thresholds. */
export function isFlagged(scores: Record<Category, number[]>, index: number): boolean {
  const { heads } = moderationWeights();
  return categories.some((category) => scores[category][index]! >= heads[category].threshold);
}
