import { useQueryClient } from '@tanstack/react-query';
import { ClipboardList, Ellipsis, FolderOpen, Repeat, Scale, Settings2, Trash2, Plus } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { ComparisonReport } from '../../../../shared/contract/comparison-results.ts';
import type { ComparisonItem } from '../../../../shared/contract/comparisons.ts';
import { Progress, StateBadge, type Tone } from '../../../components/badges.tsx';
import { Button, IconButton, ShowMore } from '../../../components/button.tsx';
import { formatCost, formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { Menu } from '../../../components/menu.tsx';
import { describeError, EmptyState, QueryView } from '../../../components/state-panels.tsx';
import { useHost } from '../../../host/host-context.tsx';
import { useComparisonReport, useComparisons, useRemoveComparison } from '../../../queries/comparisons.ts';
import {
  comparisonAddress,
  comparisonSetupAddress,
  datasetAddress,
  judgeAddress,
  newComparisonAddress,
} from '../../../shell/addresses.ts';
import { useNavigateFromHere } from '../../../shell/navigate-from-here.ts';
import { replaceNewSetup } from '../../../stores/comparison-drafts.ts';
import { deleteWithUndo, useDeletions } from '../../../stores/deletions.ts';
import { showToast } from '../../../stores/toasts.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { repeatedSetup } from '../setup/repeat-setup.ts';
import './list.css';

/** The difference that matters most: the best variant, or else the first that is worse, or that cannot be told apart. */
export function verdictOf({ variants }: Pick<ComparisonReport, 'variants'>): string | null {
  const differences = variants.flatMap(({ difference }) => difference ?? []);
  const better = differences
    .filter(({ verdict }) => verdict === 'better')
    .toSorted((one, other) => other.estimate - one.estimate);
  const worse = differences.find(({ verdict }) => verdict === 'worse');
  return (better[0] ?? worse ?? differences[0])?.sentence ?? null;
}

const stateTones: Readonly<Record<ComparisonItem['state'], Tone>> = {
  Ready: 'neutral',
  Running: 'accent',
  Stopped: 'caution',
  Completed: 'positive',
};

function addressOf({ id, state }: ComparisonItem): string {
  return state === 'Ready' ? comparisonSetupAddress(id) : comparisonAddress(id);
}

/** Runs without a price are not free. */
function costText({ spent, runsWithoutCost }: ComparisonItem['cost']): string {
  if (runsWithoutCost === 0) return formatCost(spent);
  return spent === 0 ? 'Unknown cost' : `${formatCost(spent)} or more`;
}

function Verdict({ comparison }: { comparison: ComparisonItem }) {
  const { id, state, cells, stopReason, completedAt } = comparison;
  // A running comparison would be computed again with every cell.
  const isEnabled = state === 'Completed' || (state === 'Stopped' && cells.completed > 0);
  const report = useComparisonReport(id, `list/${completedAt}/${cells.completed}/${cells.failed}`, { isEnabled });
  if (stopReason !== null && state === 'Stopped') return <span className="caution">{stopReason}</span>;
  if (!isEnabled) return null;
  if (report.isError) return <span className="tertiary">{describeError(report.error).message}</span>;
  if (!report.data) return null;
  const isSingle = report.data.variants.length < 2;
  return verdictOf(report.data) ?? <span className="tertiary">{isSingle ? 'One variant' : 'No checks'}</span>;
}

function Counts({ comparison: { state, cells, name } }: { comparison: ComparisonItem }) {
  const ended = cells.completed + cells.failed + cells.skipped;
  if (state === 'Ready') return <>{formatPlural(cells.total, 'run')} planned</>;
  return (
    <>
      {state === 'Running' && <Progress label={`Progress of ${name}`} fraction={ended / Math.max(1, cells.total)} />}
      {state === 'Completed'
        ? formatPlural(cells.total, 'run')
        : `${formatWhole(ended)} of ${formatWhole(cells.total)} runs`}
      {cells.failed > 0 && <span className="negative">, {formatWhole(cells.failed)} failed</span>}
      {cells.skipped > 0 && <span className="caution">, {formatWhole(cells.skipped)} skipped</span>}
    </>
  );
}

/** Opens a setup that repeats a comparison, in place of one that was not saved. */
function useRepeat(): (id: string) => Promise<void> {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const navigateFromHere = useNavigateFromHere();
  return async (id) => {
    const navigate = navigateFromHere();
    try {
      replaceNewSetup(await repeatedSetup(client, queryClient, id));
      navigate(newComparisonAddress);
    } catch (error) {
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: `Couldn't repeat the comparison. ${message}`, requestId });
    }
  };
}

function RowMenu({ comparison }: { comparison: ComparisonItem }) {
  const { id, name, state } = comparison;
  const [, navigate] = useLocation();
  const remove = useRemoveComparison();
  const repeat = useRepeat();
  return (
    <Menu
      align="end"
      groups={[
        [
          { label: 'Open', icon: FolderOpen, onSelect: () => navigate(addressOf(comparison)) },
          ...(state === 'Ready'
            ? []
            : [
                { label: 'Copy setup', icon: Settings2, onSelect: () => navigate(comparisonSetupAddress(id)) },
                { label: 'Repeat on the newest versions', icon: Repeat, onSelect: () => void repeat(id) },
              ]),
        ],
        [
          {
            label: 'Delete',
            icon: Trash2,
            isNegative: true,
            onSelect: () =>
              deleteWithUndo({
                id,
                text: `Deleted "${name}". Its runs stay in the audit.`,
                carryOut: () => remove(id),
              }),
          },
        ],
      ]}
    >
      <IconButton icon={Ellipsis} label={`Actions of ${name}`} size="small" />
    </Menu>
  );
}

function Row({ comparison }: { comparison: ComparisonItem }) {
  const { name, state, cost, rowCount, repeats, createdAt } = comparison;
  return (
    <li className="comparison-row">
      <div className="comparison-row__name">
        <Link href={addressOf(comparison)} className="medium truncate">
          {name}
        </Link>
        <span className="caption tertiary truncate">
          {formatPlural(rowCount, 'row')}
          {repeats > 1 && ` × ${repeats}`}, {formatTime(createdAt)}
        </span>
      </div>
      <div className="comparison-row__state small">
        <StateBadge tone={stateTones[state]}>{state}</StateBadge>
        <span className="caption tertiary numbers">
          <Counts comparison={comparison} />
        </span>
      </div>
      <p className="small comparison-row__verdict">
        <Verdict comparison={comparison} />
      </p>
      <span className="small numbers tertiary comparison-row__cost">{state === 'Ready' ? '' : costText(cost)}</span>
      <RowMenu comparison={comparison} />
    </li>
  );
}

/** Every comparison, newest first. */
export function ComparisonList() {
  const [, navigate] = useLocation();
  const comparisons = useComparisons();
  const deleted = useDeletions(({ ids }) => ids);
  useShowPageTitle(null);
  const shown = comparisons.data?.filter(({ id }) => !deleted.has(id)) ?? [];
  const isEmpty = comparisons.data !== undefined && shown.length === 0;
  const create = (
    <Button variant="primary" icon={Plus} keys="Mod+Alt+N" onClick={() => navigate(newComparisonAddress)}>
      New comparison
    </Button>
  );
  return (
    <>
      <div className="toolbar">
        <h2 className="section-title">Comparisons</h2>
        <span className="grow" />
        <Button variant="quiet" icon={ClipboardList} onClick={() => navigate(datasetAddress())}>
          Datasets
        </Button>
        <Button variant="quiet" icon={Scale} onClick={() => navigate(judgeAddress())}>
          Judges
        </Button>
        {!isEmpty && create}
      </div>
      <QueryView query={comparisons} subject="the comparisons" rows={6}>
        {() =>
          isEmpty ? (
            <div className="list-state">
              <EmptyState
                title="No comparisons yet"
                reason="A comparison runs prompts or models over the same rows. It says which one is better, and how sure that is."
              >
                {create}
              </EmptyState>
            </div>
          ) : (
            <div className="scroll comparison-list" tabIndex={0} role="region" aria-label="Comparisons, newest first">
              <ul>
                {shown.map((comparison) => (
                  <Row key={comparison.id} comparison={comparison} />
                ))}
              </ul>
              <ShowMore list={comparisons} size="small" className="comparison-list__more" />
            </div>
          )
        }
      </QueryView>
    </>
  );
}
