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
  return classifier.kind === 'on-device' ? 'on-device' : classifier.model;
}

/** Where a text goes when this classifier judges it. */
export function classifierPlace(classifier: ModerationClassifier): string {
  if (classifier.kind === 'on-device') return 'no network';
  return classifier.kind === 'open-ai' ? 'OpenAi' : classifier.aiSystem;
}
