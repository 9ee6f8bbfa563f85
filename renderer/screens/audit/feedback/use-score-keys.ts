import { useEffect, useRef, useState } from 'react';
import { noTyping, typeScore, type ScoreTyping } from './score-keys.ts';

/** After this long without a key a new score begins, in milliseconds. */
const patienceMilliseconds = 1_200;

function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role="dialog"], [role="alertdialog"], [role="menu"]') !== null
  );
}

/** Digits and minus anywhere in the screen set the score of the open run. True while a minus waits for its digit. */
export function useScoreKeys(score: number | null, onScore: (score: number) => void, isEnabled: boolean): boolean {
  const [typing, setTyping] = useState<ScoreTyping>(noTyping);
  const newest = useRef({ score, onScore, typing });
  newest.current = { score, onScore, typing };
  useEffect(() => {
    if (typing === noTyping) return;
    const timer = setTimeout(() => setTyping(noTyping), patienceMilliseconds);
    return () => clearTimeout(timer);
  }, [typing]);
  useEffect(() => {
    if (!isEnabled) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event.target)) return;
      const next = typeScore(event.key, newest.current.typing, newest.current.score);
      if (!next) return;
      event.preventDefault();
      setTyping(next.typing);
      newest.current.typing = next.typing;
      if (next.score !== undefined) newest.current.onScore(next.score);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isEnabled]);
  return typing.isNegative && !typing.isDigitFresh;
}
