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
  fromFile: (file: File) => Promise<void>;
  fromAudit: (name: string, source: Omit<Extract<BatchInput['source'], { kind: 'audit' }>, 'kind'>) => void;
}

/** Begins a batch of what a person chose, and opens it. One with labels becomes the labelled set. */
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
  const fromText = (name: string, content: string) => {
    try {
      begin(name, { kind: 'texts', texts: readTexts(name, content) });
    } catch (error) {
      showToast({ tone: 'negative', text: `${name} could not be read. ${(error as Error).message}` });
    }
  };
  return {
    isBusy: create.isPending,
    error: create.error,
    fromText,
    fromFile: async (file) => fromText(file.name, await file.text()),
    fromAudit: (name, source) => begin(name, { kind: 'audit', ...source }),
  };
}
