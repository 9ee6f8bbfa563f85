import { hash } from 'node:crypto';
import type { AnswerValue, RubricItem } from '../../shared/contract/rubrics.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { csvLine } from '../common/csv.ts';
import { readAnywhere, type TeamRecords } from '../team/team-records.ts';
import type { RunStore } from '../storage/storage.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import { labelOf } from './outside-ratings.ts';
import { goldOf } from './describe-item.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem } from './done-items.ts';

export interface ExportOptions extends DoneItemsOptions {
  readonly runs: Pick<RunStore, 'read'>;
  readonly team: TeamRecords;
}

/** A run of this device, or for a queue of the team's runs of another host. */
const readRun = (runId: string, { plan }: StoredQueue, { runs, team }: ExportOptions): Promise<RunDetail | null> =>
  readAnywhere(runId, runs, plan.source === 'team' ? team : undefined);

/** A line for each done item and item of the rubric, with two columns per reviewer: what they answered, and why. */
export async function* exportCsv(
  queue: StoredQueue,
  options: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const reviewers = options.reviews.progress(queue.sequence, []);
  const names = reviewers.map(({ name }) => name);
  const notes = names.map((name) => `${name}: note`);
  const before = ['item', 'conversation', 'run', 'stratum', 'flagged', 'question'];
  yield csvLine([...before, ...names, 'final', 'decided by', ...notes, 'discussion']);
  for await (const slice of eachDoneItem(queue, options, signal)) {
    let lines = '';
    for (const done of slice)
      for (const item of queue.rubric.items) lines += csvLine(csvCells(queue, done, item, reviewers));
    yield lines;
  }
}

const shown = (value: AnswerValue | undefined) => (value === undefined ? null : labelOf(value));

function csvCells(
  queue: StoredQueue,
  { item, reviews, skips, comments, final }: DoneItem,
  { id, question }: RubricItem,
  reviewers: readonly { readonly reviewer: number }[],
): unknown[] {
  const given = reviewers.map(({ reviewer }) => {
    const own = reviews.find((review) => review.reviewer === reviewer);
    return shown(own?.answers.find(({ rubricItemId }) => rubricItemId === id)?.value);
  });
  /** Of the answer and of the whole review, or why the reviewer skipped the item. */
  const noteOf = (reviewer: number): string => {
    const skip = skips.find((one) => one.reviewer === reviewer);
    const own = reviews.find((review) => review.reviewer === reviewer);
    const answer = own?.answers.find(({ rubricItemId }) => rubricItemId === id);
    return skip ? `Skipped: ${skip.note ?? ''}` : [answer?.note, own?.note].filter((note) => note).join('\n');
  };
  const stratum = queue.strata[item.stratum]?.name ?? '';
  const flagged = item.isFlagged === 1 ? 'yes' : 'no';
  return [
    item.position + 1,
    item.conversationId,
    item.runId,
    stratum,
    flagged,
    question,
    ...given,
    shown(final.get(id)),
    goldOf(item).some(({ rubricItemId }) => rubricItemId === id) ? item.goldBy : null,
    ...reviewers.map(({ reviewer }) => noteOf(reviewer)),
    comments.map(({ reviewerName, text }) => `${reviewerName}: ${text}`).join('\n'),
  ];
}

const promptOf = ({ input }: RunDetail) => input.renderedPrompt ?? input.promptText;

function preferenceLine(
  prompt: string,
  chosen: string,
  rejected: string,
  source: string,
  runIds: readonly string[],
): string {
  return `${JSON.stringify({ prompt, chosen, rejected, source, runIds })}\n`;
}

interface Rated {
  readonly runId: string;
  readonly rating: number;
}

/** The rating of an answer: its first score, otherwise the first yes or no. */
function ratingOf({ items }: StoredQueue['rubric'], { final }: DoneItem): number | null {
  const item = items.find(({ kind }) => kind === 'score') ?? items.find(({ kind }) => kind === 'yesNo');
  const value = item && final.get(item.id);
  return value === undefined ? null : Number(value);
}

/** What reviewers wrote in place of an answer: the final text, otherwise each of theirs. Other texts are remarks. */
export function correctionsOf({ items }: StoredQueue['rubric'], { final, reviews }: DoneItem): string[] {
  const item = items.find(({ isCorrection }) => isCorrection);
  if (!item) return [];
  const decided = final.get(item.id);
  if (decided !== undefined) return [String(decided)];
  const given = reviews.flatMap(({ answers }) => answers.filter(({ rubricItemId }) => rubricItemId === item.id));
  return [...new Set(given.map(({ value }) => String(value)))];
}

/** Chosen and rejected answers as JSONL: corrections against the answer, and answers to the same prompt by their ratings. */
export async function* exportPreferences(
  queue: StoredQueue,
  options: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const byPrompt = new Map<string, Rated[]>();
  for await (const slice of eachDoneItem(queue, options, signal)) {
    let lines = '';
    for (const done of slice) {
      const run = await readRun(done.item.runId, queue, options);
      if (run === null) continue;
      const prompt = promptOf(run);
      for (const correction of correctionsOf(queue.rubric, done))
        if (correction !== run.output.content)
          lines += preferenceLine(prompt, correction, run.output.content, 'correction', [run.runId]);
      const rating = ratingOf(queue.rubric, done);
      if (rating === null) continue;
      const key = hash('sha256', JSON.stringify([run.input.systemMessage, prompt]));
      byPrompt.set(key, [...(byPrompt.get(key) ?? []), { runId: run.runId, rating }]);
    }
    yield lines;
  }
  for (const rated of byPrompt.values()) {
    const [best, worst] = [
      rated.reduce((one, other) => (other.rating > one.rating ? other : one)),
      rated.reduce((one, other) => (other.rating < one.rating ? other : one)),
    ];
    if (best.rating === worst.rating) continue;
    const [chosen, rejected] = [await readRun(best.runId, queue, options), await readRun(worst.runId, queue, options)];
    if (chosen && rejected)
      yield preferenceLine(promptOf(chosen), chosen.output.content, rejected.output.content, 'rating', [
        best.runId,
        worst.runId,
      ]);
    signal.throwIfAborted();
  }
}
