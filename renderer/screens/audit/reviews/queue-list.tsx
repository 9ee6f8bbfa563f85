import { type ReactNode, useState } from 'react';
import { ArrowLeft, ClipboardList, Ellipsis, FileUp, Plus } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { ReviewQueueSummary } from '../../../../shared/contract/review-queues.ts';
import { Badge, Progress } from '../../../components/badges.tsx';
import { Button, IconButton, ShowMore } from '../../../components/button.tsx';
import { formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useReviewQueues } from '../../../queries/review-queues.ts';
import { newReviewQueueAddress, reviewQueueAddress, rubricAddress } from '../../../shell/addresses.ts';
import { useAuditSelection } from '../../../stores/audit.ts';
import { useDeletions } from '../../../stores/deletions.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { ImportQueueDialog } from './queue-files.tsx';
import { QueueMenu } from './queue-menu.tsx';
import { ReviewerMenu } from './reviewer-menu.tsx';

function Row({ queue }: { queue: ReviewQueueSummary }) {
  const { id, name, itemType, counts, isComplete, isImported, isShared, createdAt } = queue;
  return (
    <li className="review-row">
      <div className="review-row__name">
        <Link href={reviewQueueAddress(id)} className="medium truncate">
          {name}
        </Link>
        <span className="caption tertiary truncate">
          {formatPlural(counts.items, itemType)}, {formatTime(createdAt)}
          {isShared ? ', shared with the team' : isImported && ', from a file'}
        </span>
      </div>
      <div className="review-row__state small">
        <Progress label={`Progress of ${name}`} fraction={counts.items === 0 ? null : counts.done / counts.items} />
        <span className="caption tertiary numbers nowrap">
          {formatWhole(counts.done)} of {formatWhole(counts.items)} done, {formatWhole(counts.reviews)} of{' '}
          {formatPlural(counts.reviewsNeeded, 'review')}
        </span>
      </div>
      <div className="small row">
        {counts.disagreeing > 0 ? (
          <Link href={reviewQueueAddress(id, 'agreement')}>
            {formatPlural(counts.disagreeing, 'disagreement')} to decide
          </Link>
        ) : (
          isComplete && <Badge tone="positive">Complete</Badge>
        )}
      </div>
      <QueueMenu queue={queue} align="end" from="list">
        <IconButton icon={Ellipsis} label={`Actions of ${name}`} size="small" />
      </QueueMenu>
    </li>
  );
}

function NoQueues({ children }: { children: ReactNode }) {
  return (
    <div className="list-state">
      <EmptyState
        title="No review queues yet"
        reason="A review queue gives conversations of the audit to several reviewers, who answer the items of a rubric without seeing each other's answers."
      >
        {children}
      </EmptyState>
    </div>
  );
}

interface RowsProps {
  queues: ReturnType<typeof useReviewQueues>;
  shown: readonly ReviewQueueSummary[];
}

function Rows({ queues, shown }: RowsProps) {
  return (
    <div className="scroll grow" tabIndex={0} role="region" aria-label="Review queues, newest first">
      <ul>
        {shown.map((queue) => (
          <Row key={queue.id} queue={queue} />
        ))}
      </ul>
      <ShowMore list={queues} size="small" className="review__more" />
    </div>
  );
}

/** Every review queue, newest first. */
export function QueueList() {
  const [, navigate] = useLocation();
  const [isImporting, setImporting] = useState(false);
  const queues = useReviewQueues();
  const deleted = useDeletions(({ ids }) => ids);
  const backTo = useAuditSelection(({ address }) => address);
  useShowPageTitle('Reviews');
  const shown = queues.data?.filter(({ id }) => !deleted.has(id)) ?? [];
  // The filter that the audit has open.
  const filter = backTo.split('/')[2] || 'all';
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => navigate(newReviewQueueAddress(filter))}>
      New review queue
    </Button>
  );
  return (
    <>
      <div className="toolbar">
        <Button icon={ArrowLeft} variant="quiet" onClick={() => navigate(backTo)}>
          Conversations
        </Button>
        <h2 className="section-title">Review queues</h2>
        <span className="grow" />
        <ReviewerMenu />
        <Button variant="quiet" icon={FileUp} onClick={() => setImporting(true)}>
          Import queue file
        </Button>
        <Button variant="quiet" icon={ClipboardList} onClick={() => navigate(rubricAddress())}>
          Rubrics
        </Button>
        {shown.length > 0 && create}
      </div>
      {isImporting && <ImportQueueDialog onClose={() => setImporting(false)} />}
      <QueryView query={queues} subject="the review queues" rows={6}>
        {() => (shown.length === 0 ? <NoQueues>{create}</NoQueues> : <Rows queues={queues} shown={shown} />)}
      </QueryView>
    </>
  );
}
