import type { CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category, type ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { classNames } from '../../components/class-names.ts';
import './categories.css';

/** Names of the categories. A colour is never shown without its code. */
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
    ? `${classifier.model} with custom policy`
    : classifier.model;
}

/** The destination to which a classifier sends a text. */
export function classifierLocation(classifier: ModerationClassifier): string {
  if (classifier.kind === 'on-device') return 'no network';
  if (classifier.kind === 'mistral') return 'Mistral';
  return classifier.kind === 'open-ai' ? providerName('OpenAi') : providerName(classifier.aiSystem);
}

/** Scores without those of a category that the classifier doesn't support. */
export function judgedScores(
  classifier: ModerationClassifier,
  scores: CategoryScores | null,
): Partial<CategoryScores> | null {
  if (scores === null || classifier.kind !== 'mistral') return scores;
  const { harassment: _, ...judged } = scores;
  return judged;
}

/** The two letters of a category on its tint. */
export function CategorySwatch({ category }: { category: Category }) {
  const { code, className } = categoryNames[category];
  return <i className={classNames('swatch', `swatch--${className}`)}>{code}</i>;
}
