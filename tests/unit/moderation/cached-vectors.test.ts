import { expect, test } from 'vitest';
import { rememberVectors } from '../../../electron/moderation/create-moderation.ts';

const { signal } = new AbortController();

function counting() {
  const requested: string[] = [];
  const remembering = rememberVectors({
    embed: async (texts) => {
      requested.push(...texts);
      const all = Float32Array.from(texts, (text) => text.length);
      return texts.map((_, index) => all.subarray(index, index + 1));
    },
  });
  const embed = async (...texts: string[]) =>
    (await remembering.embed(texts, { signal })).map((vector) => [...vector].join());
  return { asked: requested, embed };
}

test('embeds a repeated passage once, and returns its vector each time', async () => {
  const { asked: requested, embed } = counting();
  expect(await embed('a', 'bb', 'a')).toEqual(['1', '2', '1']);
  expect(await embed('bb', 'ccc')).toEqual(['2', '3']);
  expect(requested).toEqual(['a', 'bb', 'ccc']);
});

test('drops the least recently used one first', async () => {
  const { asked: requested, embed } = counting();
  await embed('first', 'second');
  await embed('first');
  await embed(...Array.from({ length: 1999 }, (_, index) => `number ${index}`));
  requested.length = 0;
  expect(await embed('first', 'second')).toEqual(['5', '6']);
  expect(requested).toEqual(['second']);
});

test('retries a passage that could not be embedded', async () => {
  let isBroken = true;
  const remembering = rememberVectors({
    embed: async (texts) => {
      if (isBroken) throw new Error('broken');
      return texts.map(() => Float32Array.of(1));
    },
  });
  await expect(remembering.embed(['a'], { signal })).rejects.toThrow('broken');
  isBroken = false;
  expect(await remembering.embed(['a'], { signal })).toEqual([Float32Array.of(1)]);
});
