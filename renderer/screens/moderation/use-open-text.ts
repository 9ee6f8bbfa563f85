import { useMemo } from 'react';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import type { Category, Highlight } from '../../../shared/contract/moderation.ts';
import { useBatchText, useCheck, useHighlights } from '../../queries/moderation.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { judgedScores } from './category-names.ts';
import { flagsAt, nearestCategory, scoresOf, type Nearest } from './quality-figures.ts';
import type { ShownVerdict } from './scores-panel.tsx';
import { useRested } from './use-thresholds.ts';

export interface OpenText {
  readonly title: string;
  readonly text: string;
  /** The text that was checked; null before the first result. */
  readonly judged: string | null;
  readonly verdicts: readonly ShownVerdict[];
  readonly flags: readonly Category[];
  /** The category whose score is closest to its threshold, or the furthest above it. */
  readonly nearest: Nearest | null;
  readonly passages: readonly Highlight[];
  /** Whether the passages behind the scores can be explained: only the on-device classifier does that. */
  readonly canExplain: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

const noPassages: readonly Highlight[] = [];

/** The open text with its scores: the one written here, or one of a batch. */
export function useOpenText(
  batch: Batch | undefined,
  results: readonly BatchResult[],
  index: number | null,
  thresholds: CategoryScores | null,
): OpenText {
  const { text: own, checked } = useModerationStore();
  const isOfBatch = batch !== undefined && index !== null;
  const check = useCheck(isOfBatch ? null : checked);
  const batchText = useBatchText(isOfBatch ? batch.id : null, isOfBatch ? index : null);
  const result = isOfBatch ? results[index] : undefined;

  const verdicts = useMemo<ShownVerdict[]>(() => {
    if (isOfBatch) {
      return batch.classifiers.map(({ classifier, failure }, place) => {
        const scores = result?.scores[place];
        return { classifier, scores: scores ? scoresOf(scores) : null, milliseconds: null, failure };
      });
    }
    return (check.data?.results ?? []).map(({ scores, milliseconds, failure }, place) => ({
      classifier: checked!.classifiers[place]!,
      scores,
      milliseconds,
      failure,
    }));
  }, [isOfBatch, batch, result, check.data, checked]);

  const first = verdicts[0]?.scores ?? null;
  const flags = first && thresholds ? flagsAt(Object.values(scoresInOrder(first)), thresholds) : [];
  const hasVerdict = first !== null;
  const judged = !hasVerdict ? null : isOfBatch ? (batchText.data ?? null) : (checked?.text ?? null);
  const isOnDevice = verdicts[0]?.classifier.kind === 'on-device';
  const shown = verdicts[0] ? judgedScores(verdicts[0].classifier, first) : null;
  const rested = useRested(thresholds);
  const highlights = useHighlights(flags.length > 0 && isOnDevice ? judged : null, rested);
  const found = flags.length > 0 && isOnDevice ? highlights.data : undefined;
  return {
    title: isOfBatch ? `Text ${index + 1}` : 'Text',
    text: isOfBatch ? (batchText.data ?? '') : own,
    judged,
    verdicts,
    flags,
    nearest: thresholds && nearestCategory(shown, thresholds),
    passages: found ?? noPassages,
    canExplain: isOnDevice && judged !== null,
    isBusy: isOfBatch ? batchText.isLoading || (!hasVerdict && batch.state === 'running') : check.isFetching,
    error: isOfBatch ? batchText.error : check.error,
    retry: () => void (isOfBatch ? batchText.refetch() : check.refetch()),
  };
}

function scoresInOrder({ sexual, hatred, harassment, selfHarm, violence }: CategoryScores): CategoryScores {
  return { sexual, hatred, harassment, selfHarm, violence };
}
