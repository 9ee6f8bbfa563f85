import { useSyncExternalStore } from 'react';
import { LoadingRows } from '../../components/state-panels.tsx';
import { useDrafts } from '../../stores/playground-drafts.ts';
import { Playground } from './playground.tsx';
import './playground.css';

/** The drafts come from the disk: until they are here nothing may be written over them. */
function useHaveDrafts(): boolean {
  return useSyncExternalStore(useDrafts.persist.onFinishHydration, useDrafts.persist.hasHydrated);
}

/** Write a prompt, fill it, run it, look at it. */
export function PlaygroundScreen() {
  return useHaveDrafts() ? <Playground /> : <LoadingRows label="Loading the playground" rows={6} />;
}
