import { FileUp, TriangleAlert } from 'lucide-react';
import { useMemo } from 'react';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, ErrorFailure } from '../../components/state-panels.tsx';
import { useBatchResults } from '../../queries/moderation.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import {
  curveOf,
  type CurvePoint,
  type FlaggedShare,
  type Quality,
  qualityAt,
  thresholdFor,
} from './quality-figures.ts';
import { ScoresPanel } from './scores-panel.tsx';
import type { OpenText } from './use-texts.ts';
import type { Thresholds } from './use-thresholds.ts';
import { categories, type Category } from '../../../shared/contract/moderation.ts';
import { classNames } from '../../components/class-names.ts';
import { formatPlural } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { categoryNames } from './categories.tsx';
import './scores.css';

function pointsOf(curve: readonly CurvePoint[], figure: 'precision' | 'recall'): string {
  return curve
    .filter((point) => point[figure] !== null)
    .map((point) => `${point.threshold * 100},${100 - point[figure]! * 100}`)
    .join(' ');
}

const written = (value: number | null | undefined) => (value == null ? 'none' : value.toFixed(2));

interface QualityCurveProps {
  category: Category;
  curve: readonly CurvePoint[];
  threshold: number;
}

/** Precision and recall of one category at every threshold. */
function QualityCurve({ category, curve, threshold }: QualityCurveProps) {
  const { name } = categoryNames[category];
  const now = curve[Math.round(threshold * 100)];
  const figures = `Precision ${written(now?.precision)}, recall ${written(now?.recall)} at ${threshold.toFixed(2)}`;
  return (
    <figure className="curve line-top">
      <figcaption className="row small nowrap">
        <span className="medium">{name} by threshold</span>
        <span className="grow" />
        <span className="tertiary">
          <i className="key key--line" />
          Precision {written(now?.precision)}
        </span>
        <span className="tertiary">
          <i className="key key--line key--grey" />
          Recall {written(now?.recall)}
        </span>
      </figcaption>
      <div className="curve__plot">
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={`${name}: ${figures}`}>
          <path className="curve__grid" d="M0 0H100M0 50H100M0 100H100" />
          <polyline className="curve__recall" points={pointsOf(curve, 'recall')} />
          <polyline className="curve__precision" points={pointsOf(curve, 'precision')} />
        </svg>
        <i className="curve__limit" style={{ left: `${threshold * 100}%` }} />
        <span className="curve__y">1</span>
        <span className="curve__y curve__y--low">0</span>
        <span className="curve__x" style={{ left: `${threshold * 100}%` }}>
          {threshold.toFixed(2)}
        </span>
      </div>
    </figure>
  );
}

/** Below this share of right flags, the panel warns about a threshold. */
const doubtful = 0.5;
const minShare = 0.7;

function Share({ value, isDoubtful = false }: { value: number | null; isDoubtful?: boolean }) {
  return (
    <>
      <td className={classNames('right', 'medium', isDoubtful && 'caution')}>
        {value === null ? 'none' : value.toFixed(2)}
      </td>
      <td>
        <span className="mini">
          <i style={{ width: `${(value ?? 0) * 100}%` }} />
        </span>
      </td>
    </>
  );
}

interface TableProps {
  figures: readonly Quality[];
  category: Category;
  onCategory: (category: Category) => void;
}

function QualityTable({ figures, category, onCategory }: TableProps) {
  return (
    <table className="grid grid--quality">
      <thead>
        <tr>
          <th>Category</th>
          <th className="right">Labelled</th>
          <th className="right">Precision</th>
          <td />
          <th className="right">Recall</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {figures.map((quality) => {
          const isOpen = quality.category === category;
          return (
            <tr key={quality.category} className={isOpen ? 'is-selected' : undefined}>
              <td>
                <button type="button" aria-pressed={isOpen} onClick={() => onCategory(quality.category)}>
                  {categoryNames[quality.category].name}
                </button>
              </td>
              <td className="right numbers" title={`of ${quality.labelled} labelled texts`}>
                {quality.positives}
              </td>
              <Share value={quality.precision} isDoubtful={(quality.precision ?? 1) < doubtful} />
              <Share value={quality.recall} />
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface NoteProps {
  quality: Quality;
  threshold: number;
  better: CurvePoint | null;
  onThreshold: (category: Category, value: number) => void;
}

/** Warns if most flags are wrong, and offers a better threshold. */
function QualityNote({ quality, threshold, better, onThreshold }: NoteProps) {
  if (quality.precision === null || quality.precision >= doubtful) return null;
  const { name } = categoryNames[quality.category];
  const wrong = quality.flagged - Math.round(quality.precision * quality.flagged);
  return (
    <p className="small secondary quality__note">
      <Icon icon={TriangleAlert} size="small" />
      <span>
        {name} at {threshold.toFixed(2)}: {wrong} of {formatPlural(quality.flagged, 'flag')} are wrong in this set.
        {better && (
          <>
            {' '}
            At {better.threshold.toFixed(2)} precision is {better.precision?.toFixed(2)}, recall{' '}
            {better.recall?.toFixed(2)}.{' '}
            <button type="button" className="link" onClick={() => onThreshold(quality.category, better.threshold)}>
              Use {better.threshold.toFixed(2)}
            </button>
          </>
        )}
      </span>
    </p>
  );
}

interface QualityPanelProps {
  batch: Batch | undefined;
  results: readonly BatchResult[];
  thresholds: CategoryScores;
  category: Category;
  onCategory: (category: Category) => void;
  onThreshold: (category: Category, value: number) => void;
  onLoad: () => void;
}

/** Precision and recall of the thresholds on human-labelled texts. */
function QualityPanel(props: QualityPanelProps) {
  const { batch, results, thresholds, category, onCategory, onThreshold, onLoad } = props;
  const curve = useMemo(() => curveOf(results, 0, category), [results, category]);
  const figures = categories.map((each) => qualityAt(results, 0, each, thresholds[each]));
  const open = figures.find((quality) => quality.category === category)!;
  return (
    <section className="quality" aria-label="Quality">
      <div className="header line-top header--line">
        <h2>Quality at these thresholds</h2>
        {batch && (
          <span className="caption tertiary truncate">
            {formatPlural(batch.total, 'text')}, classifier A, {batch.name}
          </span>
        )}
        <span className="grow" />
        <Button size="small" variant="quiet" icon={FileUp} onClick={onLoad}>
          {batch ? 'Change labelled texts' : 'Load labelled texts'}
        </Button>
      </div>
      {batch ? (
        <>
          <QualityTable figures={figures} category={category} onCategory={onCategory} />
          <QualityNote
            quality={open}
            threshold={thresholds[category]}
            better={thresholdFor(curve, minShare)}
            onThreshold={onThreshold}
          />
          <QualityCurve category={category} curve={curve} threshold={thresholds[category]} />
        </>
      ) : (
        <EmptyState
          title="No labelled texts"
          reason='Load human-labelled texts to see precision and recall at each threshold. CSV or JSONL with a "text" column and a column per category (violence or V; 1, 0 or empty for unknown), or one column "labels" that lists categories.'
        />
      )}
    </section>
  );
}

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
