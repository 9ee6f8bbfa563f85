import { Flag } from 'lucide-react';
import { useMemo } from 'react';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { classNames } from '../../components/class-names.ts';
import { formatCount, formatDuration } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Progress } from '../../components/badges.tsx';
import { EmptyState, ErrorFailure, Notice } from '../../components/state-panels.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { type ShownTexts, useModerationStore } from '../../stores/moderation.ts';
import { classifierName } from './categories.tsx';
import { type FlaggedShare, flaggedShare } from './quality-figures.ts';
import { useStopBatch } from '../../queries/moderation.ts';
import type { ModerationAddress } from '../../shell/addresses.ts';
import type { LoadTexts } from './use-texts.ts';

const rowHeight = 28;

/** The classifier with the least progress. */
function slowest(batch: Batch): Batch['classifiers'][number] {
  const going = batch.classifiers.filter(({ failure }) => failure === null);
  return (going.length > 0 ? going : batch.classifiers).toSorted((one, other) => one.done - other.done)[0]!;
}

function BatchProgress({ batch, onStop }: { batch: Batch; onStop: () => void }) {
  const { done, rate } = slowest(batch);
  const left = rate === 0 ? '' : `, ${formatDuration(((batch.total - done) * 1000) / rate)} left`;
  return (
    <>
      <div className="header">
        <h2>Texts</h2>
        <span className="caption tertiary nowrap numbers">
          {batch.state === 'running' ? `${formatCount(done)} of ` : ''}
          {formatCount(batch.total)}
        </span>
        <span className="grow" />
        {batch.state === 'running' && (
          <Button size="small" variant="quiet" onClick={onStop}>
            Stop
          </Button>
        )}
        {batch.state === 'stopped' && <span className="caption tertiary nowrap">Stopped at {formatCount(done)}</span>}
      </div>
      {batch.state === 'running' && (
        <div className="moderation__progress">
          <Progress label="Checked" fraction={done / batch.total} />
          <span className="caption tertiary">
            {rate >= 1.5 ? Math.round(rate) : rate.toFixed(1)} texts per second{left}
          </span>
        </div>
      )}
    </>
  );
}

interface TextListProps {
  batch: Batch;
  results: readonly BatchResult[];
  share: FlaggedShare;
  shown: ShownTexts;
  onShown: (shown: ShownTexts) => void;
  selected: number | null;
  onSelect: (index: number) => void;
  onStop: () => void;
}

/** The texts of a batch, with those flagged at the current thresholds. */
function TextList({ batch, results, share, shown, onShown, selected, onSelect, onStop }: TextListProps) {
  const flagged = useMemo(() => new Set(share.flagged), [share]);
  const indices = useMemo(() => {
    if (shown === 'flagged') return share.flagged;
    return shown === 'differ' ? share.differ : results.map((_, index) => index);
  }, [shown, share, results]);
  const percent = share.judged === 0 ? null : (100 * share.flagged.length) / share.judged;
  return (
    <>
      <BatchProgress batch={batch} onStop={onStop} />
      {batch.classifiers
        .filter(({ failure }) => failure !== null)
        .map(({ classifier, failure }) => (
          <Notice key={classifierName(classifier)} tone="negative">
            {classifierName(classifier)}: {failure?.message}
          </Notice>
        ))}
      <div className="header">
        <Segmented
          label="Show"
          value={shown}
          onValueChange={onShown}
          options={[
            { value: 'all', label: 'All' },
            { value: 'flagged', label: `Flagged ${formatCount(share.flagged.length)}` },
            ...(batch.classifiers.length > 1
              ? [{ value: 'differ' as const, label: `Differ ${formatCount(share.differ.length)}` }]
              : []),
          ]}
        />
        <span className="caption tertiary nowrap numbers">{percent === null ? '' : `${percent.toFixed(1)}%`}</span>
      </div>
      <VirtualList
        label="Texts"
        items={indices}
        itemKey={String}
        rowHeight={rowHeight}
        selectedKey={selected === null ? null : String(selected)}
        onSelect={onSelect}
        renderItem={(index, isSelected) => (
          <div className={classNames('text-row', isSelected && 'is-selected')}>
            <span className="tertiary caption numbers">{index + 1}</span>
            <span className="truncate">{results[index]?.title}</span>
            {flagged.has(index) ? (
              <span className="text-row__flag">
                <Icon icon={Flag} size="small" />
                <span className="visually-hidden">flagged</span>
              </span>
            ) : (
              <span />
            )}
          </div>
        )}
      />
    </>
  );
}

interface ListPaneProps {
  batch: Batch | undefined;
  results: readonly BatchResult[];
  thresholds: CategoryScores;
  address: ModerationAddress;
  load: LoadTexts;
  onFile: () => void;
}

/** The texts of the open batch, or ways to load texts. */
export function ListPane({ batch, results, thresholds, address, load, onFile }: ListPaneProps) {
  const shown = useModerationStore((state) => state.shown);
  const stop = useStopBatch();
  const share = useMemo(() => flaggedShare(results, thresholds), [results, thresholds]);
  if (batch) {
    return (
      <>
        <TextList
          batch={batch}
          results={results}
          share={share}
          shown={shown === 'differ' && batch.classifiers.length === 1 ? 'all' : shown}
          onShown={(next) => useModerationStore.setState({ shown: next })}
          selected={address.index}
          onSelect={(index) => address.openBatch(batch.id, index)}
          onStop={() => stop.mutate(batch.id)}
        />
        <div className="moderation__back line-top">
          <Button size="small" variant="quiet" onClick={address.openText}>
            Single text
          </Button>
        </div>
      </>
    );
  }
  if (load.error) return <ErrorFailure title="Couldn't load the texts" error={load.error} />;
  if (address.batchId !== null) {
    return (
      <EmptyState
        title="This batch is no longer in memory"
        reason="Touchstone keeps the eight newest batches until it stops. Import the texts again."
      >
        <Button onClick={address.openText}>Single text</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="Batch"
      reason={'TXT (one text per line), CSV or JSONL with a "text" or "prompt" column, pasted lines, or audit runs.'}
    >
      <Button isBusy={load.isBusy} onClick={onFile}>
        Import file
      </Button>
    </EmptyState>
  );
}
