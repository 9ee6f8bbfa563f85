import { useState } from 'react';
import type { Review, ReviewItem, ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { formatTime } from '../../../components/format.ts';
import { QueryView } from '../../../components/state-panels.tsx';
import { useReviewItem, type useReviewStep } from '../../../queries/review-queues.ts';
import { answerText } from './answers.ts';
import { useActions } from '../../../stores/actions.ts';
import { CommentForm, Comments } from './discussion.tsx';
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

/** As on the host: the reviews of others are open, and with them the discussion. */
function canDiscuss({ state, hiddenReviews }: ReviewItemDetail): boolean {
  return state === 'done' && hiddenReviews === 0;
}

interface ReadItemProps extends OpenItemProps {
  item: ReviewItemDetail;
}

function ReadItem({ queue, item, step, onBack }: ReadItemProps) {
  const [isDiscussing, setDiscussing] = useState(false);
  const isChangeable = canChange(item);
  const isOpenToComments = canDiscuss(item);
  const change = () => step.mutate({ kind: 'reserve', itemId: item.id }, { onSuccess: onBack });
  const group = 'Review';
  useActions('review-open-item', [
    { id: 'review.back', title: 'Back to my item', group, keys: 'B', run: onBack },
    { id: 'review.change', title: 'Change my review', group, keys: 'E', isEnabled: isChangeable, run: change },
    {
      id: 'review.discuss',
      title: 'Discuss this item',
      group,
      keys: 'D',
      isEnabled: isOpenToComments,
      run: () => setDiscussing(true),
    },
  ]);
  return (
    <ReadingPanel
      item={item}
      itemType={queue.itemType}
      end={
        <>
          {isChangeable && (
            <Button size="small" keys="E" isBusy={step.isPending} onClick={change}>
              Change my review
            </Button>
          )}
          {isOpenToComments && (
            <Button size="small" keys="D" aria-expanded={isDiscussing} onClick={() => setDiscussing(true)}>
              Discuss
            </Button>
          )}
          <Button size="small" keys="B" onClick={onBack}>
            Back to my item
          </Button>
        </>
      }
    >
      {item.reviews.map((review) => (
        <ReviewText key={review.id} review={review} queue={queue} />
      ))}
      <Comments item={item} />
      {isDiscussing && <CommentForm queueId={queue.id} itemId={item.id} onClose={() => setDiscussing(false)} />}
      {item.hiddenReviews > 0 && (
        <p className="turn small tertiary">The reviews of others are hidden until the item has all its reviews.</p>
      )}
    </ReadingPanel>
  );
}

/** An item that isn't reserved, with the reviews that may be seen. */
export function OpenItem(props: OpenItemProps) {
  const item = useReviewItem(props.queue.id, props.itemId);
  return (
    <QueryView query={item} subject="the item" rows={8}>
      {(found) => <ReadItem key={found.id} {...props} item={found} />}
    </QueryView>
  );
}
