import { useMemo } from 'react';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { useBatches, useBatchResults } from '../../queries/moderation.ts';
import { flaggedShare, type FlaggedShare } from './quality-figures.ts';

const noResults: readonly BatchResult[] = [];

export interface ShownBatch {
  /** Undefined where a single text is checked. */
  batch: Batch | undefined;
  /** The texts that people have judged, by which classifiers are measured. */
  labelled: Batch | undefined;
  results: readonly BatchResult[];
  share: FlaggedShare;
}

/** The texts of the address with what was found in them. */
export function useShownBatch(
  batchId: string | null,
  labelledId: string | null,
  thresholds: CategoryScores | null,
): ShownBatch {
  const batches = useBatches().data?.data;
  const batch = batches?.find(({ id }) => id === batchId);
  const results = useBatchResults(batch).data?.results ?? noResults;
  const share = useMemo(
    () => (thresholds ? flaggedShare(results, thresholds) : { flagged: [], differ: [], judged: 0 }),
    [results, thresholds],
  );
  return { batch, labelled: batches?.find(({ id }) => id === labelledId), results, share };
}
