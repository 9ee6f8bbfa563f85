import { useEffect, useState } from 'react';
import type { CategoryScores } from '../../../shared/contract/moderation-window.ts';
import {
  categories,
  defaultModerationSettings,
  moderationPresets,
  type Category,
  type ModerationClassifier,
  type ModerationPreset,
} from '../../../shared/contract/moderation.ts';
import { usePresets } from '../../queries/moderation.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { useModerationStore } from '../../stores/moderation.ts';

/** Changes within this time of each other cause one request, in milliseconds. */
const restMilliseconds = 150;

function merged(own: Record<Category, number | null>, defaults: CategoryScores): CategoryScores {
  return Object.fromEntries(categories.map((each) => [each, own[each] ?? defaults[each]])) as CategoryScores;
}

function isSame(one: CategoryScores, other: CategoryScores | undefined): boolean {
  return other !== undefined && categories.every((each) => one[each] === other[each]);
}

/** The thresholds of the screen: those that a person set, or those of the service. */
export function useThresholds(first: ModerationClassifier | null) {
  const read = useSettings();
  const settings = read.data?.moderation;
  const presets = usePresets(first);
  const moved = useModerationStore(({ thresholds }) => thresholds);
  const update = useUpdateSettings();
  const ofService = settings && presets.data ? merged(settings.thresholds, presets.data[settings.preset]) : null;
  const thresholds = moved ?? ofService;
  const preset = (thresholds && moderationPresets.find((each) => isSame(thresholds, presets.data?.[each]))) ?? null;
  const isSameClassifier = JSON.stringify(first) === JSON.stringify(settings?.classifier);
  return {
    /** Null while they load. */
    thresholds,
    /** Why they couldn't be loaded. */
    error: read.error ?? presets.error,
    retry: () => void Promise.all([read.refetch(), first && presets.refetch()]),
    /** The preset with these thresholds; null for custom ones. */
    preset,
    choose: (next: ModerationPreset) => {
      if (presets.data) useModerationStore.setState({ thresholds: presets.data[next] });
    },
    isMoved:
      (moved !== null && ofService !== null && !isSame(moved, ofService)) ||
      (settings !== undefined && !isSameClassifier),
    isSaving: update.isPending,
    move: (category: Category, value: number) => {
      if (thresholds) useModerationStore.setState({ thresholds: { ...thresholds, [category]: value } });
    },
    reset: () => useModerationStore.setState({ thresholds: null, first: null }),
    save: () => {
      if (!thresholds || !first) return;
      const sent = useModerationStore.getState();
      update.mutate(
        {
          // A preset is saved by its name, so that it follows the classifier's next training.
          moderation: preset
            ? { ...defaultModerationSettings, classifier: first, preset }
            : { ...defaultModerationSettings, classifier: first, thresholds },
        },
        {
          // What was changed meanwhile stays.
          onSuccess: () =>
            useModerationStore.setState((now) => ({
              thresholds: now.thresholds === sent.thresholds ? null : now.thresholds,
              first: now.first === sent.first ? null : now.first,
            })),
        },
      );
    },
  };
}

export type Thresholds = ReturnType<typeof useThresholds>;

/** A value after it stops changing; the first one immediately. */
export function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(JSON.parse(text) as Value), restMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return rested ?? value;
}
