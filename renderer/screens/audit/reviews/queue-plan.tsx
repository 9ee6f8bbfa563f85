import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { formatDuration, formatPlural, formatWhole } from '../../../components/format.ts';
import { useChangeQueue } from '../../../queries/review-queues.ts';

function share(part: number): string {
  return `${Math.round(part * 1000) / 10}%`;
}

/** The plan in a few words, such as `All flagged and 20% of the rest`. */
export function planText({ plan }: Pick<ReviewQueue, 'plan'>): string {
  const amount = (chosen: { count?: number | undefined; share?: number | undefined }) =>
    chosen.share === undefined ? formatWhole(chosen.count ?? 0) : share(chosen.share);
  const fields = { model: 'model', tag: 'feedback tag', scoreBand: 'score band', moderation: 'moderation result' };
  switch (plan.kind) {
    case 'all':
      return 'All';
    case 'random':
      return `${amount(plan)} at random`;
    case 'stratified':
      return `${amount(plan)} per ${fields[plan.by]}`;
    case 'flagged':
      return `All flagged and ${share(plan.share)} of the rest`;
    case 'newest':
      return `Newest ${formatWhole(plan.perDay)} of each day`;
  }
}

const maxShownStrata = 8;

/** Whether days that end add items, and what changes it. */
function NewItems({ queue }: { queue: ReviewQueue }) {
  const change = useChangeQueue(queue.id);
  return (
    <div className="review__days">
      <dt>{queue.isOpen ? 'Each day that ends adds its newest' : 'Takes no new items'}</dt>
      {!queue.isImported && (
        <dd>
          <Button size="small" isBusy={change.isPending} onClick={() => change.mutate({ isOpen: !queue.isOpen })}>
            {queue.isOpen ? 'Stop' : 'Take new items'}
          </Button>
        </dd>
      )}
    </div>
  );
}

/** How the items of a queue were chosen, and how long one takes. */
export function Plan({ queue }: { queue: ReviewQueue }) {
  const { strata, seed, reviewersPerItem, secondShare, itemType, secondsPerItem } = queue;
  const rest = strata.length - maxShownStrata;
  const isDaily = queue.plan.kind === 'newest';
  // Of days, the last ones.
  const shown = isDaily ? strata.slice(-maxShownStrata) : strata.slice(0, maxShownStrata);
  return (
    <>
      <div className="header">
        <h2>Plan</h2>
        <span className="caption tertiary truncate">{planText(queue)}</span>
      </div>
      <dl className="review__plan">
        {shown.map(({ name, items, population }) => (
          <div key={name}>
            <dt className="truncate">{name === 'all' ? formatPlural(queue.population, itemType) : name}</dt>
            <dd className="numbers">
              {formatWhole(items)} <span className="tertiary">of {formatWhole(population)}</span>
            </dd>
          </div>
        ))}
        {rest > 0 && (
          <div>
            <dt>{formatPlural(rest, isDaily ? 'earlier day' : 'more group')}</dt>
          </div>
        )}
        <div>
          <dt>Reviewers per item</dt>
          <dd className="numbers">
            {reviewersPerItem}
            {secondShare > 0 && `, one more for ${share(secondShare)}`}
          </dd>
        </div>
        <div>
          <dt>Seed</dt>
          <dd className="mono--small">{seed}</dd>
        </div>
        {secondsPerItem !== null && (
          <div>
            <dt>Time per item</dt>
            <dd className="numbers">
              {formatDuration(secondsPerItem * 1000)} <span className="tertiary">(median)</span>
            </dd>
          </div>
        )}
        {isDaily && <NewItems queue={queue} />}
      </dl>
    </>
  );
}
