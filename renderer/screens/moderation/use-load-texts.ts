import type { BatchInput } from '../../../shared/contract/moderation-window.ts';
import type { ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { useCreateBatch } from '../../queries/moderation.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { showToast } from '../../stores/toasts.ts';
import { readTexts } from './read-texts.ts';

export interface LoadTexts {
  readonly isBusy: boolean;
  readonly error: unknown;
  fromText: (name: string, content: string) => void;
  /** With `mustHaveLabels`, a file without labels is rejected. */
  fromFile: (file: File, mustHaveLabels: boolean) => Promise<void>;
  fromAudit: (name: string, source: Omit<Extract<BatchInput['source'], { kind: 'audit' }>, 'kind'>) => void;
}

/** Starts a batch of what a person chose, and opens it. One with labels becomes the labelled set. */
export function useLoadTexts(classifiers: readonly ModerationClassifier[], onBegun: (id: string) => void): LoadTexts {
  const create = useCreateBatch();
  const begin = (name: string, source: BatchInput['source']) =>
    create.mutate(
      { name: name.slice(0, 200), classifiers: [...classifiers], source },
      {
        onSuccess: (batch) => {
          if (batch.hasLabels) useModerationStore.setState({ labelledId: batch.id });
          onBegun(batch.id);
        },
      },
    );
  const fromText = (name: string, content: string, mustHaveLabels = false) => {
    try {
      const texts = readTexts(name, content);
      if (mustHaveLabels && texts.every(({ labels }) => !labels)) {
        throw new Error(
          'The file has no labels. Name the columns after the categories, such as violence or V, or add a column "labels".',
        );
      }
      begin(name, { kind: 'texts', texts });
    } catch (error) {
      showToast({ tone: 'negative', text: `Couldn't read ${name}. ${(error as Error).message}` });
    }
  };
  return {
    isBusy: create.isPending,
    error: create.error,
    fromText,
    fromFile: async (file, mustHaveLabels) => fromText(file.name, await file.text(), mustHaveLabels),
    fromAudit: (name, source) => begin(name, { kind: 'audit', ...source }),
  };
}
