import type { Category } from '../../../shared/contract/moderation.ts';

/** One line of the table in `docs/moderation-model-card.md`, as it is written there. */
interface CardLine {
  readonly category: Category;
  /** Positive texts that the figures stand on. */
  readonly positive: string;
  readonly auprc: string;
  readonly precision: string;
  readonly recall: string;
}

/** What the classifier on the device was measured to do at its own thresholds; the same figures as in the model card. */
export const cardFigures: readonly CardLine[] = [
  { category: 'sexual', positive: '123', auprc: '.954', precision: '.92', recall: '.91' },
  { category: 'hatred', positive: '93', auprc: '.687', precision: '.83', recall: '.22' },
  { category: 'harassment', positive: '41', auprc: '.497', precision: '.70', recall: '.33' },
  { category: 'selfHarm', positive: '25', auprc: '.732', precision: '.84', recall: '.49' },
  { category: 'violence', positive: '42', auprc: '.486', precision: '.61', recall: '.29' },
];
