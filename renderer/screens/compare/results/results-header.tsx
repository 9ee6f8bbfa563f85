import { ChevronDown, Download, Play, RotateCcw, Settings2, Square, Trash2, Columns3, Vote } from 'lucide-react';
import { memo, useEffect, useEffectEvent, useState } from 'react';
import { useLocation } from 'wouter';
import type { ExportFormat } from '../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { Progress } from '../../../components/badges.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatCost, formatDuration, formatPlural, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Menu } from '../../../components/menu.tsx';
import { saveFile } from '../../../components/save-file.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { useExportComparison, useRenewResults } from '../../../queries/comparison-results.ts';
import {
  useRemoveComparison,
  useRetryComparison,
  useStartComparison,
  useStopComparison,
} from '../../../queries/comparisons.ts';
import { comparisonSetupAddress, comparisonVoteAddress } from '../../../shell/addresses.ts';
import { useNavigateFromHere } from '../../../shell/navigate-from-here.ts';
import { useActions } from '../../../stores/actions.ts';
import { showToast } from '../../../stores/toasts.ts';
import { timeWords } from './cell-model.ts';

const formats: Readonly<Record<ExportFormat, readonly [name: string, extension: string]>> = {
  csv: ['CSV', 'csv'],
  jsonl: ['JSONL', 'jsonl'],
  markdown: ['Markdown report', 'md'],
  junit: ['JUnit XML', 'xml'],
  html: ['HTML page', 'html'],
  preferences: ['Preferences (JSONL)', 'preferences.jsonl'],
};

function ExportMenu({ comparison }: { comparison: Comparison }) {
  const download = useExportComparison();
  const save = (format: ExportFormat) =>
    download.mutate(
      { id: comparison.id, format },
      {
        onSuccess: async (file) =>
          saveFile(`${comparison.name}.${formats[format][1]}`, new Uint8Array(await file.arrayBuffer())),
      },
    );
  const items = (Object.keys(formats) as ExportFormat[]).map((format) => ({
    label: formats[format][0],
    detail: `.${formats[format][1]}`,
    onSelect: () => save(format),
  }));
  return (
    <Menu groups={[items]} align="end">
      <Button icon={Download} isBusy={download.isPending}>
        Export
      </Button>
    </Menu>
  );
}

function NameMenu({ comparison }: { comparison: Comparison }) {
  const [, navigate] = useLocation();
  const navigateFromHere = useNavigateFromHere();
  const remove = useRemoveComparison();
  const [isDeleting, setDeleting] = useState(false);
  const confirm = async () => {
    setDeleting(false);
    const leave = navigateFromHere();
    try {
      await remove(comparison.id);
      leave('/compare');
    } catch (error) {
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: message, requestId });
    }
  };
  return (
    <>
      <Menu
        groups={[
          [{ label: 'All comparisons', icon: Columns3, onSelect: () => navigate('/compare') }],
          [{ label: 'Delete comparison', icon: Trash2, isNegative: true, onSelect: () => setDeleting(true) }],
        ]}
      >
        <button type="button" className="row prompt-name">
          <h2 className="strong truncate">{comparison.name}</h2>
          <Icon icon={ChevronDown} size="small" />
        </button>
      </Menu>
      <ConfirmDialog
        title={`Delete "${comparison.name}"?`}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        action="Delete comparison"
        onConfirm={() => void confirm()}
      >
        Its results and votes are deleted. Its runs stay in the audit.
      </ConfirmDialog>
    </>
  );
}

/** Start, stop and retry of the whole comparison. */
export function useRunCommands(comparison: Comparison) {
  const { id } = comparison;
  const [start, stop, retry] = [useStartComparison(), useStopComparison(), useRetryComparison()];
  const renew = useRenewResults();
  const showFailure = (error: unknown): void => {
    const { message, requestId } = describeError(error);
    showToast({ tone: 'negative', text: message, requestId });
  };
  return {
    isStarting: start.isPending,
    isStopping: stop.isPending,
    isRetrying: retry.isPending,
    start: () => void start.mutateAsync({ id }).then(() => renew(id), showFailure),
    stop: (choice: Omit<Parameters<typeof stop.mutate>[0], 'id'> = {}) =>
      stop.mutate({ id, ...choice }, { onSuccess: () => renew(id) }),
    retry: (choice: Omit<Parameters<typeof retry.mutate>[0], 'id'> = {}) =>
      retry.mutate({ id, ...choice }, { onSuccess: () => renew(id) }),
  };
}

function RunButtons({ comparison }: { comparison: Comparison }) {
  const { state, cells } = comparison;
  const commands = useRunCommands(comparison);
  const isRunning = state === 'Running';
  useActions('compare-results', [
    {
      id: 'compare.stop',
      title: 'Stop comparison',
      group: 'Compare',
      icon: Square,
      keys: 'Escape',
      isEnabled: isRunning,
      run: () => commands.stop(),
    },
  ]);
  // A row that lacks a value is skipped again.
  return (
    <>
      {cells.failed > 0 && (
        <Button icon={RotateCcw} isBusy={commands.isRetrying} onClick={() => commands.retry()}>
          Retry failed
        </Button>
      )}
      {isRunning ? (
        <Button icon={Square} keys="Escape" isBusy={commands.isStopping} onClick={() => commands.stop()}>
          Stop
        </Button>
      ) : (
        cells.waiting + cells.stopped > 0 && (
          <Button variant="primary" icon={Play} isBusy={commands.isStarting} onClick={commands.start}>
            {state === 'Ready' ? 'Start' : 'Resume'}
          </Button>
        )
      )}
    </>
  );
}

/** How long the rate of runs is measured for, in milliseconds. */
const rateMilliseconds = 15_000;

/** The time, and how many runs end per second, both once a second while it runs; the rate is null before it is known. */
function useClock({ state, cells }: Comparison): { now: number | null; perSecond: number | null } {
  const ended = cells.completed + cells.failed + cells.skipped;
  const [samples, setSamples] = useState<readonly { at: number; ended: number }[]>([]);
  const isRunning = state === 'Running';
  const tick = useEffectEvent(() => {
    const at = Date.now();
    setSamples((before) => [...before.filter((one) => at - one.at < rateMilliseconds), { at, ended }]);
  });
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => tick(), 1000);
    return () => {
      clearInterval(timer);
      setSamples([]);
    };
  }, [isRunning]);
  const [first, last] = [samples[0], samples.at(-1)];
  const isKnown = first && last && last.ended > first.ended;
  return {
    now: last?.at ?? null,
    perSecond: isKnown ? (last.ended - first.ended) / ((last.at - first.at) / 1000) : null,
  };
}

function Counts({ cells }: Pick<Comparison, 'cells'>) {
  return (
    <>
      <span className="medium numbers">
        {formatWhole(cells.completed)} of {formatPlural(cells.total, 'run')}
      </span>
      {cells.running > 0 && <span className="tertiary numbers">{formatWhole(cells.running)} running</span>}
      {cells.waiting > 0 && <span className="tertiary numbers">{formatWhole(cells.waiting)} queued</span>}
      {cells.stopped > 0 && <span className="tertiary numbers">{formatWhole(cells.stopped)} stopped</span>}
      {cells.failed > 0 && <span className="negative numbers">{formatWhole(cells.failed)} failed</span>}
      {cells.skipped > 0 && <span className="caution numbers">{formatWhole(cells.skipped)} skipped</span>}
    </>
  );
}

function Cost({ comparison: { cost, maxCost } }: { comparison: Comparison }) {
  const unknown = cost.runsWithoutCost > 0 ? `, ${formatPlural(cost.runsWithoutCost, 'run')} without a price` : '';
  return (
    <span className="row results__cost nowrap numbers">
      <span className="medium">{formatCost(cost.spent)}</span>
      {maxCost !== null && (
        <>
          <Progress label="Spent of the maximum cost" fraction={cost.spent / maxCost} />
          <span className="tertiary">of {formatCost(maxCost)} cap</span>
        </>
      )}
      {cost.spentByJudges > 0 && <span className="tertiary">{formatCost(cost.spentByJudges)} of it for judges</span>}
      {unknown !== '' && <span className="tertiary">{unknown.slice(2)}</span>}
    </span>
  );
}

/** How far the comparison is, for how long, and what it has cost. */
export function ProgressBar({ comparison }: { comparison: Comparison }) {
  const { cells, judging } = comparison;
  const clock = useClock(comparison);
  const ended = cells.completed + cells.failed + cells.skipped;
  return (
    <div className="results__progress line-bottom">
      {judging ? (
        <Progress label="Judged" fraction={judging.judged / judging.total} />
      ) : (
        <Progress label="Runs" fraction={cells.total === 0 ? 0 : ended / cells.total} />
      )}
      <div className="row small results__counts">
        <Counts cells={cells} />
        {judging ? (
          <span className="medium numbers">
            {formatWhole(judging.judged)} of {formatWhole(judging.total)} judged
          </span>
        ) : (
          <span className="tertiary numbers">{timeWords(comparison, clock, formatDuration).join(', ')}</span>
        )}
        <span className="grow" />
        <Cost comparison={comparison} />
      </div>
    </div>
  );
}

interface ResultsHeaderProps {
  comparison: Comparison;
  datasetName: string | null;
}

/** Name, dataset and actions. */
export const ResultsHeader = memo(function ResultsHeader({ comparison, datasetName }: ResultsHeaderProps) {
  const [, navigate] = useLocation();
  const { id, rowCount, repeats } = comparison;
  const details = [datasetName, formatPlural(rowCount, 'row'), repeats > 1 ? formatPlural(repeats, 'repeat') : null];
  return (
    <div className="toolbar">
      <NameMenu comparison={comparison} />
      <span className="small tertiary truncate results__details">
        {details.filter((detail) => detail !== null).join(', ')}
      </span>
      <span className="grow" />
      <Button icon={Settings2} onClick={() => navigate(comparisonSetupAddress(id))}>
        Setup
      </Button>
      <Button icon={Vote} onClick={() => navigate(comparisonVoteAddress(id))}>
        Blind vote
      </Button>
      <ExportMenu comparison={comparison} />
      <RunButtons comparison={comparison} />
    </div>
  );
});
