import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { DatasetJob } from '../../shared/contract/dataset-import.ts';
import { maxLabels } from '../../shared/contract/judges.ts';
import type { ReviewExportFormat } from '../../shared/contract/review-exports.ts';
import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';
import type { Judges } from '../comparisons/judge/create-judges.ts';
import type { RunDatasets, RunReader } from '../datasets/create-run-datasets.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { Agreement } from './create-agreement.ts';
import { isComplete } from './create-reviews.ts';
import { type DoneItem, eachDoneItem } from './done-items.ts';
import { exportEvidence } from './evidence-page.ts';
import { correctionsOf, exportPreferences, type PreferenceOptions } from './export-preferences.ts';
import { exportCsv } from './export-reviews.ts';
import { checkMeaning, labelOf, meaningOf } from './outside-ratings.ts';

/** Which answers pass. */
interface PassInput {
  readonly passFrom?: number | undefined;
  readonly passValue?: string | undefined;
}

interface ReviewDatasetInput {
  readonly name: string;
  readonly answer?: 'text' | 'none' | undefined;
  readonly ratings?: boolean | undefined;
  readonly expected?: ({ readonly rubricItemId?: string | undefined } & PassInput) | undefined;
}

interface ExportCall {
  /** Whether the caller may see the reviews of an unfinished queue. */
  readonly canDecide: boolean;
  readonly reader: FileReader;
  readonly signal: AbortSignal;
}

/** All throw `not_found`, and `forbidden` for who must not see the reviews yet. */
export interface ReviewExports {
  write(id: string, format: ReviewExportFormat, call: ExportCall): Promise<AsyncGenerator<string>>;
  /** Throws `conflict` without a done item, and `invalid_request` for an item that can't say which answers are expected. */
  createDataset(id: string, input: ReviewDatasetInput, call: ExportCall): Promise<DatasetJob>;
  /** Throws `invalid_request` for a judge of preferences and for an item or a `passValue` that says of no answer whether it passes. */
  calibrate(
    id: string,
    input: { readonly judgeId: string; readonly rubricItemId: string } & PassInput,
    call: ExportCall,
  ): Promise<{ added: number; skipped: number }>;
}

export interface ReviewExportsOptions extends PreferenceOptions {
  readonly agreement: Pick<Agreement, 'measure'>;
  readonly runDatasets: Pick<RunDatasets, 'start'>;
  readonly judges: Pick<Judges, 'labels' | 'setLabel'>;
}

const defaultPassFrom = 1;

/**
 * Tells which answers to an item of the rubric pass. Throws `invalid_request` for an item that no answer passes or fails, and for one without
 * the answer. `prefix` is that of the fields.
 */
function requirePass(
  { items }: StoredQueue['rubric'],
  { rubricItemId: id, passFrom = defaultPassFrom, passValue }: PassInput & { readonly rubricItemId: string },
  prefix = '',
): { readonly item: RubricItem; readonly passes: (value: AnswerValue) => boolean } {
  const item = items.find((one) => one.id === id.toLowerCase());
  if (!item || item.kind === 'text')
    throw invalidField(`${prefix}rubricItemId`, 'must be a yes or no item, a category or a score of the rubric');
  if (passValue !== undefined) checkMeaning(items, { rubricItemId: item.id, passValue }, prefix);
  if (item.kind === 'score') return { item, passes: (value) => Number(value) >= passFrom };
  const passing = meaningOf(item, { rubricItemId: item.id, passValue }).passValue;
  if (passing === null) throw invalidField(`${prefix}passValue`, 'is required for a category');
  return { item, passes: (value) => labelOf(value) === passing };
}

/** The expected answer of each run: its correction, or true where its own answer passes. Throws `invalid_request`. */
function expectedAnswers(
  { rubric }: StoredQueue,
  { rubricItemId, ...pass }: NonNullable<ReviewDatasetInput['expected']>,
  done: readonly DoneItem[],
): (runId: string) => string | true | null {
  const rating = rubricItemId === undefined ? null : requirePass(rubric, { rubricItemId, ...pass }, 'expected.');
  if (rating === null && !rubric.items.some(({ isCorrection }) => isCorrection))
    throw invalidField('expected.rubricItemId', 'is required, because no item of the rubric is a correction');
  const found = done.map(({ item, ...rest }): [string, string | true | null] => {
    const corrections = correctionsOf(rubric, { item, ...rest });
    if (corrections.length > 0) return [item.runId, corrections.length === 1 ? corrections[0]! : null];
    const value = rating === null ? undefined : rest.final.get(rating.item.id);
    return [item.runId, value !== undefined && rating?.passes(value) ? true : null];
  });
  const byRun = new Map(found);
  return (runId) => byRun.get(runId) ?? null;
}

const maxColumnName = 200;

/** A column for each item of the rubric, with its final value. */
function ratingColumns({ rubric }: StoredQueue, done: readonly DoneItem[]): NonNullable<RunReader['ratings']> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { id, question } of rubric.items) {
    const text = `review: ${question.replaceAll(/\p{Cc}+/gu, ' ')}`;
    const nameWith = (ending: string) => text.slice(0, maxColumnName - ending.length).toWellFormed() + ending;
    let name = nameWith('');
    for (let next = 2; taken.has(name); next += 1) name = nameWith(` (${next})`);
    taken.add(name);
    names.set(id, name);
  }
  const isText = ({ kind }: RubricItem) => kind === 'text' || kind === 'category';
  const rows = new Map(
    done.map(({ item, final }) => [
      item.runId,
      Object.fromEntries([...final].map(([id, value]) => [names.get(id)!, value])),
    ]),
  );
  return {
    columns: rubric.items.map((item) => ({ name: names.get(item.id)!, type: isText(item) ? 'text' : 'json' })),
    of: (runId) => rows.get(runId) ?? {},
  };
}

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
    async createDataset(id, { name, answer = 'text', ratings = true, expected }, call) {
      const done = await allDone(id, call);
      if (done.length === 0) throw new AppError('conflict', 'The queue has no done item yet.');
      // Its people have read the texts already.
      const queue = store.read(id);
      const readsTeam = queue.plan.source === 'team';
      const expectedOf = expected && expectedAnswers(queue, expected, done);
      const runIds = [...new Set(done.map(({ item }) => item.runId))];
      const author = {
        ...call,
        readsTeam,
        ...(expectedOf && { expectedOf }),
        ...(ratings && { ratings: ratingColumns(queue, done) }),
      };
      return runDatasets.start({ name, selection: { runIds }, answer }, author);
    },
    async calibrate(id, { judgeId, ...pass }, call) {
      const { item, passes } = requirePass(store.read(id).rubric, pass);
      const labelled = new Set(judges.labels(judgeId).map(({ runId }) => runId));
      const done = await allDone(id, call);
      let added = 0;
      for (const { item: reviewed, final } of done) {
        const value = final.get(item.id);
        if (value === undefined || labelled.has(reviewed.runId) || labelled.size >= maxLabels) continue;
        if (options.runs.read(reviewed.runId) === null) continue;
        const label = passes(value) ? 'pass' : 'fail';
        judges.setLabel(judgeId, { runId: reviewed.runId, label }, call.reader);
        labelled.add(reviewed.runId);
        added += 1;
        await nextTurn();
        call.signal.throwIfAborted();
      }
      return { added, skipped: done.length - added };
    },
  };
}
