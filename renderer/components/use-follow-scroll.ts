import { useCallback, useEffectEvent, useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Pixels from the end within which a reader counts as being at the end. */
const nearEnd = 24;

/**
 * Keeps the end of a growing text in view for a reader who is at its end, and leaves one who has scrolled up alone.
 * A text that arrives whole with the end of its run is shown from its beginning.
 */
export function useFollowScroll(
  key: string,
  isGrowing: boolean,
): { scroller: RefObject<HTMLDivElement | null>; onScroll: () => void } {
  const scroller = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  /** Whether the text was longer than its view while it grew. */
  const hasFollowed = useRef(false);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element) isFollowing.current = element.scrollHeight - element.scrollTop - element.clientHeight <= nearEnd;
  }, []);

  // A run that ends keeps its place; only another run starts at the top.
  const startAtTop = useEffectEvent(() => {
    isFollowing.current = isGrowing;
    hasFollowed.current = false;
    if (scroller.current) scroller.current.scrollTop = 0;
  });
  useLayoutEffect(() => {
    startAtTop();
  }, [key]);

  useLayoutEffect(() => {
    const element = scroller.current;
    const content = element?.firstElementChild;
    if (!element || !content) return;
    if (!isGrowing) {
      // What is said at the end of a run stands below its text: a reader who followed it sees that too.
      if (isFollowing.current && hasFollowed.current) element.scrollTop = element.scrollHeight;
      return;
    }
    // Observed rather than done with each draw: reading the height there would force a second layout.
    const follow = (): void => {
      hasFollowed.current ||= element.scrollHeight > element.clientHeight;
      if (isFollowing.current) element.scrollTop = element.scrollHeight;
    };
    follow();
    const observer = new ResizeObserver(follow);
    observer.observe(content);
    // The wire below takes height away from the text.
    observer.observe(element);
    return () => observer.disconnect();
  }, [key, isGrowing]);

  return { scroller, onScroll };
}
