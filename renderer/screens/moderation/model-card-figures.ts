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
  { category: 'sexual', positive: '123', auprc: '.955', precision: '.91', recall: '.89' },
  { category: 'hatred', positive: '93', auprc: '.691', precision: '.89', recall: '.18' },
  { category: 'harassment', positive: '41', auprc: '.541', precision: '.71', recall: '.24' },
  { category: 'selfHarm', positive: '25', auprc: '.752', precision: '.90', recall: '.36' },
  { category: 'violence', positive: '42', auprc: '.499', precision: '.75', recall: '.29' },
];
