import type { Explanation } from '../../shared/contract/moderation-window.ts';
import type { ModerationClassifier, ModerationResult, ModerationSettings } from '../../shared/contract/moderation.ts';
import type { Embeddings } from '../on-device/embeddings.ts';
import type { Providers } from '../providers/create-providers.ts';
import { type Classifier, forEachCategory } from './classifier.ts';
import { explainText } from './explain-text.ts';
import { createModelClassifier } from './model-classifier.ts';
import { createOnDeviceClassifier } from './on-device-classifier.ts';
import { createMistralClassifier, createOpenAiClassifier } from './provider-classifiers.ts';
import { createTextAnalysis } from './text-analysis.ts';
import { moderationWeights } from './weights.ts';

/** About 6 MB. */
const maxCached = 2000;

/**
 * Embeddings that remember the newest 2,000 passages: system messages, prompts that are run again and the sentences that a
 * streamed answer is judged with are seen many times.
 */
export function rememberVectors(embeddings: Pick<Embeddings, 'embed'>): Pick<Embeddings, 'embed'> {
  /** The one that was used longest ago comes first. */
  const remembered = new Map<string, Float32Array>();

  function remember(text: string, vector: Float32Array): void {
    remembered.delete(text);
    remembered.set(text, vector);
    if (remembered.size > maxCached) remembered.delete(remembered.keys().next().value!);
  }

  return {
    async embed(texts, options) {
      const known = new Map(texts.map((text) => [text, remembered.get(text)]));
      const missing = [...known].flatMap(([text, vector]) => (vector ? [] : [text]));
      const vectors = await embeddings.embed(missing, options);
      // Copied: a vector may be a part of a buffer that holds many.
      for (const [index, text] of missing.entries()) known.set(text, vectors[index]!.slice());
      for (const [text, vector] of known) remember(text, vector!);
      return texts.map((text) => known.get(text)!);
    },
  };
}

/** The verdict on one text. */
export interface Moderated extends ModerationResult {
  /** Which classifier answered: `on-device/<name>` or `<aiSystem>/<model>`. */
  readonly model: string;
  /** What a provider answered, word for word; null on the device. */
  readonly rawAnswer: unknown;
}

export interface ModerateOptions {
  readonly signal: AbortSignal;
  /** The classifier of the settings unless told. */
  readonly classifier?: ModerationClassifier;
}

export interface Moderation {
  /**
   * Judges a text of any length; on the device in bounded time. Throws `provider_not_configured` where the classifier wants a key
   * that is missing, what its provider throws, and an `AbortError` when the signal ended it.
   */
  classify(text: string, options: ModerateOptions): Promise<Moderated>;
  /** Whether the classifier of the settings is a provider's: each verdict may cost money. */
  isPaid(): boolean;
  /** One classifier by itself, for those who put several beside each other and bring their own thresholds. */
  classifierOf(chosen: ModerationClassifier): Classifier;
  /** Which passages decide the on-device scores. Rejects with an `AbortError` when the signal is aborted. */
  explain(text: string, options: { readonly signal: AbortSignal }): Promise<Explanation>;
  close(): Promise<void>;
}

export interface ModerationOptions {
  readonly settings: () => ModerationSettings;
  readonly providers: Pick<Providers, 'provider' | 'endpointProvider' | 'resolve' | 'applicableConfiguration'>;
  readonly embeddings: Embeddings;
}

/** Moderation with the classifier and the thresholds of the settings. */
export function createModeration({ settings, providers, embeddings }: ModerationOptions): Moderation {
  const analysis = createTextAnalysis();
  const onDevice = createOnDeviceClassifier({
    weights: moderationWeights,
    analysis,
    embeddings: rememberVectors(embeddings),
  });

  function classifierOf(chosen: ModerationClassifier): Classifier {
    if (chosen.kind === 'on-device') return onDevice;
    if (chosen.kind === 'open-ai') return createOpenAiClassifier({ model: chosen.model, providers });
    if (chosen.kind === 'mistral') return createMistralClassifier({ model: chosen.model, providers });
    return createModelClassifier({ ...chosen, providers });
  }

  return {
    isPaid: () => settings().classifier.kind !== 'on-device',
    classifierOf,
    async classify(text, { signal, classifier: chosen = settings().classifier }) {
      const classifier = classifierOf(chosen);
      const { preset, thresholds: own } = settings();
      const thresholds = forEachCategory((category) => own[category] ?? classifier.presets[preset][category]);
      const { model, scores, highlights, rawAnswer } = await classifier.classify(text, { thresholds, signal });
      const flags = forEachCategory((category) => scores[category] >= thresholds[category]);
      return {
        model,
        flagged: Object.values(flags).includes(true),
        categories: flags,
        categoryScores: { ...scores },
        thresholds,
        highlights: [...highlights],
        rawAnswer,
      };
    },
    explain: (text, { signal }) => explainText(onDevice, text, { signal }),
    close: () => analysis.close(),
  };
}
