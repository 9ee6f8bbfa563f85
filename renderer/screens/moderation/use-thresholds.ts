import { useEffect, useState } from 'react';
import type { CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category, type ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { useDefaultThresholds } from '../../queries/moderation.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { useModerationStore } from '../../stores/moderation.ts';

/** Moves that follow each other within this time are looked at once, in milliseconds. */
const restMilliseconds = 150;

function merged(own: Record<Category, number | null>, defaults: CategoryScores): CategoryScores {
  return Object.fromEntries(categories.map((each) => [each, own[each] ?? defaults[each]])) as CategoryScores;
}

/** The thresholds of the screen: moved by hand, or those that the service works with. */
export function useThresholds(first: ModerationClassifier | null) {
  const read = useSettings();
  const settings = read.data?.moderation;
  const defaults = useDefaultThresholds(first);
  const moved = useModerationStore(({ thresholds }) => thresholds);
  const update = useUpdateSettings();
  const ofService = settings && defaults.data ? merged(settings.thresholds, defaults.data) : null;
  const thresholds = moved ?? ofService;
  const isSameClassifier = JSON.stringify(first) === JSON.stringify(settings?.classifier);
  return {
    /** Null until the host has told them. */
    thresholds,
    /** Why they could not be read. */
    error: read.error ?? defaults.error,
    retry: () => void Promise.all([read.refetch(), first && defaults.refetch()]),
    isMoved:
      (moved !== null && ofService !== null && categories.some((each) => moved[each] !== ofService[each])) ||
      (settings !== undefined && !isSameClassifier),
    isSaving: update.isPending,
    move: (category: Category, value: number) => {
      if (thresholds) useModerationStore.setState({ thresholds: { ...thresholds, [category]: value } });
    },
    reset: () => useModerationStore.setState({ thresholds: null, first: null }),
    save: () => {
      if (!thresholds || !first) return;
      update.mutate(
        { moderation: { classifier: first, thresholds } },
        { onSuccess: () => useModerationStore.setState({ thresholds: null, first: null }) },
      );
    },
  };
}

export type Thresholds = ReturnType<typeof useThresholds>;

/** A value once it has rested; the first one at once. */
export function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(JSON.parse(text) as Value), restMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return rested ?? value;
}
