import { useMemo } from 'react';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, ErrorFailure } from '../../components/state-panels.tsx';
import { useStopBatch } from '../../queries/moderation.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import type { ModerationAddress } from './moderation-address.ts';
import { flaggedShare } from './quality-figures.ts';
import { TextList } from './text-list.tsx';
import type { LoadTexts } from './use-load-texts.ts';

interface ListPaneProps {
  batch: Batch | undefined;
  results: readonly BatchResult[];
  thresholds: CategoryScores;
  address: ModerationAddress;
  load: LoadTexts;
  onFile: () => void;
}

/** The texts of the open batch, or the ways to load some. */
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
