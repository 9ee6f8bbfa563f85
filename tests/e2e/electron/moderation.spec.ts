import { join } from 'node:path';
import type { CheckedText } from '../../../shared/contract/moderation-window.ts';
import { callHost, expect, test } from '../../support/electron.ts';
import knownScores from '../../fixtures/moderation-scores.json' with { type: 'json' };

/** Scores as they are compared: a last digit may differ where an exponential is rounded otherwise. */
const rounded = (scores: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(scores).map(([category, score]) => [category, score.toFixed(4)]));

test('a text has the same scores on the desktop as under plain Node', async ({ launch, folder }) => {
  const { page } = await launch({ dataDirectory: join(folder, 'data') });
  for (const { text, scores } of knownScores) {
    const body = { text, classifiers: [{ kind: 'on-device' }] };
    const answer = await callHost(page, 'POST', '/window/moderation/check', body);
    const [found] = (answer as { results: CheckedText[] }).results;
    expect(rounded(found!.scores!)).toEqual(rounded(scores));
  }
});
