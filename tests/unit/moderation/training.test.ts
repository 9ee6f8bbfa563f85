import { expect, test } from 'vitest';
import { fileHash, dataFiles, readLabelledTexts, type LabelledText } from '../../../scripts/moderation/corpus.ts';
import { drawFolds, groupNearDuplicates } from '../../../scripts/moderation/folds.ts';
import { randomNumbers, scoreOf, trainLogisticRegression } from '../../../scripts/moderation/logistic-regression.ts';
import { exampleTexts } from '../../../renderer/screens/moderation/examples.ts';
import { calibrate } from '../../../scripts/moderation/training.ts';
import weightsFile from '../../../electron/moderation/weights/on-device-1.json' with { type: 'json' };

const textOf = (text: string): LabelledText => ({ text, labels: {}, windows: [{ text, sentences: [] }] });

function examples() {
  const random = randomNumbers(3);
  return Array.from({ length: 200 }, () => {
    const dense = Float32Array.from([random() - 0.5, random() - 0.5]);
    const example = { dense, buckets: Int32Array.of(Math.floor(random() * 8)), values: Float32Array.of(1) };
    return { example, isPositive: dense[0]! + dense[1]! > 0, weight: 50 };
  });
}

const options = { buckets: 8, seed: 5, passes: 40 };

test('logistic regression finds the line between two classes', () => {
  const data = examples();
  const model = trainLogisticRegression(data, options);
  const right = data.filter(({ example, isPositive }) => scoreOf(model, example) > 0 === isPositive);
  expect(right.length).toBeGreaterThan(190);
  expect(model.dense[0]! / model.dense[1]!).toBeCloseTo(1, 0);
});

test('it is at its optimum: the gradient of the regularized loss is zero', () => {
  const data = examples();
  const model = trainLogisticRegression(data, { ...options, passes: 400 });
  const gradient = data.reduce((sum, { example, isPositive, weight }) => {
    const sign = isPositive ? 1 : -1;
    return sum - (weight * sign * example.dense[0]!) / (1 + Math.exp(sign * scoreOf(model, example)));
  }, model.dense[0]!);
  expect(Math.abs(gradient)).toBeLessThan(0.01);
});

test('the same seed gives the same model to the bit', () => {
  expect(trainLogisticRegression(examples(), options)).toEqual(trainLogisticRegression(examples(), options));
});

test('calibrated scores match the frequency of positives', () => {
  const random = randomNumbers(11);
  const scored = Array.from({ length: 5000 }, () => {
    const score = 6 * random() - 3;
    return { score, isPositive: random() < 1 / (1 + Math.exp(-(2 * score - 1))) };
  });
  const { slope, offset } = calibrate(scored);
  expect([slope, offset]).toEqual([expect.closeTo(2, 0), expect.closeTo(-1, 0)]);
});

test('near-duplicates are in one group and in one fold', () => {
  const base = 'the quick brown fox jumps over the lazy dog and runs away into the deep dark wood';
  const texts = [textOf(base), textOf(`${base} again`), textOf('something else entirely is written here today')];
  const groups = groupNearDuplicates(texts);
  const folds = drawFolds(texts, 1);
  expect([groups[0] === groups[1], groups[0] === groups[2], folds[0] === folds[1]]).toEqual([true, false, true]);
});

test('the weights come from the current data files', () => {
  expect(weightsFile.data).toEqual({
    'openai-evaluation-half.jsonl': fileHash(dataFiles.given),
    'own-training.jsonl': fileHash(dataFiles.own),
  });
});

test('no text of the benign set was used for training', () => {
  const learned = new Set(
    [...readLabelledTexts(dataFiles.given), ...readLabelledTexts(dataFiles.own)].map(({ text }) => text),
  );
  const benign = readLabelledTexts(dataFiles.benign);
  expect(benign.filter(({ text }) => learned.has(text))).toEqual([]);
  expect(benign.length).toBeGreaterThanOrEqual(500);
});

test('no example of the screen was used for training', () => {
  const learned = new Set(
    [...readLabelledTexts(dataFiles.given), ...readLabelledTexts(dataFiles.own)].map(({ text }) => text),
  );
  expect(exampleTexts.filter(({ text }) => learned.has(text))).toEqual([]);
});
