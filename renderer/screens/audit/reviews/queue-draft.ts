import type { AuditFilter, AuditSource } from '../../../../shared/contract/audit.ts';
import type { ReviewQueueInput, SamplingPlan, strataFields } from '../../../../shared/contract/review-queues.ts';
import { readNumber } from '../../../components/format.ts';

/** The form of a queue; numbers as they are typed. */
export interface QueueDraft {
  readonly name: string;
  readonly itemType: ReviewQueueInput['itemType'];
  readonly kind: SamplingPlan['kind'];
  readonly by: (typeof strataFields)[number];
  /** Whether `amount` is percent. */
  readonly unit: 'percent' | 'count';
  readonly amount: string;
  readonly seed: string;
  readonly rubricId: string | null;
  readonly reviewersPerItem: string;
  /** Percent of the items that one more reviewer reviews. */
  readonly second: string;
  readonly minutes: string;
  /** The only ones who may review; anyone if empty. */
  readonly reviewerIds: readonly string[];
  readonly isShared: boolean;
}

export const emptyQueue: QueueDraft = {
  name: '',
  itemType: 'conversation',
  kind: 'all',
  by: 'model',
  unit: 'percent',
  amount: '20',
  seed: '',
  rubricId: null,
  reviewersPerItem: '2',
  second: '0',
  minutes: '15',
  reviewerIds: [],
  isShared: false,
};

export const planKinds = [
  { value: 'all', label: 'All' },
  { value: 'random', label: 'Random sample' },
  { value: 'stratified', label: 'Sample of each group' },
  { value: 'flagged', label: 'All flagged and a share of the rest' },
  { value: 'newest', label: 'Newest of each day' },
] as const;

function isWithin(text: string, min: number, max: number): boolean {
  const value = readNumber(text);
  return typeof value === 'number' && value >= min && value <= max;
}

function isWhole(text: string, min: number, max: number): boolean {
  return isWithin(text, min, max) && Number.isInteger(readNumber(text));
}

/** Null while the amount isn't valid. */
export function planOf({ kind, by, unit, amount }: QueueDraft): SamplingPlan | null {
  const value = readNumber(amount) ?? Number.NaN;
  if (kind === 'all') return { kind };
  if (kind === 'flagged') return isWithin(amount, 0, 100) ? { kind, share: value / 100 } : null;
  if (kind === 'newest') return isWhole(amount, 1, 50_000) ? { kind, perDay: value } : null;
  const isValid = unit === 'percent' ? isWithin(amount, 0.001, 100) : isWhole(amount, 1, 50_000);
  if (!isValid) return null;
  const size = unit === 'percent' ? { share: value / 100 } : { count: value };
  return kind === 'random' ? { kind, ...size } : { kind, by, ...size };
}

export interface QueueErrors {
  readonly amount: string | null;
  readonly seed: string | null;
  readonly reviewersPerItem: string | null;
  readonly second: string | null;
  readonly minutes: string | null;
}

export function queueErrors(draft: QueueDraft): QueueErrors {
  const { kind, unit, seed, reviewersPerItem, second, minutes, reviewerIds } = draft;
  const highest = Number(readNumber(reviewersPerItem)) + (readNumber(second) === 0 ? 0 : 1);
  const isEnough = reviewerIds.length === 0 || highest <= reviewerIds.length;
  const isPercent = kind === 'flagged' || (kind !== 'newest' && unit === 'percent');
  const amount = isPercent ? 'Enter a share up to 100%' : 'Enter a whole number from 1 to 50,000';
  return {
    amount: planOf(draft) === null ? amount : null,
    seed: seed === '' || isWhole(seed, 0, 4_294_967_295) ? null : 'Enter a whole number from 0 to 4,294,967,295',
    reviewersPerItem: !isWhole(reviewersPerItem, 1, 20)
      ? 'Enter a whole number from 1 to 20'
      : isEnough
        ? null
        : `Needs ${highest} reviewers, ${reviewerIds.length} chosen`,
    second: isWithin(second, 0, 100) ? null : 'Enter a share up to 100%',
    minutes: isWhole(minutes, 1, 1440) ? null : 'Enter a whole number from 1 to 1,440',
  };
}

/** Null while something is missing. */
export function toQueueInput(
  draft: QueueDraft,
  { filter, source }: { filter: AuditFilter; source: AuditSource },
): ReviewQueueInput | null {
  const plan = planOf(draft);
  const { name, itemType, seed, rubricId, reviewersPerItem, second, minutes, reviewerIds, isShared } = draft;
  const hasErrors = Object.values(queueErrors(draft)).some((error) => error !== null);
  if (plan === null || hasErrors || name.trim() === '' || rubricId === null) return null;
  return {
    name: name.trim(),
    filter,
    source,
    itemType,
    plan,
    ...(seed !== '' && { seed: Number(readNumber(seed)) }),
    rubricId,
    reviewersPerItem: Number(readNumber(reviewersPerItem)),
    secondShare: Number(readNumber(second)) / 100,
    reservationMinutes: Number(readNumber(minutes)),
    ...(reviewerIds.length > 0 && { reviewerIds: [...reviewerIds] }),
    ...((isShared || source === 'team') && { isShared: true }),
  };
}
