import { expect, test } from 'vitest';
import { questionOf } from '../../../../electron/knowledge/grounding/create-grounding.ts';

const material = 'The harbour was quiet that morning. '.repeat(60);

test('a short prompt is searched whole', () => {
  expect(questionOf('  Summarise our rules on travel.\n')).toBe('Summarise our rules on travel.');
});

test('of a long prompt the sentences that ask are searched, and its end', () => {
  const prompt = `When does the ferry leave? ${material}Who steers it?\n${material}Answer in one sentence.`;
  const question = questionOf(prompt);
  expect(question).toMatch(/^When does the ferry leave\? Who steers it\?\n[^]*Answer in one sentence\.$/);
  expect(question.length).toBeLessThanOrEqual(1000);
});

test('a long prompt without a question is searched by its end, from a whole word on', () => {
  const question = questionOf(`${material}Translate this for the captain.`);
  expect(question).toMatch(/^\w+ [^]*Translate this for the captain\.$/);
  expect(material).toContain(question.slice(0, 60));
});

test('a long text without any space keeps to the length', () => {
  expect(questionOf('x'.repeat(5000))).toHaveLength(999);
});

test('questions in scripts without spaces are seen', () => {
  expect(questionOf(`${'港は静かだった。'.repeat(300)}船はいつ出ますか？${'海は青い。'.repeat(100)}`)).toMatch(
    /^船はいつ出ますか？\n/,
  );
});
