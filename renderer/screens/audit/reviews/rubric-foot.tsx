import { Flag } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { RubricItem } from '../../../../shared/contract/rubrics.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useRequestSecond, type useReviewStep } from '../../../queries/review-queues.ts';
import { useActions } from '../../../stores/actions.ts';
import { TextArea } from './answer-fields.tsx';
import { lengthProblem } from './answers.ts';
import type { DraftOfItem } from './draft-of-item.ts';

const maxReasonCharacters = 2000;

interface SkipDialogProps {
  isBusy: boolean;
  onClose: () => void;
  onSkip: (reason: string) => void;
}

/** A skipped item goes to other reviewers, with the reason in its history. */
function SkipDialog({ isBusy, onClose, onSkip }: SkipDialogProps) {
  const [reason, setReason] = useState('');
  const problem = lengthProblem(reason.trim(), maxReasonCharacters);
  const isReady = reason.trim() !== '' && problem === null && !isBusy;
  const skip = () => {
    if (isReady) onSkip(reason.trim());
  };
  return (
    <Dialog
      title="Skip this item"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" keys="Enter" aria-disabled={!isReady} onClick={skip}>
            Skip
          </Button>
        </>
      }
    >
      <TextField
        label="Reason"
        placeholder="I wrote this answer"
        autoFocus
        value={reason}
        onValueChange={setReason}
        error={problem}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          skip();
        }}
        hint="Other reviewers get the item. You can come back to it in the list."
      />
    </Dialog>
  );
}

interface SecondReviewDialogProps {
  queueId: string;
  itemId: string;
  onClose: () => void;
}

/** One more person reviews the item, without seeing who thinks what. */
function SecondReviewDialog({ queueId, itemId, onClose }: SecondReviewDialogProps) {
  const [reason, setReason] = useState('');
  const request = useRequestSecond(queueId);
  const problem = lengthProblem(reason.trim(), maxReasonCharacters);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!request.isPending && problem === null)
      request.mutate({ itemId, reason: reason.trim() || null }, { onSuccess: onClose });
  }
  return (
    <Dialog title="Request a second review" isOpen onClose={onClose}>
      <form className="stacked-form" onSubmit={submit}>
        <p className="small secondary">
          One more person reviews this item. Others see that you asked, and your reason when the item has all its
          reviews.
        </p>
        <TextField
          label="Reason (optional)"
          placeholder="I am not sure about the terms"
          autoFocus
          value={reason}
          onValueChange={setReason}
          error={problem}
        />
        {request.error && <Notice tone="negative">{describeError(request.error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={request.isPending} aria-disabled={problem !== null}>
            Request second review
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Flags the item for one more reviewer; once. */
function SecondReview({ queue, item }: Pick<RubricPanelProps, 'queue' | 'item'>) {
  const [isOpen, setOpen] = useState(false);
  const { secondReview } = item;
  const label = secondReview ? `${secondReview.requestedBy} requested a second review` : 'Request a second review';
  const open = () => {
    if (!secondReview) setOpen(true);
  };
  useActions('review-second', [
    { id: 'review.second', title: 'Request a second review', group: 'Review', keys: 'F', run: open },
  ]);
  return (
    <>
      <IconButton
        icon={Flag}
        label={label}
        keys="F"
        size="small"
        variant="default"
        aria-disabled={secondReview !== null}
        onClick={open}
      />
      {isOpen && <SecondReviewDialog queueId={queue.id} itemId={item.id} onClose={() => setOpen(false)} />}
    </>
  );
}

export interface RubricPanelProps {
  queue: ReviewQueue;
  item: ReviewItemDetail;
  step: ReturnType<typeof useReviewStep>;
  isExpired: boolean;
}

function Problem({ step, isExpired, item }: Omit<RubricPanelProps, 'queue'>) {
  // A failure to reserve another item is shown above the panels.
  const error = step.variables?.itemId === item.id ? step.error : null;
  if (!error && !isExpired) return null;
  return (
    <Notice tone={error ? 'negative' : 'caution'}>
      {error
        ? describeError(error).message
        : 'The reservation expired. Another reviewer may get this item. Your answers are kept.'}{' '}
      <Button size="small" isBusy={step.isPending} onClick={() => step.mutate({ kind: 'reserve', itemId: item.id })}>
        Reserve again
      </Button>
    </Notice>
  );
}

interface FootProps extends RubricPanelProps {
  draft: DraftOfItem;
  noteId: string;
  missing: readonly RubricItem[];
  isRequested: boolean;
  isSkipping: boolean;
  onSubmit: () => void;
  onSkipping: (isSkipping: boolean) => void;
}

/** The note, what is wrong, and what ends the review. */
export function RubricFoot({
  draft,
  noteId,
  missing,
  isRequested,
  isSkipping,
  onSubmit,
  onSkipping,
  ...problem
}: FootProps) {
  const { step, item } = problem;
  return (
    <div className="rubric__foot line-top">
      <TextArea
        id={noteId}
        label="Note on the whole"
        placeholder="Note on the whole (M)"
        rows={1}
        value={draft.note}
        onValueChange={(note) => draft.change({ answers: draft.answers, note })}
      />
      <Problem {...problem} />
      {isRequested && missing.length > 0 && (
        <p className="small negative" role="alert">
          Answer {formatPlural(missing.length, 'more required item')} first.
        </p>
      )}
      <div className="row">
        <Button variant="primary" keys="Mod+Enter" isBusy={step.isPending} onClick={onSubmit}>
          Submit and next
        </Button>
        <span className="grow" />
        <Button size="small" keys="S" onClick={() => onSkipping(true)}>
          Skip
        </Button>
        <SecondReview queue={problem.queue} item={item} />
      </div>
      <p className="caption tertiary">Answers are kept as a draft. Skip ends the reservation.</p>
      {isSkipping && (
        <SkipDialog
          isBusy={step.isPending}
          onClose={() => onSkipping(false)}
          onSkip={(reason) => {
            onSkipping(false);
            step.mutate({ kind: 'skip', itemId: item.id, reason });
          }}
        />
      )}
    </div>
  );
}
