import { useRef, type KeyboardEvent } from 'react';
import { classNames } from '../class-names.ts';
import { formatScore } from '../format.ts';
import './scores.css';

const scores = Array.from({ length: 21 }, (_, index) => index - 10);
const named = new Set([-10, -5, 0, 5, 10]);

/** A score as a number with its sign: negative from −5 down, caution below 0. */
export function Score({ score }: { score: number }) {
  const tone = score <= -5 ? 'negative' : score < 0 ? 'caution' : score > 0 ? 'positive' : 'tertiary';
  return <span className={classNames('score', tone)}>{formatScore(score)}</span>;
}

/** One stop for Tab: the arrows go along the scale. */
export function ScoreScale({ score, onScore }: { score: number | null; onScore: (score: number | null) => void }) {
  const group = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (event.key === 'Backspace' || event.key === 'Delete') return onScore(null);
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(-10, Math.min(10, (score ?? 0) + step));
    onScore(next);
    group.current?.querySelector<HTMLElement>(`[data-score="${next}"]`)?.focus();
  };
  return (
    <div
      ref={group}
      className="scale"
      role="radiogroup"
      aria-label="Score from minus 10 to plus 10"
      onKeyDown={onKeyDown}
    >
      {scores.map((value) => (
        <button
          key={value}
          type="button"
          role="radio"
          data-score={value}
          aria-checked={value === score}
          aria-label={String(value)}
          tabIndex={value === (score ?? 0) ? 0 : -1}
          className={classNames(value === 0 && 'is-zero', value === score && 'is-on')}
          onClick={() => onScore(value === score ? null : value)}
        >
          <span>{(named.has(value) || value === score) && formatScore(value)}</span>
        </button>
      ))}
    </div>
  );
}
