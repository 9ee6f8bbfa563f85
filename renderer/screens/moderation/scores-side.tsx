import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { ErrorFailure } from '../../components/state-panels.tsx';
import { useBatchResults } from '../../queries/moderation.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import type { FlaggedShare } from './quality-figures.ts';
import { QualityPanel } from './quality-panel.tsx';
import { ScoresPanel } from './scores-panel.tsx';
import type { OpenText } from './use-texts.ts';
import type { Thresholds } from './use-thresholds.ts';

const noResults: readonly BatchResult[] = [];

interface ScoresSideProps {
  open: OpenText;
  batch: Batch | undefined;
  share: FlaggedShare;
  limits: Thresholds;
  isMeasured: boolean;
  thresholds: CategoryScores;
  labelled: Batch | undefined;
  onLoad: () => void;
}

/** Scores of the open text, and the quality of the thresholds on the labelled texts. */
export function ScoresSide({ open, batch, share, limits, isMeasured, thresholds, labelled, onLoad }: ScoresSideProps) {
  const category = useModerationStore((state) => state.category);
  const labelledResults = useBatchResults(labelled).data?.results ?? noResults;
  return (
    <section className="panel line-left moderation__scores scroll" aria-label="Scores">
      {open.error ? (
        <div className="list-state">
          <ErrorFailure title="Couldn't check the text" error={open.error}>
            <Button onClick={open.retry}>Retry</Button>
          </ErrorFailure>
        </div>
      ) : null}
      <ScoresPanel
        verdicts={open.verdicts}
        thresholds={thresholds}
        batch={batch}
        share={share}
        onThreshold={limits.move}
        onCategory={(next) => useModerationStore.setState({ category: next })}
        preset={limits.preset}
        onPreset={limits.choose}
        isMeasured={isMeasured}
        isMoved={limits.isMoved}
        onReset={limits.reset}
        onSave={limits.save}
        isSaving={limits.isSaving}
      />
      <QualityPanel
        batch={labelled}
        results={labelledResults}
        thresholds={thresholds}
        category={category}
        onCategory={(next) => useModerationStore.setState({ category: next })}
        onThreshold={limits.move}
        onLoad={onLoad}
      />
    </section>
  );
}
