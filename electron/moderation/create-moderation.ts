import { type Explanation, maxExplainedPassages } from '../../shared/contract/moderation-window.ts';
import {
  categories,
  type ModerationClassifier,
  type ModerationResult,
  type ModerationSettings,
} from '../../shared/contract/moderation.ts';
import type { Embeddings } from '../on-device/embeddings.ts';
import type { Providers } from '../providers/create-providers.ts';
import {
  type Classifier,
  createMistralClassifier,
  createOpenAiClassifier,
  forEachCategory,
} from './provider-classifiers.ts';
import { createModelClassifier } from './model-classifier.ts';
import {
  createOnDeviceClassifier,
  createTextAnalysis,
  type JudgedWindow,
  type OnDeviceClassifier,
  type Scores,
  worstScores,
} from './on-device-classifier.ts';
import { moderationWeights } from './linear-model.ts';
import { topByUrgency, type Span } from './windows.ts';

/** Max parts of a text of one sentence, so that each one is worth a line. */
const maxRuns = 12;

interface Candidate {
  readonly location: Span;
  readonly urgency: number;
}

/** Parts with about equally many words, without surrounding white space. */
function wordRuns(text: string, { start, end }: Span): Span[] {
  const words = [...text.slice(start, end).matchAll(/\S+/g)].map(({ index, 0: word }) => ({
    start: start + index,
    end: start + index + word.length,
  }));
  const length = Math.ceil(words.length / maxRuns);
  const count = words.length < 2 ? 0 : Math.ceil(words.length / length);
  return Array.from({ length: count }, (_, index) => {
    const run = words.slice(index * length, (index + 1) * length);
    return { start: run[0]!.start, end: run.at(-1)!.end };
  });
}

/** Windows that give the text one of its scores. Leaving out a passage elsewhere changes nothing. */
function decidingWindows(judged: readonly JudgedWindow[]): JudgedWindow[] {
  const deciding = new Set(
    categories.map((category) => {
      const best = Math.max(...judged.map(({ scores }) => scores[category]));
      return judged.find(({ scores }) => scores[category] === best);
    }),
  );
  return judged.filter((each) => deciding.has(each));
}

function candidatesOf(text: string, judged: readonly JudgedWindow[]): Candidate[] {
  const found = decidingWindows(judged).flatMap(({ window }): Candidate[] => {
    const passages = window.sentences.map(({ location, sums }) => ({
      location,
      urgency: Math.max(...Object.values(sums)),
    }));
    return passages.length > 0
      ? passages
      : wordRuns(text, window.location).map((location) => ({ location, urgency: 0 }));
  });
  // Overlapping windows share sentences.
  const unique = new Map(found.map((candidate) => [candidate.location.start, candidate]));
  return [...unique.values()].toSorted((one, other) => one.location.start - other.location.start);
}

/**
 * How the scores of a text change without each passage that may have caused them: a sentence, or a few words in a window of one
 * sentence. The windows stay the same, so each passage costs one or two windows of 600 characters for any length of text.
 */
export async function explainText(
  classifier: Pick<OnDeviceClassifier, 'judgeWindows'>,
  text: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Explanation> {
  const judged = await classifier.judgeWindows(text, { signal });
  const candidates = candidatesOf(text, judged);

  async function scoresWithout({ start, end }: Span): Promise<Scores> {
    const all: Scores[] = [];
    for (const { window, scores } of judged) {
      const { location } = window;
      if (start < location.start || end > location.end) {
        all.push(scores);
        continue;
      }
      const rest = text.slice(location.start, start) + text.slice(end, location.end);
      const judgedRest = await classifier.judgeWindows(rest, { signal });
      all.push(...judgedRest.map((each) => each.scores));
    }
    return worstScores(all);
  }

  const passages: Explanation['passages'] = [];
  for (const { location } of topByUrgency(candidates, maxExplainedPassages, ({ urgency }) => urgency)) {
    passages.push({ ...location, scores: { ...(await scoresWithout(location)) } });
  }
  return { scores: worstScores(judged.map(({ scores }) => scores)), passages, candidates: candidates.length };
}

/** About 6 MB. */
const maxCached = 2000;

/** Caches the newest 2,000 embeddings: system messages, repeated prompts and sentences of a streamed answer are classified many times. */
export function rememberVectors(embeddings: Pick<Embeddings, 'embed'>): Pick<Embeddings, 'embed'> {
  /** The least recently used one comes first. */
  const cached = new Map<string, Float32Array>();

  function remember(text: string, vector: Float32Array): void {
    cached.delete(text);
    cached.set(text, vector);
    if (cached.size > maxCached) cached.delete(cached.keys().next().value!);
  }

  return {
    async embed(texts, options) {
      const known = new Map(texts.map((text) => [text, cached.get(text)]));
      const missing = [...known].flatMap(([text, vector]) => (vector ? [] : [text]));
      const vectors = await embeddings.embed(missing, options);
      // Copied, because a vector may be part of a large buffer.
      for (const [index, text] of missing.entries()) known.set(text, vectors[index]!.slice());
      for (const [text, vector] of known) remember(text, vector!);
      return texts.map((text) => known.get(text)!);
    },
  };
}

/** The verdict on one text. */
export interface Moderated extends ModerationResult {
  /** The classifier that responded: `on-device/<name>` or `<aiSystem>/<model>`. */
  readonly model: string;
  /** The provider's raw response; null on the device. */
  readonly rawAnswer: unknown;
}

export interface ModerateOptions {
  readonly signal: AbortSignal;
  /** The classifier of the settings by default. */
  readonly classifier?: ModerationClassifier;
}

export interface Moderation {
  /**
   * Classifies a text of any length; on the device in bounded time. Throws `provider_not_configured` if the classifier's key is
   * missing, the errors of its provider, and an `AbortError` after an abort.
   */
  classify(text: string, options: ModerateOptions): Promise<Moderated>;
  /** Whether the classifier of the settings is a provider's, so that each verdict may cost money. */
  isPaid(): boolean;
  /** A single classifier, for callers that compare several and have their own thresholds. */
  classifierOf(chosen: ModerationClassifier): Classifier;
  /** The passages that cause the on-device scores. Rejects with an `AbortError` after an abort. */
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
