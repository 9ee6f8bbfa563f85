import {
  type KeyboardEvent as ReactKeyboardEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { classNames } from './class-names.ts';
import { formatScore } from './format.ts';
import './scores.css';

/** Keys of the last moment: a minus before its digit, a digit that a minus can negate, a 1 that can become 10. */
interface ScoreTyping {
  isNegative: boolean;
  isDigitFresh: boolean;
  isOneOpen: boolean;
}

export const noTyping: ScoreTyping = { isNegative: false, isDigitFresh: false, isOneOpen: false };

/**
 * The score after a key: digits set it, a minus right before or after a digit makes it negative, 1 and 0 in a row are 10. Null for
 * other keys; an undefined score means no change.
 */
export function typeScore(
  key: string,
  typing: ScoreTyping,
  score: number | null,
): { score?: number; typing: ScoreTyping } | null {
  if (key === '-' || key === '−') {
    const isTurned = typing.isDigitFresh && score !== null && score > 0;
    return isTurned
      ? { score: -score, typing: { ...typing, isNegative: true } }
      : { typing: { isNegative: true, isDigitFresh: false, isOneOpen: false } };
  }
  if (!/^\d$/.test(key)) return null;
  const sign = typing.isNegative ? -1 : 1;
  if (key === '0' && typing.isOneOpen) return { score: sign * 10, typing: { ...noTyping, isDigitFresh: true } };
  return {
    score: key === '0' ? 0 : sign * Number(key),
    typing: {
      isNegative: typing.isNegative && key === '1',
      isDigitFresh: true,
      isOneOpen: key === '1',
    },
  };
}

/** After this long without a key, a new score starts, in milliseconds. */
const patienceMilliseconds = 1_200;

function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role="dialog"], [role="alertdialog"], [role="menu"]') !== null
  );
}

/** Keys that arrived before their run was loaded. */
interface EarlyKeys {
  readonly keys: string[];
  readonly since: number;
}

/** Older keys were meant for something else, in milliseconds. */
const longestWaitMilliseconds = 5_000;

interface ScoreKeysOptions {
  isEnabled: boolean;
  /** Keys count only while the focus is inside; without an element, anywhere on the screen. */
  scope?: RefObject<HTMLElement | null>;
}

/**
 * Digits and minus set the score of the open run. Keys that are typed while the run loads are buffered and applied together: half a
 * score, or a lost minus, would be worse than none. True while a minus waits for its digit.
 */
export function useScoreKeys(
  score: number | null,
  onScore: (score: number) => void,
  { isEnabled, scope }: ScoreKeysOptions,
): boolean {
  const [typing, setTyping] = useState<ScoreTyping>(noTyping);
  // Several keys can arrive before the next render. Each one continues from the result of the last.
  const current = useRef({ score, typing });
  useLayoutEffect(() => {
    current.current = { score, typing };
  });
  const early = useRef<EarlyKeys | null>(null);
  useEffect(() => {
    if (typing === noTyping) return;
    const timer = setTimeout(() => setTyping(noTyping), patienceMilliseconds);
    return () => clearTimeout(timer);
  }, [typing]);
  const take = useEffectEvent((key: string): boolean => {
    const next = typeScore(key, current.current.typing, current.current.score);
    if (!next) return false;
    setTyping(next.typing);
    current.current = { typing: next.typing, score: next.score ?? current.current.score };
    if (next.score !== undefined) onScore(next.score);
    return true;
  });
  const takeOrBuffer = useEffectEvent((key: string) => (isEnabled ? take(key) : bufferKey(early, key)));
  // A layout effect: a key that is pressed as soon as the score is drawn counts.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event.target)) return;
      if (scope && !(event.target instanceof Node && scope.current?.contains(event.target))) return;
      if (takeOrBuffer(event.key)) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [scope]);
  useEffect(() => {
    if (!isEnabled || !early.current) return;
    const { keys, since } = early.current;
    early.current = null;
    if (performance.now() - since < longestWaitMilliseconds) for (const key of keys) take(key);
  }, [isEnabled]);
  return typing.isNegative && !typing.isDigitFresh;
}

/** Buffers a key of a score. Any other key empties the buffer: the person is doing something else. */
function bufferKey(early: RefObject<EarlyKeys | null>, key: string): boolean {
  if (!typeScore(key, noTyping, null)) {
    early.current = null;
    return false;
  }
  early.current ??= { keys: [], since: performance.now() };
  early.current.keys.push(key);
  return true;
}

const scores = Array.from({ length: 21 }, (_, index) => index - 10);
const named = new Set([-10, -5, 0, 5, 10]);

/** A score as a number with its sign: negative from −5 down, caution below 0. */
export function Score({ score }: { score: number }) {
  const tone = score <= -5 ? 'negative' : score < 0 ? 'caution' : score > 0 ? 'positive' : 'tertiary';
  return <span className={classNames('score', tone)}>{formatScore(score)}</span>;
}

/** One tab stop; the arrows move along the scale. */
export function ScoreScale({ score, onScore }: { score: number | null; onScore: (score: number | null) => void }) {
  const group = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: ReactKeyboardEvent) => {
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
