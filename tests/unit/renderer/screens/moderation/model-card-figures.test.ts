import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moderationPresets } from '../../../../../shared/contract/moderation.ts';
import { moderationWeights } from '../../../../../electron/moderation/linear-model.ts';
import { cardFigures } from '../../../../../renderer/screens/moderation/quality-figures.ts';

const card = readFileSync(join(import.meta.dirname, '../../../../../docs/moderation-model-card.md'), 'utf8');

/** Cells of the line of a category in the table under a heading. */
function cardLine(heading: string, category: string): string[] {
  const section = card.split(`### ${heading}`)[1] ?? '';
  const name = category === 'selfHarm' ? 'self-harm' : category;
  const line = section.split('\n').find((each) => each.startsWith(`| ${name} `)) ?? '';
  return line
    .split('|')
    .map((cell) => cell.trim())
    .slice(2, -1);
}

test.each(cardFigures)('the screen shows the figures of the model card for $category', ({ category, presets }) => {
  const shown = moderationPresets.map((preset) => `${presets[preset].precision} / ${presets[preset].recall}`);
  expect(cardLine('Precision and recall', category)).toEqual(shown);
});

test.each(cardFigures)('the model card has the thresholds of $category', ({ category }) => {
  const { thresholds } = moderationWeights().heads[category];
  const written = moderationPresets.map((preset) => thresholds[preset].toFixed(3).replace(/^0/, ''));
  expect(cardLine('Thresholds', category)).toEqual(written);
});
