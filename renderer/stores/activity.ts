import { useEffect } from 'react';
import { create } from 'zustand';

interface ActivityState {
  /** Runs of this window that are streaming now. */
  streamingRuns: number;
  /** The object that the open screen shows, for the title bar: `Examples / Answer from a passage`. */
  place: string | null;
}

/** What the frame of the window shows about the work inside it. */
export const useActivity = create<ActivityState>()(() => ({ streamingRuns: 0, place: null }));

/** Counts a run as streaming until the returned function is called; calling it again changes nothing. */
export function beginStreamingRun(): () => void {
  const add = (difference: number) =>
    useActivity.setState(({ streamingRuns }) => ({ streamingRuns: streamingRuns + difference }));
  let isOpen = true;
  add(1);
  return () => {
    if (isOpen) add(-1);
    isOpen = false;
  };
}

/** Names in the title bar what the screen shows, while it shows it. */
export function usePlace(place: string | null): void {
  useEffect(() => {
    useActivity.setState({ place });
    return () => useActivity.setState({ place: null });
  }, [place]);
}
