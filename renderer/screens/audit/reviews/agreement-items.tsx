import { useLocation } from 'wouter';
import type { ItemAgreement, ReviewAgreement } from '../../../../shared/contract/review-agreement.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatPlural } from '../../../components/format.ts';
import { Notice } from '../../../components/state-panels.tsx';
import { rubricAddress } from '../../../shell/addresses.ts';
import {
  type Comparison,
  comparisonName,
  describeMeasures,
  figure,
  mainConfusion,
  tentativeFrom,
  verdictOf,
} from './agreement-words.ts';
import { kindNames } from './answers.ts';

const positionOf = (value: number) => `${Math.min(Math.max(value, 0), 1) * 100}%`;

/** What the positions of all bars below it mean. */
function AlphaScale() {
  return (
    <div className="alpha alpha__scale caption tertiary numbers" aria-hidden="true">
      <span />
      <span>
        {[0, tentativeFrom, 1].map((value) => (
          <i key={value} style={{ left: positionOf(value) }}>
            {Number(value.toFixed(2))}
          </i>
        ))}
      </span>
    </div>
  );
}

/** Alpha on a scale from 0 to 1, with its interval and where it becomes tentative. */
function AlphaBar({ alpha, interval }: { alpha: number; interval: readonly [number, number] | null }) {
  const [low, high] = interval ?? [alpha, alpha];
  const style = {
    '--low': positionOf(low),
    '--high': positionOf(high),
    '--at': positionOf(alpha),
    '--reference': positionOf(tentativeFrom),
  };
  return (
    <span className="alpha__bar" style={style as Record<string, string>} aria-hidden="true">
      <i />
      <b />
    </span>
  );
}

interface ItemRowProps {
  item: ItemAgreement;
  number: number;
  isSelected: boolean;
  onSelect: () => void;
}

function ItemRow({ item, number, isSelected, onSelect }: ItemRowProps) {
  const { question, kind, alpha, interval, reason, ratedItems } = item;
  const verdict = alpha === null ? null : verdictOf(alpha);
  return (
    <button
      type="button"
      className={classNames('alpha', isSelected && 'is-selected')}
      aria-current={isSelected || undefined}
      onClick={onSelect}
    >
      <span className="alpha__name">
        <span className="tertiary numbers">{number}</span> <span className="truncate">{question}</span>
      </span>
      {alpha !== null && verdict ? (
        <>
          <span className="alpha__value numbers">{figure(alpha)}</span>
          <AlphaBar alpha={alpha} interval={interval} />
          <span className={classNames('caption', 'medium', 'nowrap', verdict.tone)}>{verdict.text}</span>
        </>
      ) : (
        <span className="alpha__none small tertiary">{kind === 'text' ? 'Text, not measured' : reason}</span>
      )}
      {kind !== 'text' && (
        <span className="caption tertiary alpha__more">
          {kindNames[kind]}, {formatPlural(ratedItems, 'item')}
          {interval && `, ${figure(interval[0])} to ${figure(interval[1])}`}
        </span>
      )}
    </button>
  );
}

function PairRow({ pair, isSelected, onSelect }: { pair: Comparison; isSelected: boolean; onSelect: () => void }) {
  const value = pair.alpha ?? pair.kappa;
  return (
    <button
      type="button"
      className={classNames('agreement__pair', isSelected && 'is-selected')}
      aria-current={isSelected || undefined}
      onClick={onSelect}
    >
      <span className="truncate">{comparisonName(pair)}</span>
      {value === null ? <span /> : <AlphaBar alpha={value} interval={pair.interval} />}
      <span className="numbers">{value === null ? '–' : figure(value)}</span>
    </button>
  );
}

/** What is chosen on the screen. */
export interface SelectionProps {
  agreement: ReviewAgreement;
  selected: ItemAgreement;
  pair: Comparison | null;
  comparisons: readonly Comparison[];
  onItem: (id: string) => void;
  onPair: (key: string) => void;
}

/** The items of the rubric with their figures, the pairs of the chosen one, and what they confuse. */
export function ItemsPanel({ queue, ...props }: SelectionProps & { queue: ReviewQueue }) {
  const { agreement, selected, pair, comparisons, onItem, onPair } = props;
  const [, navigate] = useLocation();
  const confusion = pair && mainConfusion(pair);
  return (
    <section className="panel panel--inset line-right agreement__items scroll" aria-label="Agreement per item">
      <div className="header">
        <h2>Agreement</h2>
        <span className="caption tertiary">Krippendorff’s alpha, 95%</span>
      </div>
      <AlphaScale />
      {agreement.items.map((item, index) => (
        <ItemRow
          key={item.rubricItemId}
          item={item}
          number={index + 1}
          isSelected={item === selected}
          onSelect={() => onItem(item.rubricItemId)}
        />
      ))}
      <p className="small agreement__sentence" role="status">
        {describeMeasures(selected)}
      </p>
      {comparisons.length > 1 && (
        <>
          <div className="header line-top">
            <h2>By pair</h2>
            <span className="caption tertiary">Cohen’s kappa, 95%</span>
          </div>
          {comparisons.map((one) => (
            <PairRow key={one.key} pair={one} isSelected={one.key === pair?.key} onSelect={() => onPair(one.key)} />
          ))}
        </>
      )}
      {confusion && (
        <div className="agreement__notice">
          <Notice tone="caution">
            {confusion} A clearer hint may help.{' '}
            <Button size="small" onClick={() => navigate(rubricAddress(queue.rubric.id))}>
              Edit rubric
            </Button>
          </Notice>
        </div>
      )}
    </section>
  );
}
