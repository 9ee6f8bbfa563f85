import type { Category } from '../../../shared/contract/moderation.ts';
import { categoryNames } from './category-names.ts';
import type { CurvePoint } from './quality-figures.ts';

function pointsOf(curve: readonly CurvePoint[], figure: 'precision' | 'recall'): string {
  return curve
    .filter((point) => point[figure] !== null)
    .map((point) => `${point.threshold * 100},${100 - point[figure]! * 100}`)
    .join(' ');
}

const written = (value: number | null | undefined) => (value == null ? 'none' : value.toFixed(2));

export interface QualityCurveProps {
  category: Category;
  curve: readonly CurvePoint[];
  threshold: number;
}

/** Precision and recall of one category over every threshold. */
export function QualityCurve({ category, curve, threshold }: QualityCurveProps) {
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
