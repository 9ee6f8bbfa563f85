import { type FormEvent, useState } from 'react';
import type { ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import { Button } from '../../../components/button.tsx';
import { formatTime } from '../../../components/format.ts';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { useAddComment } from '../../../queries/review-queues.ts';
import { TextArea } from './answer-fields.tsx';
import { lengthProblem } from './answers.ts';

/** Why somebody asked for a second review, and what people wrote about the item since. */
export function Comments({ item: { secondReview, comments } }: { item: ReviewItemDetail }) {
  return (
    <>
      {secondReview?.reason && (
        <article className="turn turn--note">
          <h3 className="truncate">{secondReview.requestedBy}</h3>
          <div>
            <p>Requested a second review: {secondReview.reason}</p>
            <p className="caption tertiary">{formatTime(secondReview.requestedAt)}</p>
          </div>
        </article>
      )}
      {comments.map(({ id, reviewer, text, createdAt }) => (
        <article key={id} className="turn turn--note" aria-label={`Comment by ${reviewer}`}>
          <h3 className="truncate">{reviewer}</h3>
          <div>
            <p className="turn__text">{text}</p>
            <p className="caption tertiary">Comment, {formatTime(createdAt)}</p>
          </div>
        </article>
      ))}
    </>
  );
}

interface CommentFormProps {
  queueId: string;
  itemId: string;
  onClose: () => void;
}

/** A comment for everyone who sees the reviews of the item. */
export function CommentForm({ queueId, itemId, onClose }: CommentFormProps) {
  const [text, setText] = useState('');
  const add = useAddComment(queueId);
  const isReady = text.trim() !== '' && lengthProblem(text) === null && !add.isPending;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isReady) add.mutate({ itemId, text: text.trim() }, { onSuccess: onClose });
  }
  return (
    <form className="stacked-form" aria-label="Discuss this item" onSubmit={submit}>
      <TextArea
        label="Comment"
        placeholder="Comment for the other reviewers"
        rows={2}
        autoFocus
        value={text}
        onValueChange={setText}
        onEscape={onClose}
      />
      {add.error && <Notice tone="negative">{describeError(add.error).message}</Notice>}
      <div className="row">
        <Button type="submit" size="small" isBusy={add.isPending} aria-disabled={!isReady}>
          Add comment
        </Button>
        <Button size="small" variant="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
