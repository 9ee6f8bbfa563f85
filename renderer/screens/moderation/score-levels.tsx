import { Flag } from 'lucide-react';
import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import type { CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category } from '../../../shared/contract/moderation.ts';
import { classNames } from '../../components/class-names.ts';
import { Icon } from '../../components/icon.tsx';
import { categoryNames, CategorySwatch } from './categories.tsx';
import './scores.css';

const steps: Record<string, number> = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
  Home: -1,
  End: 1,
};

const rounded = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;

interface ThresholdSliderProps {
  label: string;
  value: number;
  onValueChange: (value: number) => void;
  onFocus: () => void;
}

/** A line across a scale from 0 to 1, moved with the pointer or with the arrow keys in steps of 0.01. */
function ThresholdSlider({ label, value, onValueChange, onFocus }: ThresholdSliderProps) {
  const handle = useRef<HTMLSpanElement>(null);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onValueChange(rounded(value + step));
  };
  const onPointerMove = (event: PointerEvent) => {
    const scale = handle.current?.parentElement?.getBoundingClientRect();
    if (!scale || !handle.current?.hasPointerCapture(event.pointerId)) return;
    onValueChange(rounded((event.clientX - scale.left) / scale.width));
  };

  return (
    <span
      ref={handle}
      className="level__threshold"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={1}
      aria-valuenow={value}
      aria-valuetext={value.toFixed(2)}
      style={{ left: `${value * 100}%` }}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}

interface Scored {
  /** Null without a result; without the categories that the classifier doesn't support. */
  first: Partial<CategoryScores> | null;
  second: Partial<CategoryScores> | null;
  hasSecond: boolean;
}

interface VerdictProps {
  isFirstOver: boolean;
  isSecondOver: boolean;
  /** Whether both support the category: a missing score isn't a disagreement. */
  isByBoth: boolean;
}

function Verdict({ isFirstOver, isSecondOver, isByBoth }: VerdictProps) {
  if (!isFirstOver && !isSecondOver) return <span />;
  const word = !isByBoth ? 'Flagged' : isFirstOver && isSecondOver ? 'Both' : isFirstOver ? 'Only A' : 'Only B';
  return (
    <span className="level__verdict">
      <span className={word.startsWith('Only') ? 'caution' : 'negative'}>
        <Icon icon={Flag} size="small" />
        {word}
      </span>
    </span>
  );
}

function Bar({ score, isOver, isSecond }: { score: number | undefined; isOver: boolean; isSecond: boolean }) {
  if (score === undefined) return null;
  const className = classNames('level__bar', isSecond && 'level__bar--second', isOver && 'is-over');
  return <i className={className} style={{ width: `${score * 100}%` }} />;
}

function Figure({ scores, category, isOver }: { scores: Scored['first']; category: Category; isOver: boolean }) {
  const score = scores?.[category];
  return (
    <span className={classNames('level__number', isOver && 'is-over')}>
      {score === undefined && scores !== null ? (
        <span className="tertiary" title="This classifier doesn't support the category">
          none
        </span>
      ) : (
        score?.toFixed(2)
      )}
    </span>
  );
}

function LevelsHead({ hasSecond }: { hasSecond: boolean }) {
  return (
    <div className="level level--head" aria-hidden="true">
      <span>Category</span>
      <span className="level__ticks">
        {['0', '0.25', '0.5', '0.75', '1'].map((tick) => (
          <i key={tick}>{tick}</i>
        ))}
      </span>
      <span className="right nowrap">
        <i className="key key--a" />A
      </span>
      <span className="right nowrap">
        {hasSecond && (
          <>
            <i className="key key--b" />B
          </>
        )}
      </span>
      <span className="right">Threshold</span>
      <span />
    </div>
  );
}

export interface ScoreLevelsProps extends Scored {
  thresholds: CategoryScores;
  onThreshold: (category: Category, value: number) => void;
  onCategory: (category: Category) => void;
}

/** Five scores on a scale from 0 to 1, each with its threshold. */
export function ScoreLevels({ first, second, hasSecond, thresholds, onThreshold, onCategory }: ScoreLevelsProps) {
  return (
    <div className="levels">
      <LevelsHead hasSecond={hasSecond} />
      {categories.map((category) => {
        const limit = thresholds[category];
        const isOver = (scores: Scored['first']) => (scores?.[category] ?? -1) >= limit;
        const { name } = categoryNames[category];
        return (
          <div key={category} className="level" role="group" aria-label={name}>
            <span className="level__name">
              <CategorySwatch category={category} />
              {name}
            </span>
            <div className="level__scale">
              <span className="level__grid" aria-hidden="true">
                <i />
                <i />
                <i />
                <i />
              </span>
              <Bar score={first?.[category]} isOver={isOver(first)} isSecond={false} />
              <Bar score={second?.[category]} isOver={isOver(second)} isSecond />
              <ThresholdSlider
                label={`${name} threshold`}
                value={limit}
                onValueChange={(value) => onThreshold(category, value)}
                onFocus={() => onCategory(category)}
              />
            </div>
            <Figure scores={first} category={category} isOver={isOver(first)} />
            <Figure scores={second} category={category} isOver={isOver(second)} />
            <span className="level__limit">{limit.toFixed(2)}</span>
            <Verdict
              isFirstOver={isOver(first)}
              isSecondOver={isOver(second)}
              isByBoth={first?.[category] !== undefined && second?.[category] !== undefined}
            />
          </div>
        );
      })}
    </div>
  );
}
