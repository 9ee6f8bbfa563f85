import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import { maximumModerationBytes, moderate } from '../../shared/contract/moderation.ts';
import type { Moderation } from '../moderation/create-moderation.ts';
import { type Handler, implement } from './api.ts';
import { payForCall, type Payment } from '../credits/credits.ts';
import {
  type CategoryScores,
  type CheckedText,
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
} from '../../shared/contract/moderation-window.ts';
import type { Guard } from '../completions/guard.ts';
import type { Log } from '../log.ts';
import { exportedBatch, type ModerationBatches } from '../moderation/batches.ts';
import type { Classifier } from '../moderation/provider-classifiers.ts';
import { followResponse, followList } from './stream-response.ts';

function requireSize(input: string): void {
  if (Buffer.byteLength(input) <= maximumModerationBytes) return;
  throw new AppError('payload_too_large', 'input is larger than 1 MB (1,048,576 bytes of UTF-8). Send it in parts.', {
    details: [{ field: 'input', issue: 'is larger than 1 MB' }],
  });
}

interface ModerationOptions extends Payment {
  readonly moderation: Moderation;
}

function callerHandlers({ moderation, ...payment }: ModerationOptions): Handler[] {
  return [
    implement(moderate, async ({ body, signal, caller }) => {
      requireSize(body.input);
      const classify = () => moderation.classify(body.input, { signal });
      const isFree = caller.key === null || !moderation.isPaid();
      const {
        model,
        rawAnswer: _,
        ...result
      } = await (isFree ? classify() : payForCall(caller.key, payment, classify));
      return { id: randomUUID(), model, results: [result] };
    }),
  ];
}

const maxResults = 2000;

export interface ModerationWindowOptions {
  readonly batches: ModerationBatches;
  readonly guard: Guard;
  readonly moderation: Pick<Moderation, 'classifierOf' | 'explain'>;
  readonly log: Log;
}

/** A failure is a result here, because the other classifier may succeed. */
async function checkWith(
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

function requireTextSize(text: string): void {
  if (Buffer.byteLength(text) <= maximumModerationBytes) return;
  throw new AppError('payload_too_large', 'The text is larger than 1 MB (1,048,576 bytes). Check it in parts.');
}

function windowHandlers({ batches, guard, moderation, log }: ModerationWindowOptions): Handler[] {
  const { classifierOf } = moderation;
  return [
    implement(checkText, async ({ body, signal }) => {
      requireTextSize(body.text);
      const classifiers = body.classifiers.map(classifierOf);
      const results = classifiers.map((each) => checkWith(each, body.text, body.thresholds, { signal, log }));
      return { results: await Promise.all(results) };
    }),
    implement(readPresets, ({ body }) => ({ presets: { ...classifierOf(body.classifier).presets } })),
    implement(explainText, ({ body, signal }) => {
      requireTextSize(body.text);
      return moderation.explain(body.text, { signal });
    }),
    implement(createBatch, ({ body, signal }) => batches.create(body, { signal })),
    implement(listBatches, () => ({ data: batches.list() })),
    implement(followBatches, (input) => followResponse(input, (signal) => followList(batches, signal), log)),
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
      void batch.stop();
      return batch.state();
    }),
    implement(exportBatch, ({ parameters, body }) =>
      exportedBatch(batches.find(parameters.id), body.format, body.thresholds),
    ),
    implement(readGuardCosts, () => guard.costs()),
  ];
}

export interface ModerationHandlerOptions extends Payment {
  readonly moderation: Moderation;
  readonly batches: ModerationBatches;
  readonly guard: Guard;
  readonly log: Log;
}

/** The moderation endpoint, and the window's checks, batches and costs. */
export function moderationHandlers(options: ModerationHandlerOptions): Handler[] {
  return [...callerHandlers(options), ...windowHandlers(options)];
}
