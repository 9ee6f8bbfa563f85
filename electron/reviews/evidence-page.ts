import type { ItemAgreement, ReviewAgreement } from '../../shared/contract/review-agreement.ts';
import type { SamplingPlan } from '../../shared/contract/review-queues.ts';
import type { RubricItem } from '../../shared/contract/rubrics.ts';
import { estimatePopulationShare } from '../../shared/statistics/population-share.ts';
import { escapeMarkup as html } from '../comparisons/export-source.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { StoredProgress } from '../storage/reviews/review-store.ts';
import { labelOf } from './outside-ratings.ts';
import { isComplete } from './create-reviews.ts';
import { type DoneItem, type DoneItemsOptions, eachDoneItem } from './done-items.ts';

const style = `
:root { color-scheme: light dark; --line: light-dark(#e3e6e9, #282c31); --quiet: light-dark(#5f6873, #8f98a3); }
body { margin: 0; padding: 24px; font: 13px/20px system-ui, sans-serif; } h1 { font-size: 20px; margin: 0 0 8px; } h2 { font-size: 15px; margin: 24px 0 8px; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); } pre { white-space: pre-wrap; margin: 0; }`;

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const figure = (value: number | null) => (value === null ? '-' : value.toFixed(2));
const whole = (count: number) => count.toLocaleString('en');

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${html(cell)}</${tag}>`).join('')}</tr>\n`;
  return `<table>\n${line(titles, 'th')}${rows.map((row) => line(row, 'td')).join('')}</table>\n`;
}

/** A plan as a sentence without its full stop. */
export function describePlan(plan: SamplingPlan): string {
  if (plan.kind === 'all') return 'Everything that matches the filter';
  if (plan.kind === 'flagged') return `All flagged, and ${percent(plan.share)} of the rest`;
  if (plan.kind === 'newest') return `The newest ${whole(plan.perDay)} of each day`;
  const size = plan.count === undefined ? percent(plan.share!) : whole(plan.count);
  return plan.kind === 'random' ? `A random ${size}` : `A random ${size} of each stratum, by ${plan.by}`;
}

/** Counts of the final values by stratum. */
class ShareTable {
  readonly #counts = new Map<string, number>();
  readonly #rated = new Map<string, number>();
  readonly #undecided = new Map<string, number>();

  add({ item, reviews, final }: DoneItem, rubric: readonly RubricItem[]): void {
    for (const { id, kind } of rubric) {
      const value = final.get(id);
      if (kind !== 'yesNo' && kind !== 'category') continue;
      if (value === undefined) {
        const isAnswered = reviews.some(({ answers }) => answers.some(({ rubricItemId }) => rubricItemId === id));
        if (isAnswered) this.#undecided.set(id, (this.#undecided.get(id) ?? 0) + 1);
        continue;
      }
      const rated = `${id}/${item.stratum}`;
      this.#rated.set(rated, (this.#rated.get(rated) ?? 0) + 1);
      const counted = `${rated}/${labelOf(value)}`;
      this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
    }
  }

  /** One row for each value that can be counted. Only done items of a random sample say something about the population. */
  rows({ strata, rubric, population, plan }: StoredQueue, isWhole: boolean): string[][] {
    const isRandom = plan.plan.kind !== 'newest' && (plan.plan.kind !== 'all' || isWhole);
    return rubric.items.flatMap(({ id, kind, question, categories }) => {
      const labels = kind === 'yesNo' ? ['yes', 'no'] : kind === 'category' ? categories.map(({ label }) => label) : [];
      return labels.map((label) => {
        const parts = strata.map((stratum, index) => ({
          population: stratum.population,
          rated: this.#rated.get(`${id}/${index}`) ?? 0,
          matching: this.#counts.get(`${id}/${index}/${label}`) ?? 0,
        }));
        const found = isRandom ? estimatePopulationShare(parts) : null;
        const matching = parts.reduce((sum, part) => sum + part.matching, 0);
        const rated = parts.reduce((sum, part) => sum + part.rated, 0);
        const counted = [question, label, `${whole(matching)} of ${whole(rated)}`, whole(this.#undecided.get(id) ?? 0)];
        if (!isRandom) return [...counted, 'Unknown: the reviewed items are not a random sample', ''];
        if (!found) return [...counted, 'Unknown: a stratum has no final value yet', ''];
        const [low, high] = found.interval;
        return [
          ...counted,
          `${percent(found.share)} (95 %: ${percent(low)} to ${percent(high)})`,
          `about ${whole(found.items)} of ${whole(population)}`,
        ];
      });
    });
  }
}

function agreementRow({
  question,
  ratedItems,
  percent: share,
  kappa,
  alpha,
  interval,
  reason,
}: ItemAgreement): string[] {
  const within = interval ? `${figure(interval[0])} to ${figure(interval[1])}` : '-';
  return [
    question,
    whole(ratedItems),
    share === null ? '-' : percent(share),
    figure(kappa),
    figure(alpha),
    within,
    reason ?? '',
  ];
}

function itemSection({ item, reviews, skips, comments }: DoneItem, rubric: readonly RubricItem[]): string {
  const questionOf = (id: string) => rubric.find((one) => one.id === id)?.question ?? '';
  const rows = reviews.flatMap(({ reviewerName, answers, note, createdAt, seconds }) => [
    ...answers.map(({ rubricItemId, value, note: own }) => [
      reviewerName,
      questionOf(rubricItemId),
      labelOf(value),
      own ?? '',
    ]),
    [reviewerName, 'Whole', `${new Date(createdAt).toISOString()}, ${seconds.toFixed(0)} s`, note ?? ''],
  ]);
  const gold =
    item.goldJson === null
      ? []
      : (JSON.parse(item.goldJson) as { rubricItemId: string; value: boolean | number | string }[]);
  const decided = gold.map(({ rubricItemId, value }) => [
    `${item.goldBy ?? ''} (decision)`,
    questionOf(rubricItemId),
    labelOf(value),
    '',
  ]);
  const skipped = skips.map(({ reviewerName, note }) => [reviewerName, 'Skipped', '', note ?? '']);
  const said = comments.map(({ reviewerName, text, createdAt }) => [
    reviewerName,
    'Discussion',
    new Date(createdAt).toISOString(),
    text,
  ]);
  return `<h3>${item.position + 1}. Conversation ${html(item.conversationId)}, run ${html(item.runId)}</h3>\n${table(['Who', 'Question', 'Answer', 'Note'], [...rows, ...skipped, ...decided, ...said])}`;
}

export interface EvidenceInput {
  readonly queue: StoredQueue;
  readonly agreement: ReviewAgreement;
  readonly progress: readonly StoredProgress[];
}

function head({ queue, agreement, progress }: EvidenceInput): string {
  const { plan, population, strata, rubric } = queue;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${html(queue.name)}</title><style>${style}</style>
<h1>${html(queue.name)}</h1>
${table(
  ['What', 'Value'],
  [
    ['Made', new Date(queue.createdAt).toISOString()],
    ['Queue', `${queue.id}, of installation ${queue.installationId}`],
    ['Plan', describePlan(plan.plan)],
    ['Seed', String(plan.seed)],
    ['Population', `${whole(population)} ${plan.itemType}s`],
    ['Runs', plan.source === 'team' ? 'Of all hosts of the team database' : 'Of one device'],
    ['Filter', JSON.stringify(plan.filter)],
    [
      'Reviewers per item',
      `${plan.reviewersPerItem}${plan.secondShare > 0 ? `, and one more for ${percent(plan.secondShare)}` : ''}`,
    ],
    ['Rubric', `${rubric.name}, version ${rubric.version}`],
    ['Done items', whole(agreement.doneItems)],
  ],
)}
<h2>Strata</h2>
${table(
  ['Stratum', 'Population', 'Items'],
  strata.map((one) => [one.name, whole(one.population), whole(one.items)]),
)}
<h2>Reviewers</h2>
${table(
  ['Reviewer', 'Reviewed', 'Skipped'],
  progress.map((one) => [one.name, whole(one.reviewed), whole(one.skipped)]),
)}
<h2>Agreement</h2>
${table(['Question', 'Items', 'Equal', 'Kappa', 'Alpha', '95 %', 'Remark'], agreement.items.map(agreementRow))}
`;
}

/** A page that needs nothing else. The shares of the population come last, when all items have been counted. */
export async function* exportEvidence(
  input: EvidenceInput,
  options: DoneItemsOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { queue } = input;
  const shares = new ShareTable();
  yield head(input);
  yield '<h2>Reviews</h2>\n';
  for await (const slice of eachDoneItem(queue, options, signal)) {
    let sections = '';
    for (const done of slice) {
      shares.add(done, queue.rubric.items);
      sections += itemSection(done, queue.rubric.items);
    }
    yield sections;
  }
  yield `<h2>Shares of the population</h2>
<p class="quiet">Weighted by the strata, from the final values: the decided ones, otherwise what most reviewers say. Items on which no majority agrees are undecided and are not counted.</p>
${table(['Question', 'Value', 'Reviewed', 'Undecided', 'Share of the population', 'Extrapolated'], shares.rows(queue, isComplete(options.store, queue)))}</html>\n`;
}
