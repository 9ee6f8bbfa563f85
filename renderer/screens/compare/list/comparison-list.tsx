import { ClipboardList, Gavel, Plus } from 'lucide-react';
import { useLocation } from 'wouter';
import type { ComparisonItem } from '../../../../shared/contract/comparisons.ts';
import { Button } from '../../../components/button.tsx';
import { formatCost, formatTime, formatWhole } from '../../../components/format.ts';
import { EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { VirtualList } from '../../../components/virtual-list.tsx';
import { useComparisons } from '../../../queries/comparisons.ts';
import {
  comparisonAddress,
  comparisonSetupAddress,
  datasetAddress,
  judgeAddress,
  newComparisonAddress,
} from '../../../shell/addresses.ts';
import { useShowPageTitle } from '../../../stores/window.ts';

function Row({ comparison }: { comparison: ComparisonItem }) {
  const { cells, cost, state, name, createdAt } = comparison;
  return (
    <div className="list-row">
      <span className="medium truncate">{name}</span>
      <span className="caption tertiary truncate">
        {state}, {formatWhole(cells.completed)} of {formatWhole(cells.total)} runs, {formatCost(cost.spent)},{' '}
        {formatTime(createdAt)}
      </span>
    </div>
  );
}

function addressOf({ id, state }: ComparisonItem): string {
  return state === 'Ready' ? comparisonSetupAddress(id) : comparisonAddress(id);
}

/** Every comparison, newest first. */
export function ComparisonList() {
  const [, navigate] = useLocation();
  const comparisons = useComparisons();
  useShowPageTitle(null);
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => navigate(newComparisonAddress)}>
      New comparison
    </Button>
  );
  return (
    <>
      <div className="toolbar">
        <h2 className="section-title">Comparisons</h2>
        <span className="grow" />
        <Button icon={ClipboardList} onClick={() => navigate(datasetAddress())}>
          Datasets
        </Button>
        <Button icon={Gavel} onClick={() => navigate(judgeAddress())}>
          Judges
        </Button>
        {create}
      </div>
      <QueryView query={comparisons} subject="the comparisons" rows={6}>
        {(all) =>
          all.length === 0 ? (
            <div className="list-state">
              <EmptyState
                title="No comparisons yet"
                reason="A comparison runs prompts or models over the same rows, and says which one is better and how sure that is."
              >
                {create}
              </EmptyState>
            </div>
          ) : (
            <VirtualList
              label="Comparisons, newest first"
              className="list-rows"
              items={all}
              itemKey={({ id }) => id}
              rowHeight={48}
              selectedKey={null}
              onSelect={(comparison) => navigate(addressOf(comparison))}
              onEndReached={() => comparisons.hasNextPage && void comparisons.fetchNextPage()}
              renderItem={(comparison) => <Row comparison={comparison} />}
            />
          )
        }
      </QueryView>
    </>
  );
}
