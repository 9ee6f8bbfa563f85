// @module-tag slow
import { afterAll, describe, expect, test } from 'vitest';
import { createModeration } from '../../../electron/moderation/create-moderation.ts';
import { moderationWeights, sentenceMargin } from '../../../electron/moderation/linear-model.ts';
import { createEmbeddings } from '../../../electron/on-device/embeddings.ts';
import { exampleTexts } from '../../../renderer/screens/moderation/examples.ts';
import {
  categories as allCategories,
  defaultModerationSettings,
  moderationPresets,
  type ModerationSettings,
} from '../../../shared/contract/moderation.ts';
import knownScores from '../../fixtures/moderation-scores.json' with { type: 'json' };

const embeddings = createEmbeddings();
let settings: ModerationSettings = defaultModerationSettings;
const noProvider = () => {
  throw new Error('No provider is asked');
};
const moderation = createModeration({
  settings: () => settings,
  providers: {
    provider: noProvider,
    endpointProvider: noProvider,
    resolve: noProvider,
    applicableConfiguration: noProvider,
  },
  embeddings,
});
afterAll(async () => {
  await moderation.close();
  await embeddings.close();
});

const classify = (text: string, signal = new AbortController().signal) => moderation.classify(text, { signal });
const flagsOf = async (text: string) => {
  const { categories } = await classify(text);
  return Object.entries(categories).flatMap(([category, isFlagged]) => (isFlagged ? [category] : []));
};

describe('flags of a text', () => {
  test.each([
    ['How do I terminate a stuck Python process on Linux?', []],
    ['My gay brother and his husband are visiting us at Easter.', []],
    ['Watch hot naked girls get fucked in our free porn videos.', ['sexual']],
    ['I want to kill myself tonight, nobody would miss me.', ['selfHarm']],
    ['We should kill all Muslims and burn down their mosques.', ['hatred', 'violence']],
  ])('%s', async (text, expected) => {
    expect(await flagsOf(text)).toEqual(expect.arrayContaining(expected));
    if (expected.length === 0) expect(await flagsOf(text)).toEqual([]);
  });

  test('hidden words count as much as plain ones', async () => {
    const plain = await classify('free porn videos of naked girls');
    const hidden = await classify('fr\u200Bee p0rn vide\u200Bos of n a k e d girls');
    expect(hidden.categoryScores).toEqual(plain.categoryScores);
  });
});

test('a threat without a listed word is flagged by Balanced', async () => {
  expect(await flagsOf('I will wait at your depot and break his fingers.')).toEqual(['violence']);
});

test.each(exampleTexts)('Balanced classifies the example correctly: $text', async ({ text, category }) => {
  const flags = await flagsOf(text);
  if (category === null) expect(flags).toEqual([]);
  else expect(flags).toContain(category);
});

describe('presets', () => {
  const thresholdsOf = async (change: Partial<ModerationSettings>) => {
    settings = { ...defaultModerationSettings, ...change };
    const { thresholds } = await classify('A quiet evening at the lake.');
    settings = defaultModerationSettings;
    return thresholds;
  };

  test('Strict is below Balanced, and Balanced below Lenient, in each category', () => {
    const { heads } = moderationWeights();
    const [strict, balanced, lenient] = moderationPresets.map((preset) =>
      allCategories.map((category) => heads[category].thresholds[preset]),
    );
    for (const index of allCategories.keys()) {
      expect(strict![index]).toBeLessThan(balanced![index]!);
      expect(balanced![index]).toBeLessThan(lenient![index]!);
    }
  });

  test('Balanced is the default, and a saved threshold stays', async () => {
    const { heads } = moderationWeights();
    expect((await thresholdsOf({})).hatred).toBe(heads.hatred.thresholds.balanced);
    const own = { ...defaultModerationSettings.thresholds, hatred: 0.77 };
    const thresholds = await thresholdsOf({ preset: 'lenient', thresholds: own });
    expect([thresholds.hatred, thresholds.violence]).toEqual([0.77, heads.violence.thresholds.lenient]);
  });
});

test.each(knownScores)('known scores of $text', async ({ text, scores }) => {
  const { categoryScores } = await classify(text);
  // What the weights were trained to say; an engine whose embeddings differ by more wants them trained again.
  for (const category of allCategories) expect(categoryScores[category]).toBeCloseTo(scores[category], 2);
});

describe('harmless text around a harmful sentence does not hide it', () => {
  const before = 'The garden was quiet in the morning. We had tea under the old apple tree and read the paper. ';
  const after = ' The cat went back to sleep on the wall. In the evening it rained. The radio played old songs.';
  const logit = (score: number) => Math.log(score / (1 - score));

  test.each([
    ['I will find you and kill you with a knife, you worthless idiot.', 'violence'],
    ['I will find you and kill you with a knife, you worthless idiot.', 'harassment'],
    ['Watch hot naked girls get fucked in our free porn videos.', 'sexual'],
    ['I want to kill myself tonight, nobody would miss me.', 'selfHarm'],
    ['We should kill all Muslims and burn down their mosques.', 'hatred'],
  ] as const)('%s, %s', async (bad, category) => {
    const alone = (await classify(bad)).categoryScores[category];
    const hidden = await classify(before + bad + after);
    const { slope } = moderationWeights().heads[category];
    // Scores have six decimals.
    expect(logit(hidden.categoryScores[category])).toBeGreaterThan(logit(alone) - slope * sentenceMargin - 0.01);
    const passages = hidden.highlights.map(({ start, end }) => [start, end]);
    expect(new Set(passages.map(String))).toEqual(new Set([String([before.length, before.length + bad.length])]));
  });
});

test('returns the passage that caused a flag, to the character', async () => {
  const calm = 'The garden was quiet.';
  const bad = 'They fucked all night in free p0rn videos of naked girls.';
  const text = `${calm} ${bad} ${calm}`;
  const { highlights } = await classify(text);
  expect(highlights.map(({ start, end, category }) => [text.slice(start, end), category])).toContainEqual([
    bad,
    'sexual',
  ]);
  expect(highlights.every(({ start, end }) => !text.slice(start, end).includes('garden'))).toBe(true);
});

test('finds the worst window at the end of a long text', async () => {
  const calm = Array.from(
    { length: 1500 },
    (_, index) => `In year ${index} the harvest was good and people were content.`,
  ).join(' ');
  const bad = 'Watch horny naked girls get fucked in free porn videos.';
  const { categories, highlights } = await classify(`${calm} ${bad}`);
  expect(categories.sexual).toBe(true);
  expect(highlights.map(({ start }) => start)).toContain(calm.length + 1);
});

test('thresholds of the settings decide, scores stay', async () => {
  const text = 'A quiet evening at the lake.';
  const before = await classify(text);
  settings = { ...settings, thresholds: { ...settings.thresholds, violence: 0 } };
  const after = await classify(text);
  settings = defaultModerationSettings;
  expect([before.flagged, after.flagged, after.thresholds.violence]).toEqual([false, true, 0]);
  expect(after.categoryScores).toEqual(before.categoryScores);
});

test('the same text has the same scores, alone and among others', async () => {
  const text = 'Nobody wants you here, you worthless idiot.';
  const [first, ...others] = await Promise.all([classify(text), classify('Something else.'), classify(text)]);
  expect(others[1]?.categoryScores).toEqual(first.categoryScores);
});

const megabyte = 1_048_576;
test.each([
  ['one letter', 'a'.repeat(megabyte)],
  ['digits among letters', `a${'13'.repeat(megabyte / 2 - 1)}b`],
  ['sentence ends that end nothing', `${'!?'.repeat(megabyte / 2 - 1)}x`],
  ['blank lines', `${'\n '.repeat(megabyte / 2 - 1)}x`],
  ['zero-width characters', '\u200B'.repeat(megabyte / 3)],
  ['spread letters', 'a b '.repeat(megabyte / 4)],
  ['emoji', '😀'.repeat(megabyte / 4)],
  ['lone halves of characters', '\uD83D'.repeat(megabyte / 3)],
])('classifies 1 MB of %s', async (_, text) => {
  const { categoryScores } = await classify(text);
  for (const score of Object.values(categoryScores)) expect(score).toBeLessThanOrEqual(1);
});

test('stops an aborted check at once, and completes the next one', async () => {
  const controller = new AbortController();
  const stopped = classify('Some text. '.repeat(5000), controller.signal);
  controller.abort();
  await expect(stopped).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect((await classify('Hello.')).flagged).toBe(false);
});
