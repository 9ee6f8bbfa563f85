import { Check, ChevronLeft, ChevronRight, EyeOff, ListFilter, Lock } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { type ItemView, itemViews, type ReviewItem } from '../../../../shared/contract/review-items.ts';
import type { ReviewProgress, ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Progress } from '../../../components/badges.tsx';
import { IconButton } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatWhole } from '../../../components/format.ts';
import { Menu } from '../../../components/menu.tsx';
import { Icon } from '../../../components/icon.tsx';
import { QueryView } from '../../../components/state-panels.tsx';
import { useActions } from '../../../stores/actions.ts';
import { itemsPerPage, useReviewItems } from '../../../queries/review-queues.ts';
import { Plan } from './queue-plan.tsx';

/** Reviews per hour. A person is never faster than one in some seconds, and a program's pace has no room. */
function paceText(reviewsPerHour: number | null): string {
  if (reviewsPerHour === null) return '';
  return reviewsPerHour > 999 ? '>999' : String(Math.max(1, Math.round(reviewsPerHour)));
}

function Reviewer({ progress, items }: { progress: ReviewProgress; items: number }) {
  const { reviewer, isYou, reviewed, skipped, assigned, reviewsPerHour } = progress;
  const all = assigned ?? items;
  return (
    <div className="reviewer">
      <span className={classNames('truncate', isYou && 'medium')}>
        {reviewer}
        {isYou && ' (you)'}
      </span>
      <Progress label={`Progress of ${reviewer}`} fraction={all === 0 ? null : reviewed / all} />
      <span className="numbers nowrap">
        {formatWhole(reviewed)}
        {assigned !== null && <small className="tertiary"> of {formatWhole(assigned)}</small>}
        {skipped > 0 && <small className="tertiary">, {formatWhole(skipped)} skipped</small>}
      </span>
      <span className="caption tertiary numbers nowrap">{paceText(reviewsPerHour)}</span>
    </div>
  );
}

const stateTexts = { reviewed: 'Done', skipped: 'Skipped', closed: 'Others', open: '', reserved: 'Yours' } as const;

/** Others have reserved all reviews that the item still needs. */
export function isTaken({ state, yours, reservedBy }: ReviewItem): boolean {
  return state === 'open' && yours === 'closed' && reservedBy.length > 0;
}

function ItemState({ item }: { item: ReviewItem }) {
  if (item.state === 'removed') return 'Deleted';
  if (item.yours === 'reviewed' || item.state === 'done')
    return (
      <span className="positive row">
        <Icon icon={Check} size="tiny" />
        Done
      </span>
    );
  if (isTaken(item))
    return (
      <span className="row">
        <Icon icon={Lock} size="tiny" />
        {item.reservedBy.join(', ')}
      </span>
    );
  return stateTexts[item.yours];
}

interface ItemsProps {
  queue: ReviewQueue;
  reservedId: string | null;
  /** The open one. */
  openItem: { id: string; position: number } | null;
  onOpen: (item: ReviewItem) => void;
}

const viewLabels: Readonly<Record<ItemView, string>> = {
  all: 'All items',
  open: 'Open for me',
  mine: 'Reviewed by me',
  done: 'Done',
  skipped: 'Skipped by me',
  flagged: 'Flagged',
  secondReview: 'Second review requested',
};

interface ViewMenuProps {
  view: ItemView;
  onView: (view: ItemView) => void;
}

function ViewMenu({ view, onView }: ViewMenuProps) {
  const [isOpen, setOpen] = useState(false);
  useActions('review-filter', [
    { id: 'review.filter', title: 'Filter items', group: 'Review', keys: 'V', run: () => setOpen(true) },
  ]);
  return (
    <Menu
      align="end"
      isOpen={isOpen}
      onOpenChange={setOpen}
      groups={[
        itemViews.map((one) => ({ label: viewLabels[one], isChecked: one === view, onSelect: () => onView(one) })),
      ]}
    >
      <IconButton icon={ListFilter} label={`Filter items: ${viewLabels[view]}`} keys="V" size="small" />
    </Menu>
  );
}

interface ItemRowProps extends Pick<ItemsProps, 'onOpen'> {
  item: ReviewItem;
  isOpen: boolean;
  /** For the person who looks at it. */
  isReserved: boolean;
}

function ItemRow({ item, isOpen, isReserved, onOpen }: ItemRowProps) {
  const isOff = item.state !== 'open' || item.yours === 'closed';
  return (
    <button
      type="button"
      className={classNames('queue-row', isOpen && 'is-selected', isOff && 'is-off')}
      aria-current={isOpen || undefined}
      onClick={() => onOpen(item)}
    >
      <span className="truncate">{item.title}</span>
      <span className="caption truncate">
        {item.stratum === 'all' ? `${item.reviewsDone} of ${item.reviewsNeeded} reviews` : item.stratum}
        {item.secondReview && ', second review'}
      </span>
      <span className="queue-row__state">
        {isReserved ? <span className="accent">Yours</span> : <ItemState item={item} />}
      </span>
    </button>
  );
}

interface ChosenPage {
  readonly page: number;
  /** Which way a key came here from an item, to open the nearest one as soon as the page is there. */
  readonly enters: { readonly by: 1 | -1; readonly from: string | null } | null;
}

const edgeOf = (items: readonly ReviewItem[], by: 1 | -1) => (by > 0 ? items[0] : items.at(-1));

function Items({ queue, reservedId, openItem, onOpen }: ItemsProps) {
  const [view, setView] = useState<ItemView>('all');
  const [chosen, setChosen] = useState<ChosenPage | null>(null);
  const setPage = (next: number) => setChosen({ page: next, enters: null });
  // In a filtered list positions have gaps.
  const pageOfOpen = view === 'all' ? Math.floor((openItem?.position ?? 0) / itemsPerPage) : 0;
  const page = chosen?.page ?? pageOfOpen;
  const items = useReviewItems(queue.id, view, page);
  const total = items.data?.total ?? 1;
  const last = Math.max(0, Math.ceil(total / itemsPerPage) - 1);
  const shown = items.data?.data ?? [];
  const index = shown.findIndex(({ id }) => id === openItem?.id);
  /** To the item beside the open one, also on the next page; to the nearest item of a page that doesn't have the open one. */
  const move = (by: 1 | -1) => {
    // The rows of the page before are still there, and those of the next one come.
    if (items.isPlaceholderData) return;
    const next = index >= 0 ? shown[index + by] : edgeOf(shown, by);
    if (next) onOpen(next);
    else if (page + by >= 0 && page + by <= last)
      setChosen({ page: page + by, enters: { by, from: openItem?.id ?? null } });
  };
  const entered = useRef<ChosenPage | null>(null);
  useEffect(() => {
    if (!chosen?.enters || chosen === entered.current || !items.data || items.isPlaceholderData) return;
    entered.current = chosen;
    const { by, from } = chosen.enters;
    const next = edgeOf(items.data.data, by);
    // Who opened another item meanwhile stays there.
    if (next && from === (openItem?.id ?? null)) onOpen(next);
  }, [chosen, items.data, items.isPlaceholderData, openItem, onOpen]);
  useActions('review-items', [
    { id: 'review.next-item', title: 'Next item of the queue', group: 'Review', keys: 'Shift+J', run: () => move(1) },
    {
      id: 'review.previous-item',
      title: 'Previous item of the queue',
      group: 'Review',
      keys: 'Shift+K',
      run: () => move(-1),
    },
  ]);
  return (
    <>
      <div className="header header--line line-top">
        <h2 className="truncate">{view === 'all' ? 'Items' : viewLabels[view]}</h2>
        <span className="caption tertiary nowrap numbers">
          {view === 'all'
            ? `${formatWhole(queue.counts.items - queue.counts.done)} left`
            : items.data && formatWhole(items.data.total)}
        </span>
        <span className="grow" />
        <ViewMenu
          view={view}
          onView={(next) => {
            setView(next);
            setChosen(null);
          }}
        />
        {last > 0 && (
          <>
            <IconButton
              icon={ChevronLeft}
              label="Earlier items"
              size="small"
              aria-disabled={page === 0}
              onClick={() => setPage(Math.max(0, page - 1))}
            />
            <IconButton
              icon={ChevronRight}
              label="Later items"
              size="small"
              aria-disabled={page >= last}
              onClick={() => setPage(Math.min(last, page + 1))}
            />
          </>
        )}
      </div>
      <QueryView query={items} subject="the items" rows={8}>
        {({ data }) => (
          <div className="scroll grow review__items" role="group" aria-label="Items of the queue" tabIndex={-1}>
            {data.length === 0 && <p className="small tertiary review__none">No items here.</p>}
            {data.map((item) => (
              <ItemRow
                key={item.id}
                item={item}
                isOpen={item.id === openItem?.id}
                isReserved={item.id === reservedId}
                onOpen={onOpen}
              />
            ))}
          </div>
        )}
      </QueryView>
    </>
  );
}

/** The plan of a queue, the progress of each reviewer, and the items. */
export function QueuePanel(props: ItemsProps) {
  const { queue } = props;
  return (
    <nav className="panel panel--inset line-right review__side" aria-label="Queue">
      <Plan queue={queue} />
      <div className="header line-top">
        <h2>Reviewers</h2>
        <span className="grow" />
        <span className="caption tertiary">reviewed, per hour</span>
      </div>
      <div className="reviewers scroll" tabIndex={0} role="group" aria-label="Reviewers">
        {queue.progress.map((progress) => (
          <Reviewer key={progress.reviewerId} progress={progress} items={queue.counts.items} />
        ))}
      </div>
      <p className="caption tertiary review__blind">
        <Icon icon={EyeOff} size="tiny" />
        <span>You see the reviews of others when an item has all its reviews.</span>
      </p>
      <Items {...props} />
    </nav>
  );
}
