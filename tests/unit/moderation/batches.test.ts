import { afterEach, describe, expect, test, vi } from 'vitest';
import { createModerationBatches, exportedBatch } from '../../../electron/moderation/batches.ts';
import { forEachCategory, type Classifier } from '../../../electron/moderation/provider-classifiers.ts';
import { AppError } from '../../../shared/app-error.ts';
import type { Batch } from '../../../shared/contract/moderation-window.ts';
import type { ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { patience } from '../../support/patience.ts';

const onDevice: ModerationClassifier = { kind: 'on-device' };
const openAi: ModerationClassifier = { kind: 'open-ai', model: 'omni-moderation-latest' };
const half = forEachCategory(() => 0.5);
const presets = { strict: half, balanced: half, lenient: half };
const { signal } = new AbortController();

/** A text is as violent as it says. */
const numberReader: Classifier = {
  presets,
  classify: async (input) => {
    if (input === 'too long') throw new AppError('invalid_request', 'The model supports 8192 tokens.');
    if (input === 'broken') throw new AppError('provider_failed', 'It failed.');
    const scores = forEachCategory((category) => (category === 'violence' ? Number(input) : 0));
    return { model: 'reader', scores, highlights: [], rawAnswer: null };
  },
};
const keyless: Classifier = {
  presets,
  classify: () => Promise.reject(new AppError('provider_not_configured', 'Set the key of OpenAi.')),
};
/** Never answers until it is stopped. */
const patient: Classifier = {
  presets,
  classify: (_, { signal: stop }) =>
    new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason as Error))),
};

let close = async () => {};
afterEach(() => close());

function batchesWith(first: Classifier, second: Classifier = numberReader) {
  const batches = createModerationBatches({
    storage: {} as never,
    classifierOf: ({ kind }) => (kind === 'on-device' ? first : second),
    log: () => {},
  });
  close = batches.close;
  const begin = (texts: readonly string[], classifiers = [onDevice]) =>
    batches.create(
      { name: 'tickets 1.csv', classifiers, source: { kind: 'texts', texts: texts.map((text) => ({ text })) } },
      { signal },
    );
  const ended = ({ id }: Batch) =>
    vi.waitFor(() => {
      const batch = batches.find(id).state();
      if (batch.state === 'running') throw new Error('It is still running.');
      return batch;
    }, patience);
  return { batches, begin, ended };
}

describe('a batch', () => {
  test('has the scores of every text, by each classifier', async () => {
    const { batches, begin, ended } = batchesWith(numberReader, numberReader);
    const batch = await ended(await begin(['0.9', '0.1'], [onDevice, openAi]));
    expect(batch).toMatchObject({ state: 'completed', total: 2, classifiers: [{ done: 2 }, { done: 2 }] });
    expect(batches.find(batch.id).results(1, 5)).toEqual([
      {
        title: '0.1',
        words: 1,
        labels: null,
        scores: [
          [0, 0, 0, 0, 0.1],
          [0, 0, 0, 0, 0.1],
        ],
      },
    ]);
  });

  test('continues after a text that fails, and stops after three consecutive failures', async () => {
    const { batches, begin, ended } = batchesWith(numberReader);
    const one = await ended(await begin(['broken', '0.5']));
    expect(one).toMatchObject({ state: 'completed', classifiers: [{ done: 2, failed: 1, failure: null }] });
    expect(
      batches
        .find(one.id)
        .results(0, 2)
        .map(({ scores }) => scores[0] !== null),
    ).toEqual([false, true]);
    const all = await ended(await begin(['broken', 'broken', 'broken', '0.5']));
    expect(all).toMatchObject({ state: 'failed', classifiers: [{ failed: 3, failure: { code: 'provider_failed' } }] });
  });

  test('continues after a text that the model rejects', async () => {
    const { begin, ended } = batchesWith(numberReader);
    expect(await ended(await begin(['too long', '0.5']))).toMatchObject({
      state: 'completed',
      classifiers: [{ done: 2, failed: 1, failure: null }],
    });
  });

  test('does not call a classifier without a key again, while the other one continues', async () => {
    const { begin, ended } = batchesWith(numberReader, keyless);
    expect(await ended(await begin(['0.9', '0.1'], [onDevice, openAi]))).toMatchObject({
      state: 'completed',
      classifiers: [
        { done: 2, failure: null },
        { done: 0, failure: { message: 'Set the key of OpenAi.' } },
      ],
    });
  });

  test('stops at once on request', async () => {
    const { batches, begin, ended } = batchesWith(patient);
    const { id } = await begin(['0.9']);
    void batches.find(id).stop();
    expect(await ended({ id } as Batch)).toMatchObject({ state: 'stopped', classifiers: [{ done: 0 }] });
  });

  test('is dropped when eight newer ones exist', async () => {
    const { batches, begin } = batchesWith(numberReader);
    const { id } = await begin(['0.1']);
    for (let count = 0; count < 8; count += 1) await begin(['0.1']);
    expect(() => batches.find(id)).toThrow(AppError);
    expect(batches.list()).toHaveLength(8);
  });

  test('is exported as CSV and JSONL with flags at the current thresholds', async () => {
    const { batches, begin, ended } = batchesWith(numberReader);
    const { id } = await ended(await begin(['0.9', '0.1']));
    const csv = exportedBatch(batches.find(id), 'csv', [half]);
    expect(csv.fileName).toBe('tickets-1-moderation.csv');
    expect(csv.content.split('\r\n').slice(1, 3)).toEqual([
      '1,0.9,,,,,,reader,0,0,0,0,0.9,violence',
      '2,0.1,,,,,,reader,0,0,0,0,0.1,',
    ]);
    const low = exportedBatch(batches.find(id), 'jsonl', [{ ...half, violence: 0.05 }]);
    expect(
      low.content
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      { index: 1, text: '0.9', classifiers: [{ flagged: ['violence'] }] },
      { index: 2, text: '0.1', classifiers: [{ flagged: ['violence'] }] },
    ]);
  });
});
