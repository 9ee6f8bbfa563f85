import { useMemo } from 'react';
import type { Batch, BatchInput, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import type { Category, Highlight, ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { editorText } from '../../components/editor/text-change.ts';
import { useBatchText, useCheck, useCreateBatch, useHighlights } from '../../queries/moderation.ts';
import { batchAddress } from '../../shell/addresses.ts';
import { useNavigateFromHere } from '../../shell/navigate-from-here.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { showToast } from '../../stores/toasts.ts';
import { readTexts } from './read-texts.ts';
import { judgedScores } from './categories.tsx';
import { flagsAt, type Nearest, nearestCategory, scoresOf } from './quality-figures.ts';
import type { ShownVerdict } from './scores-panel.tsx';
import { useRested } from './use-thresholds.ts';

export interface LoadTexts {
  readonly isBusy: boolean;
  readonly error: unknown;
  fromText: (name: string, content: string) => void;
  /** With `mustHaveLabels`, a file without labels is rejected. */
  fromFile: (file: File, mustHaveLabels: boolean) => Promise<void>;
  fromAudit: (name: string, source: Omit<Extract<BatchInput['source'], { kind: 'audit' }>, 'kind'>) => void;
}

/**
 * Starts a batch of the selected texts and opens it, unless another text was opened meanwhile. A batch with labels becomes the
 * labelled set.
 */
export function useLoadTexts(classifiers: readonly ModerationClassifier[]): LoadTexts {
  const navigateFromHere = useNavigateFromHere();
  const create = useCreateBatch();
  const begin = (name: string, source: BatchInput['source'], navigate = navigateFromHere()) =>
    create.mutate(
      { name: name.slice(0, 200), classifiers: [...classifiers], source },
      {
        onSuccess: (batch) => {
          if (batch.hasLabels) useModerationStore.setState({ labelledId: batch.id });
          navigate(batchAddress(batch.id, 0));
        },
      },
    );
  const fromText = (name: string, content: string, mustHaveLabels = false, navigate = navigateFromHere()) => {
    try {
      const texts = readTexts(name, content);
      if (mustHaveLabels && texts.every(({ labels }) => !labels)) {
        throw new Error(
          'The file has no labels. Name the columns after the categories, such as violence or V, or add a column "labels".',
        );
      }
      begin(name, { kind: 'texts', texts }, navigate);
    } catch (error) {
      showToast({ tone: 'negative', text: `Couldn't read ${name}. ${(error as Error).message}` });
    }
  };
  return {
    isBusy: create.isPending,
    error: create.error,
    fromText: (name, content) => fromText(name, content),
    fromFile: async (file, mustHaveLabels) => {
      const navigate = navigateFromHere();
      fromText(file.name, await file.text(), mustHaveLabels, navigate);
    },
    fromAudit: (name, source) => begin(name, { kind: 'audit', ...source }),
  };
}

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

/** The open text with its scores: a single text, or one of a batch. */
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
  // Highlights are positions in the text as the editor shows it.
  const ofBatch = batchText.data === undefined ? null : editorText(batchText.data);
  const result = isOfBatch ? results[index] : undefined;

  const verdicts = useMemo<ShownVerdict[]>(() => {
    if (isOfBatch) {
      return batch.classifiers.map(({ classifier, failure }, position) => {
        const scores = result?.scores[position];
        return { classifier, scores: scores ? scoresOf(scores) : null, milliseconds: null, failure };
      });
    }
    return (check.data?.results ?? []).map(({ scores, milliseconds, failure }, position) => ({
      classifier: checked!.classifiers[position]!,
      scores,
      milliseconds,
      failure,
    }));
  }, [isOfBatch, batch, result, check.data, checked]);

  const first = verdicts[0]?.scores ?? null;
  const flags = first && thresholds ? flagsAt(Object.values(scoresInOrder(first)), thresholds) : [];
  const hasVerdict = first !== null;
  const judged = !hasVerdict ? null : isOfBatch ? ofBatch : (checked?.text ?? null);
  const isOnDevice = verdicts[0]?.classifier.kind === 'on-device';
  const shown = verdicts[0] ? judgedScores(verdicts[0].classifier, first) : null;
  const rested = useRested(thresholds);
  const highlights = useHighlights(flags.length > 0 && isOnDevice ? judged : null, rested);
  const passages = flags.length > 0 && isOnDevice ? highlights.data : undefined;
  return {
    title: isOfBatch ? `Text ${index + 1}` : 'Text',
    text: isOfBatch ? (ofBatch ?? '') : own,
    judged,
    verdicts,
    flags,
    nearest: thresholds && nearestCategory(shown, thresholds),
    passages: passages ?? noPassages,
    canExplain: isOnDevice && judged !== null,
    isBusy: isOfBatch ? batchText.isLoading || (!hasVerdict && batch.state === 'running') : check.isFetching,
    error: isOfBatch ? batchText.error : check.error,
    retry: () => void (isOfBatch ? batchText.refetch() : check.refetch()),
  };
}

function scoresInOrder({ sexual, hatred, harassment, selfHarm, violence }: CategoryScores): CategoryScores {
  return { sexual, hatred, harassment, selfHarm, violence };
}
