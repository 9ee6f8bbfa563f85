import { expect, test } from 'vitest';
import { questionOf } from '../../../../electron/knowledge/grounding/create-grounding.ts';

const material = 'The harbour was quiet that morning. '.repeat(60);

test('searches with the whole of a short prompt', () => {
  expect(questionOf('  Summarise our rules on travel.\n')).toBe('Summarise our rules on travel.');
});

test('searches with the questions and the end of a long prompt', () => {
  const prompt = `When does the ferry leave? ${material}Who steers it?\n${material}Answer in one sentence.`;
  const question = questionOf(prompt);
  expect(question).toMatch(/^When does the ferry leave\? Who steers it\?\n[^]*Answer in one sentence\.$/);
  expect(question.length).toBeLessThanOrEqual(1000);
});

test('searches with the end of a long prompt without a question, starting at a word', () => {
  const question = questionOf(`${material}Translate this for the captain.`);
  expect(question).toMatch(/^\w+ [^]*Translate this for the captain\.$/);
  expect(material).toContain(question.slice(0, 60));
});

test('limits a long text without any space', () => {
  expect(questionOf('x'.repeat(5000))).toHaveLength(999);
});

test('finds questions in scripts without spaces', () => {
  expect(questionOf(`${'港は静かだった。'.repeat(300)}船はいつ出ますか？${'海は青い。'.repeat(100)}`)).toMatch(
    /^船はいつ出ますか？\n/,
  );
});
