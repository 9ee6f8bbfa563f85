import { categories, type Category, type ModerationPreset } from '../../shared/contract/moderation.ts';
import { analyzeText } from '../../electron/moderation/windows.ts';
import { createOnDeviceClassifier } from '../../electron/moderation/on-device-classifier.ts';
import { forEachCategory } from '../../electron/moderation/provider-classifiers.ts';
import { type ModerationWeights, moderationWeights } from '../../electron/moderation/linear-model.ts';
import { createEmbeddings } from '../../electron/on-device/embeddings.ts';

/** The classifier's scores by category in the order of the texts, by default with the shipped weights. */
export async function shippedScores(
  texts: readonly { readonly text: string }[],
  weights: ModerationWeights = moderationWeights(),
): Promise<Record<Category, number[]>> {
  const embeddings = createEmbeddings();
  const classifier = createOnDeviceClassifier({
    weights: () => weights,
    // In this thread, because nothing else runs here.
    analysis: { analyze: async (input) => analyzeText(input, weights), close: async () => {} },
    embeddings,
  });
  const { signal } = new AbortController();
  // No score is above 1, so passages aren't searched.
  const thresholds = forEachCategory(() => 2);
  const scores = forEachCategory((): number[] => []);
  for (const { text } of texts) {
    const found = await classifier.classify(text, { thresholds, signal });
    for (const category of categories) scores[category].push(found.scores[category]);
  }
  await embeddings.close();
  return scores;
}

/** Whether a preset flags a text. */
export function isFlagged(scores: Record<Category, number[]>, index: number, preset: ModerationPreset): boolean {
  const { heads } = moderationWeights();
  return categories.some((category) => scores[category][index]! >= heads[category].thresholds[preset]);
}
