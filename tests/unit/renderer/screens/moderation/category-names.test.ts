import { expect, test } from 'vitest';
import { classifierName, judgedScores } from '../../../../../renderer/screens/moderation/categories.tsx';

test("a category that a classifier doesn't support has no score", () => {
  const scores = { sexual: 0.1, hatred: 0.2, harassment: 0, selfHarm: 0.3, violence: 0.4 };
  expect(judgedScores({ kind: 'mistral', model: 'mistral-moderation-latest' }, scores)).toEqual({
    sexual: 0.1,
    hatred: 0.2,
    selfHarm: 0.3,
    violence: 0.4,
  });
});

test("a custom policy is part of the classifier's name", () => {
  const model = { kind: 'model', aiSystem: 'OpenAi', model: 'gpt-4o', policy: null } as const;
  expect([classifierName(model), classifierName({ ...model, policy: 'No knives.' })]).toEqual([
    'gpt-4o',
    'gpt-4o with custom policy',
  ]);
});
