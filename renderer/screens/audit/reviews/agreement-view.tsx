import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { ItemAgreement, ReviewAgreement } from '../../../../shared/contract/review-agreement.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { RubricItem } from '../../../../shared/contract/rubrics.ts';
import { Button } from '../../../components/button.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useReviewQueue } from '../../../queries/review-queues.ts';
import { type ChosenMeaning, useReviewAgreement } from '../../../queries/review-results.ts';
import { QueueTitle } from './queue-menu.tsx';
import { reviewQueueAddress } from '../../../shell/addresses.ts';
import { useActions } from '../../../stores/actions.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { ItemsPanel, type SelectionProps } from './agreement-items.tsx';
import { comparisonName, comparisonsOf, describeMeasures, equalText } from './agreement-words.ts';
import { labelOptionsOf } from './answers.ts';
import { Disagreements } from './disagreements.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Matrix, type MatrixCell } from './matrix.tsx';

type Meaning = Omit<ChosenMeaning, 'rubricItemId'>;

interface MeaningFieldsProps {
  agreement: ReviewAgreement;
  selected: ItemAgreement;
  rubricItem: RubricItem;
  meaning: Meaning | undefined;
  onMeaning: (meaning: Meaning) => void;
}

/** Which answer a judge's pass and a flag of the guard are compared with; nothing where neither said anything. */
function MeaningFields({ agreement, selected, rubricItem, meaning, onMeaning }: MeaningFieldsProps) {
  const options = labelOptionsOf(rubricItem);
  const fields = [
    { field: 'flaggedValue', label: 'Flagged means', isShown: agreement.moderatedItems > 0 },
    { field: 'passValue', label: 'Pass means', isShown: agreement.judgedItems > 0 },
  ] as const;
  const shown = fields.filter(({ isShown }) => isShown && options.length > 0);
  return (
    shown.length > 0 && (
      <div className="agreement__meaning line-bottom">
        {shown.map(({ field, label }) => (
          <Select
            key={field}
            label={label}
            isLabelHidden={false}
            size="small"
            // The choice shows at once, and its figures when they are there.
            value={meaning?.[field] ?? selected[field]}
            placeholder="Choose an answer"
            onValueChange={(value) => onMeaning({ [field]: value })}
            options={options}
          />
        ))}
      </div>
    )
  );
}

/** The matrix of a pair, or why there is none. */
function PairMatrix({
  selected,
  pair,
  comparisons,
  onPair,
  cell,
  onCell,
  children,
}: Omit<SelectionProps, 'agreement' | 'onItem'> & {
  /** Under the title. */
  children: ReactNode;
  cell: MatrixCell | null;
  onCell: (cell: MatrixCell | null) => void;
}) {
  return (
    <>
      <div className="header header--line">
        <h2 className="truncate">{selected.question}</h2>
        {pair?.matrix && <span className="caption tertiary nowrap numbers">{equalText(pair.matrix)}</span>}
        <span className="grow" />
        {comparisons.length > 0 && (
          <Select
            label="Pair"
            size="small"
            value={pair?.key ?? null}
            onValueChange={onPair}
            options={comparisons.map((one) => ({ value: one.key, label: comparisonName(one) }))}
          />
        )}
      </div>
      {children}
      {pair?.matrix ? (
        <Matrix
          labels={pair.matrix.labels}
          rows={pair.matrix.rows}
          names={pair.names}
          textOf={pair.textOf}
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

interface FiguresProps {
  queue: ReviewQueue;
  agreement: ReviewAgreement;
  rubricItem: RubricItem;
  onItem: (id: string) => void;
  meaning: Meaning | undefined;
  onMeaning: (meaning: Meaning) => void;
}

function Figures({ queue, agreement, rubricItem, onItem, meaning, onMeaning }: FiguresProps) {
  const [pairKey, setPairKey] = useState<string | null>(null);
  const [cell, setCell] = useState<MatrixCell | null>(null);
  const selected = agreement.items.find(({ rubricItemId }) => rubricItemId === rubricItem.id)!;
  const comparisons = comparisonsOf(selected);
  const pair = comparisons.find(({ key }) => key === pairKey) ?? comparisons[0] ?? null;
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
          onItem(id);
          setCell(null);
        }}
      />
      <Disagreements
        queue={queue}
        rubricItem={rubricItem}
        title={
          isCellOpen
            ? `${pair.names[0]}: ${pair.textOf(cell.row)}, ${pair.names[1]}: ${pair.textOf(cell.column)}`
            : 'Disagreements'
        }
        query={{
          rubricItemId: rubricItem.id,
          ...meaning,
          ...(isCellOpen && {
            ...pair.between,
            firstValue: cell.row,
            secondValue: cell.column,
          }),
        }}
        onAll={isCellOpen ? () => setCell(null) : null}
      >
        <PairMatrix {...selection} cell={cell} onCell={setCell}>
          <MeaningFields
            {...{ agreement, selected, rubricItem, meaning }}
            onMeaning={(next) => {
              onMeaning({ ...meaning, ...next });
              setCell(null);
            }}
          />
        </PairMatrix>
      </Disagreements>
    </div>
  );
}

function OpenAgreement({ queue }: { queue: ReviewQueue }) {
  const [, navigate] = useLocation();
  const [itemId, setItemId] = useState<string | null>(null);
  const [meanings, setMeanings] = useState<Readonly<Record<string, Meaning>>>({});
  const { items } = queue.rubric;
  const rubricItem = items.find(({ id }) => id === itemId) ?? items[0]!;
  const meaning = meanings[rubricItem.id];
  const agreement = useReviewAgreement(queue.id, meaning && { rubricItemId: rubricItem.id, ...meaning });
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
            <Figures
              {...{ queue, rubricItem, meaning }}
              agreement={found}
              onItem={setItemId}
              onMeaning={(next) => setMeanings({ ...meanings, [rubricItem.id]: next })}
            />
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
