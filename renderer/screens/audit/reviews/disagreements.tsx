import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { RubricItem } from '../../../../shared/contract/rubrics.ts';
import { Button, ShowMore } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatTime, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { QueryView } from '../../../components/state-panels.tsx';
import { type DisagreementsQuery, useDisagreements } from '../../../queries/review-results.ts';
import { AdjudicatePanel, type Disagreement } from './adjudicate-panel.tsx';
import { outsideText } from './agreement-words.ts';
import { answerText } from './answers.ts';

interface RowProps {
  disagreement: Disagreement;
  rubricItem: RubricItem;
  isOpen: boolean;
  onOpen: () => void;
}

/** When and where the reviewed answer came from, and what judges and the guard say about it. */
function originText({ item, outside }: Disagreement): string {
  const said = outside.map(({ name, value }) => `${name}: ${outsideText(value)}`);
  return [item.runAt && formatTime(item.runAt), item.caller, ...said].filter(Boolean).join(', ');
}

function Row({ disagreement, rubricItem, isOpen, onOpen }: RowProps) {
  const { item, reviews } = disagreement;
  const valueOf = (answers: readonly { rubricItemId: string; value: string | number | boolean }[] | undefined) =>
    answers?.find(({ rubricItemId }) => rubricItemId === rubricItem.id)?.value;
  const gold = valueOf(item.gold?.answers);
  const given = reviews.flatMap(({ reviewer, answers }) => {
    const value = valueOf(answers);
    return value === undefined ? [] : `${reviewer}: ${answerText(value)}`;
  });
  return (
    <button
      type="button"
      className={classNames('queue-row queue-row--tall', isOpen && 'is-selected')}
      aria-current={isOpen || undefined}
      onClick={onOpen}
    >
      <span className="truncate">{item.title}</span>
      <span className="caption truncate queue-row__origin">{originText(disagreement)}</span>
      <span className="caption truncate">{given.join(', ')}</span>
      <span className="queue-row__state">
        {gold === undefined ? (
          <span className="caution medium">Undecided</span>
        ) : (
          <span className="positive row">
            <Icon icon={Check} size="tiny" />
            {answerText(gold)}
          </span>
        )}
      </span>
    </button>
  );
}

interface DisagreementsProps {
  queue: ReviewQueue;
  rubricItem: RubricItem;
  title: string;
  query: DisagreementsQuery;
  /** Back to all; null if all are shown. */
  onAll: (() => void) | null;
  /** Above the list. */
  children: ReactNode;
}

function Head({ title, total, onAll }: Pick<DisagreementsProps, 'title' | 'onAll'> & { total: number | undefined }) {
  return (
    <div className="header line-top header--line">
      <h2 className="truncate">{title}</h2>
      <span className="caption tertiary numbers">{total !== undefined && formatWhole(total)}</span>
      <span className="grow" />
      {onAll && (
        <Button size="small" variant="quiet" onClick={onAll}>
          All disagreements
        </Button>
      )}
    </div>
  );
}

/** The items on which reviewers differ, and the open one: the first, until another one is chosen. */
export function Disagreements({ queue, rubricItem, title, query, onAll, children }: DisagreementsProps) {
  const found = useDisagreements(queue.id, query);
  const [openId, setOpenId] = useState<string | null>(null);
  const items = found.data?.items ?? [];
  const index = Math.max(
    items.findIndex(({ item }) => item.id === openId),
    0,
  );
  const open = items[index];
  const move = (by: number) => {
    const next = items[Math.min(Math.max(index + by, 0), items.length - 1)];
    if (next) setOpenId(next.item.id);
  };
  return (
    <>
      <section className="panel agreement__middle" aria-label="Disagreements">
        {children}
        <Head title={title} total={found.data?.total} onAll={onAll} />
        <QueryView query={found} subject="the disagreements" rows={6}>
          {(data) => (
            <div className="scroll grow" role="group" aria-label="Items" tabIndex={-1}>
              {data.items.length === 0 && <p className="small tertiary agreement__none">No items differ here.</p>}
              {data.items.map((disagreement) => (
                <Row
                  key={disagreement.item.id}
                  disagreement={disagreement}
                  rubricItem={rubricItem}
                  isOpen={disagreement === open}
                  onOpen={() => setOpenId(disagreement.item.id)}
                />
              ))}
              <ShowMore list={found} size="small" className="review__more" />
            </div>
          )}
        </QueryView>
      </section>
      {open && (
        <AdjudicatePanel
          queue={queue}
          rubricItem={rubricItem}
          disagreement={open}
          position={`${formatWhole(index + 1)} of ${formatWhole(found.data?.total ?? items.length)}`}
          onPrevious={() => move(-1)}
          onNext={() => move(1)}
        />
      )}
    </>
  );
}
