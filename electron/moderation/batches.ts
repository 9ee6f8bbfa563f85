import { randomUUID } from 'node:crypto';
import { invalidField } from '../../shared/app-error.ts';
import type { AuditFilter } from '../../shared/contract/audit.ts';
import {
  type Batch,
  type BatchInput,
  type BatchText,
  type CategoryScores,
  maxBatchTexts,
} from '../../shared/contract/moderation-window.ts';
import { categories, type ModerationClassifier } from '../../shared/contract/moderation.ts';
import { createJobRegistry } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { ModerationBatch } from './batch.ts';
import type { Classifier } from './provider-classifiers.ts';
import { csvLine } from '../common/csv.ts';

/** One JSON object per line. A missing label or score is null. */
function jsonLines(batch: ModerationBatch, thresholds: readonly CategoryScores[]): string {
  let content = '';
  for (const { text, labels, judged, index } of batch.records(thresholds)) {
    const classifiers = judged.map(({ model, scores, flagged }) => ({
      model,
      scores: scores && Object.fromEntries(categories.map((category, at) => [category, scores[at]])),
      flagged,
    }));
    content += `${JSON.stringify({ index, text, labels, classifiers })}\n`;
  }
  return content;
}

function csv(batch: ModerationBatch, thresholds: readonly CategoryScores[]): string {
  const names = batch.state().classifiers.map((_, index) => 'ab'[index]!);
  const ofClassifiers = names.flatMap((name) => [
    `${name}_model`,
    ...categories.map((each) => `${name}_${each}`),
    `${name}_flagged`,
  ]);
  let content = csvLine(['index', 'text', ...categories.map((each) => `label_${each}`), ...ofClassifiers]);
  for (const { text, labels, judged, index } of batch.records(thresholds)) {
    const cells = judged.flatMap(({ model, scores, flagged }) => [
      model,
      ...categories.map((_, at) => scores?.[at]),
      flagged?.join(' '),
    ]);
    content += csvLine([index, text, ...categories.map((each) => labels?.[each]), ...cells]);
  }
  return content;
}

/** A batch as a file: its name and its text. */
export function exportedBatch(
  batch: ModerationBatch,
  format: 'csv' | 'jsonl',
  thresholds: readonly CategoryScores[],
): { fileName: string; content: string } {
  const name =
    batch
      .state()
      .name.replace(/\.\w{1,5}$/, '')
      .replace(/\W+/g, '-')
      .replace(/^-|-$/g, '') || 'texts';
  const content = format === 'csv' ? csv(batch, thresholds) : jsonLines(batch, thresholds);
  return { fileName: `${name}-moderation.${format}`, content };
}

/** Older batches are dropped: texts and scores are only in memory. */
const maxBatches = 8;

const auditPageSize = 200;

export interface ModerationBatches {
  /** Throws `invalid_request` if no text of the audit matches. */
  create(input: BatchInput, options: { signal: AbortSignal }): Promise<Batch>;
  /** Newest first. */
  list(): Batch[];
  subscribe(listener: (batches: Batch[]) => void): () => void;
  /** Throws `not_found`. */
  find(id: string): ModerationBatch;
  /** Stops every batch. Resolves when none is running. */
  close(): Promise<void>;
}

export interface ModerationBatchesOptions {
  readonly storage: Pick<Storage, 'audit' | 'runs'>;
  readonly classifierOf: (choice: ModerationClassifier) => Classifier;
  readonly log: Log;
}

export function createModerationBatches({ storage, classifierOf, log }: ModerationBatchesOptions): ModerationBatches {
  const batches = createJobRegistry<ModerationBatch>({
    notFound: 'This batch is no longer in memory. Import the texts again.',
    maxJobs: maxBatches,
  });

  async function textsOf(source: BatchInput['source'], signal: AbortSignal): Promise<BatchText[]> {
    if (source.kind === 'texts') return source.texts;
    const { conversationIds, filter, side } = source;
    const filters = conversationIds?.map((conversationId) => ({ conversationId })) ?? [filter ?? {}];
    const texts: BatchText[] = [];
    for (const each of filters) {
      for await (const text of auditTexts(storage, each, side, signal)) {
        texts.push({ text });
        if (texts.length === maxBatchTexts) return texts;
      }
    }
    if (texts.length === 0)
      throw invalidField('source', `has no run with ${side === 'prompts' ? 'a prompt' : 'an answer'}`);
    return texts;
  }

  return {
    list: batches.list,
    subscribe: batches.subscribe,
    find: batches.find,
    close: batches.close,
    async create({ name, classifiers, source }, { signal }) {
      const batch = new ModerationBatch({
        id: randomUUID(),
        name,
        texts: await textsOf(source, signal),
        classifiers: classifiers.map((choice) => ({ choice, classifier: classifierOf(choice) })),
        onChange: batches.changed,
        log,
      });
      batches.add(batch);
      batch.start();
      return batch.state();
    },
  };
}

/** Prompts or answers of the runs that match a filter, the conversation with the newest run first. */
async function* auditTexts(
  { audit, runs }: ModerationBatchesOptions['storage'],
  filter: AuditFilter,
  side: 'prompts' | 'answers',
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  let snapshot: string | undefined;
  for (let offset = 0; ; offset += auditPageSize) {
    const page = await audit.search({ filter, sort: 'newest', limit: auditPageSize, offset, snapshot }, { signal });
    for (const runId of page.rows.flatMap(({ matchedRunIds }) => matchedRunIds)) {
      const run = runs.read(runId);
      const text = side === 'prompts' ? run?.input.renderedPrompt : run?.output.content;
      if (text) yield text;
    }
    if (page.rows.length < auditPageSize) return;
    snapshot = page.snapshot;
  }
}
