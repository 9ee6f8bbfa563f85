import { expect, test } from 'vitest';
import { openRetention, recordAged } from './retention/test-retention.ts';

const signal = new AbortController().signal;

test('finds words inside texts without spaces', async () => {
  const { storage } = openRetention();
  const record = (renderedPrompt: string) => recordAged(storage, 1, { renderedPrompt });
  await record('明日の東京の天気を教えてください');
  await record('北京今天天气怎么样？');
  await record('พรุ่งนี้อากาศในกรุงเทพเป็นอย่างไร');
  await record('The weather in Seoul: 서울 날씨');
  const total = async (text: string) =>
    (await storage.audit.search({ filter: { text }, sort: 'newest', limit: 1 }, { signal })).total;
  const searches = [
    '天気',
    '東京 天気',
    '東京\u3000天気',
    '"京の天"',
    '東京 NOT 大阪',
    '天*',
    '気天',
    '今天',
    'อากาศ',
    '날씨',
  ];
  const totals = await Promise.all(searches.map(async (text) => [text, await total(text)]));
  expect(Object.fromEntries(totals)).toEqual({
    天気: 1,
    '東京 天気': 1,
    '東京\u3000天気': 1,
    '"京の天"': 1,
    '東京 NOT 大阪': 1,
    '天*': 2,
    気天: 0,
    今天: 1,
    อากาศ: 1,
    날씨: 1,
  });
  // FTS5 does not take it: its words are looked for.
  expect(await total('天気 (東京')).toBe(1);
});
