// @module-tag slow
import { afterAll, describe, expect, test } from 'vitest';
import { createModeration, explainText } from '../../../electron/moderation/create-moderation.ts';
import { forEachCategory } from '../../../electron/moderation/provider-classifiers.ts';
import { createEmbeddings } from '../../../electron/on-device/embeddings.ts';
import { maxExplainedPassages } from '../../../shared/contract/moderation-window.ts';
import { defaultModerationSettings } from '../../../shared/contract/moderation.ts';

const never = () => {
  throw new Error('No provider is asked');
};
const embeddings = createEmbeddings();
const moderation = createModeration({
  settings: () => defaultModerationSettings,
  providers: { provider: never, endpointProvider: never, resolve: never, applicableConfiguration: never },
  embeddings,
});
afterAll(async () => {
  await moderation.close();
  await embeddings.close();
});

const { signal } = new AbortController();
const explain = (text: string) => moderation.explain(text, { signal });
const scoresOf = async (text: string) => (await moderation.classify(text, { signal })).categoryScores;

const calm = 'The garden was quiet.';
const bad = 'I will find you and kill you with a knife, you worthless idiot.';

describe('the scores of a text without each passage', () => {
  test('are those of the remaining text', async () => {
    const text = `${calm} ${bad} We had tea.`;
    const { scores, passages, candidates } = await explain(text);
    expect(scores).toEqual(await scoresOf(text));
    expect(passages.map(({ start, end }) => text.slice(start, end))).toEqual([calm, bad, 'We had tea.']);
    expect(candidates).toBe(3);
    expect(passages[1]!.scores).toEqual(await scoresOf(`${calm} We had tea.`));
    expect(passages[1]!.scores.violence).toBeLessThan(scores.violence / 2);
    expect(passages[0]!.scores.violence).toBeGreaterThan(scores.violence / 2);
  });

  test('of one sentence are computed word by word', async () => {
    const text = 'I will wait at your depot and break his fingers.';
    const { passages } = await explain(text);
    expect(passages.map(({ start, end }) => text.slice(start, end))).toEqual(text.split(' '));
    expect(passages[0]!.scores).toEqual(await scoresOf('will wait at your depot and break his fingers.'));
  });

  test('of a long sentence are computed by groups of words', async () => {
    const text = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');
    const { passages } = await explain(text);
    expect(passages.map(({ start, end }) => text.slice(start, end).split(' ').length)).toEqual(Array(10).fill(3));
  });

  test('count for each window with the passage, and offsets refer to the original text', async () => {
    const before = Array.from({ length: 10 }, (_, index) => `In year ${index} the harv\u200Best was good.`).join(' ');
    const text = `${before}\n\n${bad}\n${before}`;
    const { scores, passages } = await explain(text);
    const passage = passages.find(({ start, end }) => text.slice(start, end) === bad)!;
    expect(passage.scores.violence).toBeLessThan(scores.violence / 2);
  });

  test('of a single word or of white space have no passages', async () => {
    expect((await explain('Hello')).passages).toEqual([]);
    expect(await explain(' \n ')).toMatchObject({ passages: [], candidates: 0 });
  });
});

test('explains 1 MB with bounded work', async () => {
  let windows = 0;
  const counted = {
    judgeWindows: async (input: string) => {
      windows += 1;
      const scores = forEachCategory(() => 0.5);
      const location = { start: 0, end: input.length };
      const sums = scores;
      const sentences = Array.from({ length: 5000 }, (_, index) => ({
        text: 'x',
        location: { start: 2 * index, end: 2 * index + 1 },
        sums: forEachCategory(() => index),
      }));
      return [{ window: { text: input, location, sums, sentences, suspects: [] }, scores }];
    },
  };
  const { passages, candidates } = await explainText(counted, 'x '.repeat(524_288), { signal });
  expect([passages.length, candidates, windows]).toEqual([maxExplainedPassages, 5000, maxExplainedPassages + 1]);
  // The ones whose words look worst, in the order of the text.
  expect(passages[0]!.start).toBe(2 * (5000 - maxExplainedPassages));
});

test('stops an aborted explanation at once', async () => {
  const controller = new AbortController();
  const stopped = moderation.explain(`${calm} ${bad}`.repeat(50), { signal: controller.signal });
  controller.abort();
  await expect(stopped).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
});
