import type { CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category, type ModerationClassifier } from '../../../shared/contract/moderation.ts';

/** How a category is written; its hue never stands without the code. */
export const categoryNames: Record<Category, { name: string; code: string; className: string }> = {
  sexual: { name: 'Sexual', code: 'SX', className: 'sexual' },
  hatred: { name: 'Hatred', code: 'HT', className: 'hatred' },
  harassment: { name: 'Harassment', code: 'HR', className: 'harassment' },
  selfHarm: { name: 'Self-harm', code: 'SH', className: 'self-harm' },
  violence: { name: 'Violence', code: 'VI', className: 'violence' },
};

/** `harassment, self-harm`. */
export function listCategories(listed: readonly Category[]): string {
  return categories
    .filter((category) => listed.includes(category))
    .map((category) => categoryNames[category].name.toLowerCase())
    .join(', ');
}

export function classifierName(classifier: ModerationClassifier): string {
  if (classifier.kind === 'on-device') return 'on-device';
  return classifier.kind === 'model' && classifier.policy !== null
    ? `${classifier.model}, own policy`
    : classifier.model;
}

/** Where a text goes when this classifier judges it. */
export function classifierPlace(classifier: ModerationClassifier): string {
  if (classifier.kind === 'on-device') return 'no network';
  if (classifier.kind === 'mistral') return 'Mistral';
  return classifier.kind === 'open-ai' ? 'OpenAi' : classifier.aiSystem;
}

/** Scores as they are shown: without those of a category that the classifier does not judge. */
export function judgedScores(
  classifier: ModerationClassifier,
  scores: CategoryScores | null,
): Partial<CategoryScores> | null {
  if (scores === null || classifier.kind !== 'mistral') return scores;
  const { harassment: _, ...judged } = scores;
  return judged;
}
