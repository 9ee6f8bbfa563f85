import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { ReviewAgreement } from '../../../../shared/contract/review-agreement.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useReviewQueue } from '../../../queries/review-queues.ts';
import { useReviewAgreement } from '../../../queries/review-results.ts';
import { QueueTitle } from './queue-menu.tsx';
import { reviewQueueAddress } from '../../../shell/addresses.ts';
import { useActions } from '../../../stores/actions.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { ItemsPanel, type SelectionProps } from './agreement-items.tsx';
import { comparisonsOf, describeMeasures } from './agreement-words.ts';
import { labelText } from './answers.ts';
import { Disagreements } from './disagreements.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Matrix, type MatrixCell } from './matrix.tsx';

/** The matrix of a pair, or why there is none. */
function PairMatrix({
  selected,
  pair,
  comparisons,
  onPair,
  cell,
  onCell,
}: Omit<SelectionProps, 'agreement' | 'onItem'> & {
  cell: MatrixCell | null;
  onCell: (cell: MatrixCell | null) => void;
}) {
  return (
    <>
      <div className="header header--line">
        <h2 className="truncate">{selected.question}</h2>
        <span className="grow" />
        {comparisons.length > 0 && (
          <Select
            label="Pair"
            size="small"
            value={pair?.key ?? null}
            onValueChange={onPair}
            options={comparisons.map(({ key, names }) => ({ value: key, label: names.join(', ') }))}
          />
        )}
      </div>
      {pair?.matrix ? (
        <Matrix
          labels={pair.matrix.labels}
          rows={pair.matrix.rows}
          names={pair.names}
          textOf={(label) => labelText(label, selected.kind)}
          selected={cell}
          onSelect={(next) => onCell(next.row === cell?.row && next.column === cell.column ? null : next)}
        />
      ) : (
        <p className="small tertiary agreement__none">
          {selected.kind === 'text' ? 'Texts have no matrix.' : (pair?.reason ?? selected.reason)}
        </p>
      )}
      {pair && <p className="small secondary agreement__sentence">{describeMeasures(pair)}</p>}
    </>
  );
}

function Figures({ queue, agreement }: { queue: ReviewQueue; agreement: ReviewAgreement }) {
  const [itemId, setItemId] = useState<string | null>(null);
  const [pairKey, setPairKey] = useState<string | null>(null);
  const [cell, setCell] = useState<MatrixCell | null>(null);
  const selected = agreement.items.find(({ rubricItemId }) => rubricItemId === itemId) ?? agreement.items[0]!;
  const comparisons = comparisonsOf(selected);
  const pair = comparisons.find(({ key }) => key === pairKey) ?? comparisons[0] ?? null;
  const rubricItem = queue.rubric.items.find(({ id }) => id === selected.rubricItemId)!;
  const selection = {
    selected,
    pair,
    comparisons,
    onPair: (key: string) => {
      setPairKey(key);
      setCell(null);
    },
  };
  const isCellOpen = cell !== null && pair !== null;
  return (
    <div className="agreement">
      <ItemsPanel
        {...selection}
        queue={queue}
        agreement={agreement}
        onItem={(id) => {
          setItemId(id);
          setCell(null);
        }}
      />
      <Disagreements
        queue={queue}
        rubricItem={rubricItem}
        title={
          isCellOpen
            ? `${pair.names[0]}: ${labelText(cell.row, selected.kind)}, ${pair.names[1]}: ${labelText(cell.column, selected.kind)}`
            : 'Disagreements'
        }
        query={{
          rubricItemId: rubricItem.id,
          ...(isCellOpen && {
            ...pair.between,
            firstValue: cell.row,
            secondValue: cell.column,
          }),
        }}
        onAll={isCellOpen ? () => setCell(null) : null}
      >
        <PairMatrix {...selection} cell={cell} onCell={setCell} />
      </Disagreements>
    </div>
  );
}

function OpenAgreement({ queue }: { queue: ReviewQueue }) {
  const [, navigate] = useLocation();
  const agreement = useReviewAgreement(queue.id);
  const back = () => navigate(reviewQueueAddress(queue.id));
  useActions('review-agreement', [
    { id: 'agreement.back', title: 'Back to the queue', group: 'Review', keys: 'Escape', run: back },
  ]);
  return (
    <>
      <div className="toolbar">
        <QueueTitle queue={queue} from="agreement" />
        {agreement.data && (
          <span className="small tertiary nowrap wide-only">
            {formatPlural(agreement.data.doneItems, 'item')} with all reviews,{' '}
            {formatPlural(agreement.data.reviewers.length, 'reviewer')}
          </span>
        )}
        <span className="grow" />
        <ExportMenu queue={queue} />
        <Button icon={ArrowLeft} keys="Escape" onClick={back}>
          Back to queue
        </Button>
      </div>
      <QueryView query={agreement} subject="the agreement" rows={6}>
        {(found) =>
          found.doneItems === 0 ? (
            <div className="list-state">
              <EmptyState
                title="No item has all its reviews yet"
                reason={`${formatWhole(queue.counts.reviews)} of ${formatWhole(queue.counts.reviewsNeeded)} reviews are in. Agreement counts items with all their reviews, so that no one sees others' answers too early.`}
              >
                <Button onClick={back}>Back to queue</Button>
              </EmptyState>
            </div>
          ) : (
            <Figures queue={queue} agreement={found} />
          )
        }
      </QueryView>
    </>
  );
}

/** How far the reviewers of a queue agree, and where they differ. */
export function AgreementView({ queueId }: { queueId: string }) {
  const queue = useReviewQueue(queueId);
  useShowPageTitle(queue.data ? `Reviews / ${queue.data.name} / Agreement` : 'Reviews');
  return (
    <QueryView query={queue} subject="the review queue">
      {(found) => <OpenAgreement queue={found} />}
    </QueryView>
  );
}
