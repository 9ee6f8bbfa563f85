import { useCallback, useEffectEvent, useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** A reader within this many pixels of the end counts as being at the end. */
const nearEnd = 24;

/**
 * Keeps the end of a growing text in view for a reader at its end, and doesn't move a reader who has scrolled up. A text that
 * arrives in full with the end of its run is shown from its start.
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

  // A run that ends keeps its scroll position; only another run starts at the top.
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
      // Messages about the end of a run are below its text: a reader who followed it sees them too.
      if (isFollowing.current && hasFollowed.current) element.scrollTop = element.scrollHeight;
      return;
    }
    // An observer instead of work in each render: reading the height there would force a second layout.
    const follow = (): void => {
      hasFollowed.current ||= element.scrollHeight > element.clientHeight;
      if (isFollowing.current) element.scrollTop = element.scrollHeight;
    };
    follow();
    const observer = new ResizeObserver(follow);
    observer.observe(content);
    // The wire panel below takes height away from the text.
    observer.observe(element);
    return () => observer.disconnect();
  }, [key, isGrowing]);

  return { scroller, onScroll };
}
