import { AppError } from '../../shared/app-error.ts';
import {
  checkText,
  createBatch,
  explainText,
  exportBatch,
  followBatches,
  listBatches,
  readBatchResults,
  readBatchText,
  readGuardCosts,
  readPresets,
  stopBatch,
  type CategoryScores,
  type CheckedText,
} from '../../shared/contract/moderation-window.ts';
import { maximumModerationBytes } from '../../shared/contract/moderation.ts';
import type { Guard } from '../completions/guard.ts';
import type { Log } from '../log.ts';
import type { ModerationBatches } from '../moderation/batches.ts';
import { exportedBatch } from '../moderation/batches-export.ts';
import type { Classifier } from '../moderation/classifier.ts';
import type { Moderation } from '../moderation/create-moderation.ts';
import { followAnswer } from './follow-answer.ts';
import { followList } from './follow-list.ts';
import { implement, type Handler } from './handler.ts';

const maxResults = 2000;

export interface ModerationWindowOptions {
  readonly batches: ModerationBatches;
  readonly guard: Guard;
  readonly moderation: Pick<Moderation, 'classifierOf' | 'explain'>;
  readonly log: Log;
}

/** A failure is an answer here: the other classifier may well have one. */
async function check(
  classifier: Classifier,
  text: string,
  chosen: CategoryScores | undefined,
  { signal, log }: { signal: AbortSignal; log: ModerationWindowOptions['log'] },
): Promise<CheckedText> {
  const defaultThresholds = classifier.presets.balanced;
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    const { model, scores, highlights } = await classifier.classify(text, {
      thresholds: chosen ?? defaultThresholds,
      signal,
    });
    return { model, scores, highlights: [...highlights], defaultThresholds, milliseconds: took(), failure: null };
  } catch (error) {
    if (signal.aborted) throw error;
    const isExpected = error instanceof AppError;
    if (!isExpected) log('a text could not be classified', error);
    const failure = isExpected
      ? { code: error.code, message: error.message }
      : { code: 'internal', message: 'Internal error. See the log for details.' };
    return { model: null, scores: null, highlights: [], defaultThresholds, milliseconds: took(), failure };
  }
}

function requireSize(text: string): void {
  if (Buffer.byteLength(text) <= maximumModerationBytes) return;
  throw new AppError('payload_too_large', 'The text is larger than 1 MB (1,048,576 bytes). Check it in parts.');
}

export function moderationWindowHandlers({ batches, guard, moderation, log }: ModerationWindowOptions): Handler[] {
  const { classifierOf } = moderation;
  return [
    implement(checkText, async ({ body, signal }) => {
      requireSize(body.text);
      const classifiers = body.classifiers.map(classifierOf);
      const results = classifiers.map((each) => check(each, body.text, body.thresholds, { signal, log }));
      return { results: await Promise.all(results) };
    }),
    implement(readPresets, ({ body }) => ({ presets: { ...classifierOf(body.classifier).presets } })),
    implement(explainText, ({ body, signal }) => {
      requireSize(body.text);
      return moderation.explain(body.text, { signal });
    }),
    implement(createBatch, ({ body, signal }) => batches.create(body, { signal })),
    implement(listBatches, () => ({ data: batches.list() })),
    implement(followBatches, (input) => followAnswer(input, (signal) => followList(batches, signal), log)),
    implement(readBatchResults, ({ parameters, query }) => ({
      results: batches.find(parameters.id).results(query.offset, Math.min(query.limit ?? maxResults, maxResults)),
    })),
    implement(readBatchText, ({ parameters }) => {
      const text = batches.find(parameters.id).text(parameters.index);
      if (text === null) throw new AppError('not_found', 'The batch has no text with this number.');
      return { text };
    }),
    implement(stopBatch, ({ parameters }) => {
      const batch = batches.find(parameters.id);
      batch.stop();
      return batch.summary();
    }),
    implement(exportBatch, ({ parameters, body }) =>
      exportedBatch(batches.find(parameters.id), body.format, body.thresholds),
    ),
    implement(readGuardCosts, () => guard.costs()),
  ];
}
