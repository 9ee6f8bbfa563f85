import { useEffect, useState } from 'react';

const tick = 100;

/** The time of `performance.now()`, renewed ten times a second while something is being measured. */
export function useNow(isActive: boolean): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!isActive) return;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), tick);
    return () => clearInterval(timer);
  }, [isActive]);
  return now;
}
