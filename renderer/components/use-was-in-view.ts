import { useEffect, useRef, useState } from 'react';

interface Options {
  /** Drawn at once, wherever it is. */
  isEager: boolean;
  /** How far from the view it is drawn, in pixels. */
  marginPixels: number;
}

/** Whether an element is near the view or was: what was drawn stays, because it may hold a cursor or a selection. */
export function useWasInView<Shown extends HTMLElement>({ isEager, marginPixels }: Options) {
  const element = useRef<Shown>(null);
  const [wasInView, setWasInView] = useState(isEager || !('IntersectionObserver' in globalThis));
  const isShown = wasInView || isEager;
  useEffect(() => {
    if (isShown || !element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setWasInView(true);
      },
      // Within a scrolling part of the window only the second one counts.
      { rootMargin: `${marginPixels}px`, scrollMargin: `${marginPixels}px` },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isShown, marginPixels]);
  return { element, isShown };
}
