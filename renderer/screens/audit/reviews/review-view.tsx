import { ArrowLeft, EyeOff, ListChecks, Scale, Timer } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { ReviewItem } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { ReviewReservation } from '../../../../shared/contract/reviews.ts';
import { Badge, Progress } from '../../../components/badges.tsx';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { describeError, EmptyState, LoadingRows, Notice, QueryView } from '../../../components/state-panels.tsx';
import {
  useReleaseForOthers,
  useReleaseItem,
  useReservation,
  useReviewItem,
  useReviewQueue,
  useReviewStep,
} from '../../../queries/review-queues.ts';
import { reviewQueueAddress, reviewsAddress } from '../../../shell/addresses.ts';
import { useActions } from '../../../stores/actions.ts';
import { useActingReviewer } from '../../../stores/acting-reviewer.ts';
import { useHasReviewDrafts } from '../../../stores/review-drafts.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { isTaken, QueuePanel } from './queue-panel.tsx';
import { planText } from './queue-plan.tsx';
import { OpenItem } from './open-item.tsx';
import { QueueTitle } from './queue-menu.tsx';
import { ReadingPanel } from './reading-panel.tsx';
import { ReviewerMenu } from './reviewer-menu.tsx';
import { RubricPanel } from './rubric-panel.tsx';

/** Seconds until a reservation ends; 0 after it. */
function useSecondsLeft(expiresAt: string | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (expiresAt === null) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [expiresAt]);
  return expiresAt === null ? 0 : Math.max(0, Math.ceil((Date.parse(expiresAt) - now) / 1_000));
}

function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

interface ToolbarProps {
  queue: ReviewQueue;
  onLeave: () => void;
  /** In a narrow window the queue takes the place of the text. */
  isQueueShown: boolean;
  onQueue: () => void;
}

function Toolbar({ queue, onLeave, isQueueShown, onQueue }: ToolbarProps) {
  const [, navigate] = useLocation();
  const { done, items } = queue.counts;
  return (
    <div className="toolbar">
      <Button variant="quiet" icon={ArrowLeft} aria-label="Review queues" onClick={() => navigate(reviewsAddress)} />
      <QueueTitle queue={queue} from="queue" />
      <span className="review__show">
        <Button icon={ListChecks} aria-expanded={isQueueShown} onClick={onQueue}>
          {isQueueShown ? 'Hide queue' : 'Show queue'}
        </Button>
      </span>
      <span className="small tertiary nowrap wide-only">
        {planText(queue)}, seed {queue.seed}
      </span>
      <span className="grow" />
      <Badge isOutlined>
        <Icon icon={EyeOff} size="tiny" />
        Blind
      </Badge>
      <span className="small secondary nowrap numbers">
        {formatWhole(done)} of {formatWhole(items)}
      </span>
      <span className="review__progress wide-only">
        <Progress label="Items with all reviews" fraction={items === 0 ? null : done / items} />
      </span>
      <ReviewerMenu />
      <Button icon={Scale} onClick={() => navigate(reviewQueueAddress(queue.id, 'agreement'))}>
        Agreement
      </Button>
      <Button keys="Escape" onClick={onLeave}>
        Leave queue
      </Button>
    </div>
  );
}

interface ReservedProps {
  queue: ReviewQueue;
  reservation: ReviewReservation;
  step: ReturnType<typeof useReviewStep>;
}

function Reserved({ queue, reservation, step }: ReservedProps) {
  const { item, expiresAt } = reservation;
  const left = useSecondsLeft(expiresAt);
  const [isQuoting, setQuoting] = useState(false);
  const extend = () => step.mutate({ kind: 'reserve', itemId: item.id });
  useActions('review-reservation', [
    { id: 'review.extend', title: 'Extend the reservation', group: 'Review', keys: 'X', run: extend },
  ]);
  return (
    <>
      <ReadingPanel
        item={item}
        itemType={queue.itemType}
        quoting={{ isOn: isQuoting, end: () => setQuoting(false) }}
        end={
          <>
            <span className="small nowrap row">
              <Icon icon={Timer} size="small" />
              <span className="wide-only">Reserved for you,</span>
              <span className="medium numbers" role="timer">
                {left === 0 ? 'expired' : clockText(left)}
              </span>
            </span>
            <Button size="small" keys="X" isBusy={step.isPending} onClick={extend}>
              Extend
            </Button>
          </>
        }
      />
      <RubricPanel {...{ queue, item, step, isQuoting }} isExpired={left === 0} onQuoting={() => setQuoting(true)} />
    </>
  );
}

function NothingLeft({ queue }: { queue: ReviewQueue }) {
  const [, navigate] = useLocation();
  const { done, items } = queue.counts;
  const isDone = done >= items;
  return (
    <div className="list-state">
      <EmptyState
        title={isDone ? 'All items have their reviews' : 'Nothing left for you'}
        reason={
          isDone
            ? 'See how far the reviewers agree, and decide where they differ.'
            : `Other reviewers have the remaining ${formatWhole(items - done)} of ${formatWhole(items)} items. Skipped items stay in the list.`
        }
      >
        <Button variant="primary" onClick={() => navigate(reviewQueueAddress(queue.id, 'agreement'))}>
          Show agreement
        </Button>
      </EmptyState>
    </div>
  );
}

function Work({ queue, children }: { queue: ReviewQueue; children: (onLeave: () => void) => ReactNode }) {
  const [, navigate] = useLocation();
  const release = useReleaseItem(queue.id);
  // Without waiting for the host: a screen that is opened meanwhile stays open.
  const leave = () => {
    release.mutate();
    navigate(reviewsAddress);
  };
  useActions('review', [
    { id: 'review.leave', title: 'Leave queue', group: 'Review', keys: 'Escape', run: leave },
    {
      id: 'review.agreement',
      title: 'Show agreement',
      group: 'Review',
      icon: Scale,
      run: () => navigate(reviewQueueAddress(queue.id, 'agreement')),
    },
  ]);
  return children(leave);
}

function OpenQueue({ queue }: { queue: ReviewQueue }) {
  const reservation = useReservation(queue.id);
  useReleaseForOthers(queue.id);
  const step = useReviewStep(queue.id);
  /** An item that is only read; null for the reserved one. */
  const [openId, setOpenId] = useState<string | null>(null);
  const reserved = reservation.data ?? null;
  const openItem = useReviewItem(queue.id, openId).data;

  const [isQueueShown, setQueueShown] = useState(false);

  function open(item: ReviewItem) {
    setQueueShown(false);
    if (item.id === reserved?.item.id) return setOpenId(null);
    // The host says who has a taken one.
    const isMine = isTaken(item) || (item.state === 'open' && (item.yours === 'open' || item.yours === 'skipped'));
    if (!isMine) return setOpenId(item.id);
    step.mutate({ kind: 'reserve', itemId: item.id }, { onSuccess: () => setOpenId(null) });
  }
  const shown = openId === null ? (reserved?.item ?? null) : (openItem ?? null);
  return (
    <Work queue={queue}>
      {(onLeave) => (
        <>
          <Toolbar {...{ queue, onLeave, isQueueShown }} onQueue={() => setQueueShown(!isQueueShown)} />
          {step.error && step.variables?.itemId !== reserved?.item.id && (
            <div className="review__notice">
              <Notice tone="negative">{describeError(step.error).message}</Notice>
            </div>
          )}
          <div className={classNames('review', isQueueShown && 'is-queue-shown')}>
            <QueuePanel queue={queue} reservedId={reserved?.item.id ?? null} openItem={shown} onOpen={open} />
            {openId !== null ? (
              <OpenItem queue={queue} itemId={openId} step={step} onBack={() => setOpenId(null)} />
            ) : (
              <QueryView query={reservation} subject="the next item" rows={8}>
                {(found) =>
                  found ? (
                    <Reserved key={found.item.id} queue={queue} reservation={found} step={step} />
                  ) : (
                    <NothingLeft queue={queue} />
                  )
                }
              </QueryView>
            )}
          </div>
        </>
      )}
    </Work>
  );
}

/** The screen of a reviewer: one item after the other, by keys alone. */
export function ReviewView({ queueId }: { queueId: string }) {
  const queue = useReviewQueue(queueId);
  const token = useActingReviewer((state) => state.token);
  useShowPageTitle(queue.data ? `Reviews / ${queue.data.name}` : 'Reviews');
  const hasDrafts = useHasReviewDrafts();
  if (queue.isPending || !hasDrafts) return <LoadingRows label="Loading the review queue" rows={8} />;
  return (
    <QueryView query={queue} subject="the review queue">
      {(found) => <OpenQueue key={token} queue={found} />}
    </QueryView>
  );
}
