import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cardFigures } from '../../../../../renderer/screens/moderation/model-card-figures.ts';

const card = readFileSync(join(import.meta.dirname, '../../../../../docs/moderation-model-card.md'), 'utf8');

/** Category, positive texts, AUPRC, aim, threshold, precision, recall. */
function cardLine(category: string): string[] {
  const line = card.split('\n').find((each) => each.startsWith(`| ${category} `)) ?? '';
  return line
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1);
}

test.each(cardFigures)('the screen says of $category what the model card says', ({ category, ...figures }) => {
  const [, positive, auprc, , , precision, recall] = cardLine(category === 'selfHarm' ? 'self-harm' : category);
  expect(figures).toEqual({ positive, auprc, precision, recall });
});
