import { join } from 'node:path';
import { shippedScores } from '../../../scripts/moderation/shipped-scores.ts';
import { categories } from '../../../shared/contract/moderation.ts';
import type { CheckedText } from '../../../shared/contract/moderation-window.ts';
import { callHost, expect } from '../../support/electron.ts';
import { test } from '../../support/packaged-app.ts';
import knownScores from '../../fixtures/moderation-scores.json' with { type: 'json' };

test('a text has the same scores on the desktop as under plain Node', async ({ launch, folder }) => {
  const { page } = await launch({ dataDirectory: join(folder, 'data') });
  const underNode = await shippedScores(knownScores);
  for (const [index, { text }] of knownScores.entries()) {
    const body = { text, classifiers: [{ kind: 'on-device' }] };
    const answer = await callHost(page, 'POST', '/window/moderation/check', body);
    const [found] = (answer as { results: CheckedText[] }).results;
    for (const category of categories) expect(found!.scores![category]).toBeCloseTo(underNode[category][index]!, 4);
  }
});
