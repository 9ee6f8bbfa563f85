import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { DatasetJob } from '../../shared/contract/dataset-import.ts';
import { maxLabels } from '../../shared/contract/judges.ts';
import type { ReviewExportFormat } from '../../shared/contract/review-exports.ts';
import type { AnswerValue } from '../../shared/contract/rubrics.ts';
import type { Judges } from '../comparisons/judge/create-judges.ts';
import type { RunDatasets } from '../datasets/create-run-datasets.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { Agreement } from './create-agreement.ts';
import { isComplete } from './create-reviews.ts';
import { type DoneItem, eachDoneItem } from './done-items.ts';
import { exportEvidence } from './evidence-page.ts';
import { type ExportOptions, exportCsv, exportPreferences } from './export-reviews.ts';

interface ExportCall {
  /** Whether the caller may see the reviews of an unfinished queue. */
  readonly canDecide: boolean;
  readonly reader: FileReader;
  readonly signal: AbortSignal;
}

/** All throw `not_found`, and `forbidden` for who must not see the reviews yet. */
export interface ReviewExports {
  write(id: string, format: ReviewExportFormat, call: ExportCall): Promise<AsyncGenerator<string>>;
  /** Throws `conflict` without a done item. */
  createDataset(
    id: string,
    input: { readonly name: string; readonly answer?: 'expected' | 'text' | 'none' | undefined },
    call: ExportCall,
  ): Promise<DatasetJob>;
  /** Throws `invalid_request` for a judge of preferences and for an item that is neither yes or no nor a score. */
  calibrate(
    id: string,
    input: { readonly judgeId: string; readonly rubricItemId: string; readonly passFrom?: number | undefined },
    call: ExportCall,
  ): Promise<{ added: number; skipped: number }>;
}

export interface ReviewExportsOptions extends ExportOptions {
  readonly agreement: Pick<Agreement, 'measure'>;
  readonly runDatasets: Pick<RunDatasets, 'start'>;
  readonly judges: Pick<Judges, 'labels' | 'setLabel'>;
}

const defaultPassFrom = 1;

export function createReviewExports(options: ReviewExportsOptions): ReviewExports {
  const { store, reviews, agreement, runDatasets, judges } = options;

  function open(id: string, { canDecide }: ExportCall) {
    const queue = store.read(id);
    if (canDecide || isComplete(store, queue)) return queue;
    throw new AppError(
      'forbidden',
      'The queue is not complete, and its reviews would show what others answered. Use a key with the scope `manage`, or wait.',
    );
  }

  async function allDone(id: string, call: ExportCall): Promise<DoneItem[]> {
    const found: DoneItem[] = [];
    for await (const slice of eachDoneItem(open(id, call), options, call.signal)) found.push(...slice);
    return found;
  }

  return {
    async write(id, format, call) {
      const queue = open(id, call);
      if (format === 'csv') return exportCsv(queue, options, call.signal);
      if (format === 'preferences') return exportPreferences(queue, options, call.signal);
      const measured = await agreement.measure(id, call);
      const progress = reviews.progress(queue.sequence, queue.plan.reviewerIds ?? []);
      return exportEvidence({ queue, agreement: measured, progress }, options, call.signal);
    },
    async createDataset(id, { name, answer }, call) {
      const done = await allDone(id, call);
      if (done.length === 0) throw new AppError('conflict', 'The queue has no done item yet.');
      // Its people have read the texts already.
      const readsTeam = store.read(id).plan.source === 'team';
      const runIds = [...new Set(done.map(({ item }) => item.runId))];
      return runDatasets.start({ name, selection: { runIds }, ...(answer && { answer }) }, { ...call, readsTeam });
    },
    async calibrate(id, { judgeId, rubricItemId, passFrom = defaultPassFrom }, call) {
      const item = store.read(id).rubric.items.find((one) => one.id === rubricItemId.toLowerCase());
      if (!item || (item.kind !== 'yesNo' && item.kind !== 'score'))
        throw invalidField('rubricItemId', 'must be a yes or no item or a score of the rubric');
      const passes = (value: AnswerValue) => (typeof value === 'boolean' ? value : Number(value) >= passFrom);
      const labelled = new Set(judges.labels(judgeId).map(({ runId }) => runId));
      const done = await allDone(id, call);
      let added = 0;
      for (const { item: reviewed, final } of done) {
        const value = final.get(item.id);
        if (value === undefined || labelled.has(reviewed.runId) || labelled.size >= maxLabels) continue;
        if (options.runs.read(reviewed.runId) === null) continue;
        judges.setLabel(judgeId, { runId: reviewed.runId, label: passes(value) ? 'pass' : 'fail' }, call.reader);
        labelled.add(reviewed.runId);
        added += 1;
        await nextTurn();
        call.signal.throwIfAborted();
      }
      return { added, skipped: done.length - added };
    },
  };
}
