import type { ImportedRun, ItemView } from '../../../shared/contract/review-items.ts';
import type { ReviewQueue, ReviewStratum } from '../../../shared/contract/review-queues.ts';

/** What a person decided about a queue. */
export type QueuePlan = Pick<ReviewQueue, 'filter' | 'source' | 'itemType' | 'plan' | 'seed'> &
  Pick<ReviewQueue, 'reviewersPerItem' | 'reviewerIds' | 'secondShare' | 'reservationMinutes'>;

export interface StoredQueue {
  readonly sequence: number;
  readonly id: string;
  readonly installationId: string;
  readonly isImported: boolean;
  readonly name: string;
  readonly plan: QueuePlan;
  readonly population: number;
  readonly strata: readonly ReviewStratum[];
  /** Whether each day that ends adds items. */
  readonly isOpen: boolean;
  /** The day, in UTC, before which all days have added theirs; null before the first one. */
  readonly filledDay: string | null;
  readonly rubric: ReviewQueue['rubric'];
  readonly createdAt: number;
  /** The last change of the team database that is here; null for a queue that isn't shared. */
  readonly teamChange: number | null;
}

export type QueueSampling = Pick<StoredQueue, 'population' | 'strata' | 'isOpen' | 'filledDay'>;

export type NewQueue = Omit<StoredQueue, 'sequence' | 'teamChange'>;

/** What is known of an item when more are chosen. */
export interface ChosenItem {
  /** Of the conversation or the run. */
  readonly id: string;
  readonly stratum: number;
  /** Without a review that somebody asked for. */
  readonly needed: number;
}

export interface NewItem {
  readonly id: string;
  readonly conversationId: string;
  readonly runId: string;
  /** An index of the strata. */
  readonly stratum: number;
  readonly isFlagged: boolean;
  readonly needed: number;
  /** Of an imported item. */
  readonly content: readonly ImportedRun[] | null;
  /** Of an imported item; `needed` includes that review. */
  readonly second?: SecondReview | null;
}

/** Who asked for one more review of an item. Times are milliseconds since 1970. */
export interface SecondReview {
  readonly by: string;
  readonly reviewerId: string;
  readonly reason: string | null;
  readonly at: number;
}

/** Flags are 0 or 1. */
export interface StoredItem {
  readonly sequence: number;
  readonly queue: number;
  readonly position: number;
  readonly id: string;
  readonly conversationId: string;
  readonly runId: string;
  readonly stratum: number;
  readonly isFlagged: number;
  readonly needed: number;
  readonly done: number;
  readonly isRemoved: number;
  readonly isDisagreeing: number;
  readonly goldJson: string | null;
  readonly goldBy: string | null;
  readonly goldAt: number | null;
  /** A `SecondReview`; null if nobody asked for one. */
  readonly secondJson: string | null;
  /** Start of the run's prompt; null for a removed run and an imported item, as are the next two. */
  readonly title: string | null;
  readonly caller: string | null;
  readonly runAt: number | null;
}

export interface Positions {
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

export interface StoredItemVerdict {
  readonly item: number;
  readonly judgeId: string;
  readonly name: string;
  /** Of the judge. */
  readonly inputJson: string;
  readonly verdictJson: string;
}

/** A run of the population, with what plans look at. */
export interface PopulationRun {
  readonly sequence: number;
  readonly runId: string;
  readonly conversationId: string;
  readonly model: string;
  readonly createdAt: number;
  readonly score: number | null;
  readonly tags: string | null;
  /** 1 if the guard flagged the run, or any run of its conversation. */
  readonly isFlagged: number;
}

export interface QueueRow {
  readonly sequence: number;
  readonly id: string;
  readonly installation_id: string;
  readonly is_imported: number;
  readonly name: string;
  readonly input_json: string;
  readonly sampling_json: string;
  readonly rubric_json: string;
  readonly created_at: number;
  readonly team_change: number | null;
}

export function queueOf(row: QueueRow): StoredQueue {
  const sampling = JSON.parse(row.sampling_json) as QueueSampling;
  return {
    sequence: row.sequence,
    id: row.id,
    installationId: row.installation_id,
    isImported: row.is_imported === 1,
    name: row.name,
    // Older queues are all of this device.
    plan: { source: 'device', ...(JSON.parse(row.input_json) as Omit<QueuePlan, 'source'>) },
    // Older queues take no new items.
    isOpen: sampling.isOpen ?? false,
    filledDay: sampling.filledDay ?? null,
    population: sampling.population,
    strata: sampling.strata,
    rubric: JSON.parse(row.rubric_json) as StoredQueue['rubric'],
    createdAt: row.created_at,
    teamChange: row.team_change,
  };
}

export const itemColumns = `review_items.sequence, queue, position, review_items.id, review_items.conversation_id AS conversationId,
  run_id AS runId, stratum, is_flagged AS isFlagged, needed, done, is_removed AS isRemoved, is_disagreeing AS isDisagreeing,
  gold_json AS goldJson, gold_by AS goldBy, second_json AS secondJson, gold_at AS goldAt, runs.title, runs.created_at AS runAt,
  CASE WHEN runs.caller_id = (SELECT value FROM facts WHERE name = 'window_caller_id') THEN 'Touchstone window'
    ELSE (SELECT name FROM api_keys WHERE api_keys.caller_id = runs.caller_id LIMIT 1) END AS caller`;

/** Whose view of a queue: `reviewer` is `reviewers.sequence`, null before the first review. */
export interface ViewOf {
  readonly view: ItemView;
  readonly reviewer: number | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const reviewedBy = (kind: 'review' | 'skip') =>
  `review_items.sequence IN (SELECT item FROM reviews WHERE queue = @queue AND reviewer = @reviewer AND is_current = 1 AND kind = '${kind}')`;

/** Conditions on the items of a queue. */
export const viewConditions: Readonly<Record<ItemView, string>> = {
  all: '1',
  open: `is_removed = 0 AND done < needed AND NOT coalesce(${reviewedBy('review')} OR ${reviewedBy('skip')}, 0)`,
  mine: `(${reviewedBy('review')} OR review_items.sequence IN (SELECT item FROM review_reservations
    WHERE queue = @queue AND reviewer = @reviewer AND expires_at > @now))`,
  done: 'is_removed = 0 AND done >= needed',
  skipped: reviewedBy('skip'),
  flagged: 'is_removed = 0 AND is_flagged = 1',
  secondReview: 'second_json IS NOT NULL',
};
