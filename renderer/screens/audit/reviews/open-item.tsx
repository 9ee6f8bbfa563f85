import type { Review, ReviewItem } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { formatTime } from '../../../components/format.ts';
import { QueryView } from '../../../components/state-panels.tsx';
import { useReviewItem, type useReviewStep } from '../../../queries/review-queues.ts';
import { answerText } from './answers.ts';
import { Comments } from './discussion.tsx';
import { ReadingPanel } from './reading-panel.tsx';

/** A review as it was given. */
export function ReviewText({ review, queue }: { review: Review; queue: Pick<ReviewQueue, 'rubric'> }) {
  const questionOf = new Map(queue.rubric.items.map(({ id, question }) => [id, question]));
  return (
    <article className="turn turn--note">
      <h3 className="truncate">{review.reviewer}</h3>
      <div>
        {review.kind === 'skip' && <p>Skipped: {review.note}</p>}
        {review.answers.map(({ rubricItemId, value, note }) => (
          <p key={rubricItemId}>
            <span className="tertiary">{questionOf.get(rubricItemId)} </span>
            <span className="medium">{answerText(value)}</span>
            {note && <span className="secondary"> {note}</span>}
          </p>
        ))}
        {review.kind === 'review' && review.note && <p className="secondary">{review.note}</p>}
        <p className="caption tertiary">{formatTime(review.createdAt)}</p>
      </div>
    </article>
  );
}

/** Whether one's own review may change: not after others have seen it. */
function canChange({ yours, state, reviewsNeeded, gold }: ReviewItem): boolean {
  return yours === 'reviewed' && gold === null && (state === 'open' || reviewsNeeded === 1);
}

interface OpenItemProps {
  queue: ReviewQueue;
  itemId: string;
  step: ReturnType<typeof useReviewStep>;
  onBack: () => void;
}

/** An item that isn't reserved, with the reviews that may be seen. */
export function OpenItem({ queue, itemId, step, onBack }: OpenItemProps) {
  const item = useReviewItem(queue.id, itemId);
  return (
    <QueryView query={item} subject="the item" rows={8}>
      {(found) => (
        <ReadingPanel
          key={found.id}
          item={found}
          itemType={queue.itemType}
          end={
            <>
              {canChange(found) && (
                <Button
                  size="small"
                  isBusy={step.isPending}
                  onClick={() => step.mutate({ kind: 'reserve', itemId }, { onSuccess: onBack })}
                >
                  Change my review
                </Button>
              )}
              <Button size="small" onClick={onBack}>
                Back to my item
              </Button>
            </>
          }
        >
          {found.reviews.map((review) => (
            <ReviewText key={review.id} review={review} queue={queue} />
          ))}
          <Comments item={found} />
          {found.hiddenReviews > 0 && (
            <p className="turn small tertiary">The reviews of others are hidden until the item has all its reviews.</p>
          )}
        </ReadingPanel>
      )}
    </QueryView>
  );
}
