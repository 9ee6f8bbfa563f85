import { categories, type Category, type Highlight, moderationPresets } from '../../shared/contract/moderation.ts';
import type { Embeddings } from '../on-device/embeddings.ts';
import type { AnalyzedWindow, Passage } from './windows.ts';
import {
  type CategoryValues,
  type Classifier,
  type ClassifyOptions,
  forEachCategory,
  type Presets,
} from './provider-classifiers.ts';
import { embeddingSum, type ModerationWeights, scoreOfSum, sentenceMargin } from './linear-model.ts';
import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { TextAnalysisMethods } from './text-analysis-worker.ts';

export interface TextAnalysis {
  /** `analyzeText` in a worker thread: 1 MB of text takes a second or two. Rejects when the signal is aborted. */
  analyze(input: string, options: { readonly signal: AbortSignal }): Promise<readonly AnalyzedWindow[]>;
  close(): Promise<void>;
}

/** Starts its thread with the first text. */
export function createTextAnalysis(): TextAnalysis {
  const worker = createWorkerClient<TextAnalysisMethods>({
    name: 'Text analysis',
    start: () => startThread(workerUrl(import.meta.url, 'text-analysis-worker')),
  });
  return {
    analyze: (input, { signal }) => worker.call('analyze', input, { signal }),
    close: () => worker.terminate(new DOMException('The host was closed.', 'AbortError')),
  };
}

/**
 * Max sentences of flagged windows that are classified only for highlights. Other windows are highlighted by their classified
 * sentences.
 */
const maximumSentences = 16;

export type Scores = CategoryValues<number>;
type Judged = ReadonlyMap<Passage, Scores>;

export interface OnDeviceClassifierOptions {
  readonly weights: () => ModerationWeights;
  readonly analysis: TextAnalysis;
  readonly embeddings: Pick<Embeddings, 'embed'>;
}

export interface OnDeviceClassifier extends Classifier {
  /** The checked windows of a text with their scores. */
  judgeWindows(input: string, options: { readonly signal: AbortSignal }): Promise<readonly JudgedWindow[]>;
}

export interface JudgedWindow {
  readonly window: AnalyzedWindow;
  readonly scores: Scores;
}

interface JudgeOptions extends Pick<OnDeviceClassifierOptions, 'weights' | 'embeddings'> {
  readonly signal: AbortSignal;
}

async function judge(
  windows: readonly Passage[],
  sentences: readonly Passage[],
  { weights, embeddings, signal }: JudgeOptions,
): Promise<[Passage, Scores][]> {
  const { heads } = weights();
  const passages = [...windows, ...sentences];
  const vectors = await embeddings.embed(
    passages.map(({ text }) => text),
    { signal },
  );
  return passages.map((passage, index) => {
    const margin = index < windows.length ? 0 : sentenceMargin;
    const scores = forEachCategory((category) => {
      const head = heads[category];
      return scoreOfSum(head, passage.sums[category] + embeddingSum(head, vectors[index]!) - margin);
    });
    return [passage, scores];
  });
}

/** The classifier that needs no key and no network. The worst window or sentence of a text determines its scores. */
export function createOnDeviceClassifier(options: OnDeviceClassifierOptions): OnDeviceClassifier {
  const { weights, analysis, embeddings } = options;

  /** Classifies further sentences of flagged windows, up to the limit. */
  async function judgeMore(flagged: readonly AnalyzedWindow[], judged: Judged, signal: AbortSignal): Promise<Judged> {
    const more = new Set<Passage>();
    for (const { sentences } of flagged) {
      const missing = sentences.filter((each) => !judged.has(each) && !more.has(each));
      if (more.size + missing.length <= maximumSentences) for (const each of missing) more.add(each);
    }
    return new Map([...judged, ...(await judge([], [...more], { weights, embeddings, signal }))]);
  }

  async function highlights(
    windows: readonly AnalyzedWindow[],
    judged: Judged,
    { thresholds, signal }: ClassifyOptions,
  ): Promise<Highlight[]> {
    const worst = (window: AnalyzedWindow) => Math.max(...Object.values(scoresOf(window, judged)));
    const flagged = windows
      .filter((window) => isOver(scoresOf(window, judged), thresholds))
      .toSorted((a, b) => worst(b) - worst(a));
    const known = await judgeMore(flagged, judged, signal);
    return flagged.flatMap((window) => highlightsOfWindow(window, known, thresholds));
  }

  async function judgeAll(input: string, signal: AbortSignal) {
    const windows = await analysis.analyze(input, { signal });
    const suspects = new Set(windows.flatMap((window) => window.suspects));
    const judged: Judged = new Map(await judge(windows, [...suspects], { weights, embeddings, signal }));
    return { windows, judged };
  }

  return {
    get presets() {
      const { heads } = weights();
      const thresholds = moderationPresets.map(
        (preset) => [preset, forEachCategory((category) => heads[category].thresholds[preset])] as const,
      );
      return Object.fromEntries(thresholds) as unknown as Presets;
    },
    async classify(input, { thresholds, signal }) {
      const { windows, judged } = await judgeAll(input, signal);
      return {
        model: weights().model,
        scores: worstScores(windows.map((window) => scoresOf(window, judged))),
        highlights: inOrder(await highlights(windows, judged, { thresholds, signal })),
        rawAnswer: null,
      };
    },
    async judgeWindows(input, { signal }) {
      const { windows, judged } = await judgeAll(input, signal);
      return windows.map((window) => ({ window, scores: scoresOf(window, judged) }));
    },
  };
}

/** The highest score of each category; 0 without scores. */
export function worstScores(scores: readonly Scores[]): Record<Category, number> {
  return forEachCategory((category) => Math.max(0, ...scores.map((each) => each[category])));
}

const isOver = (scores: Scores, thresholds: Scores) =>
  categories.some((category) => scores[category] >= thresholds[category]);

/** A window's scores: the maximum of its own and those of its separately classified sentences. */
function scoresOf(window: AnalyzedWindow, judged: Judged): Scores {
  const passages = [window, ...window.suspects].map((passage) => judged.get(passage)!);
  return forEachCategory((category) => Math.max(...passages.map((scores) => scores[category])));
}

/** The sentences above the threshold. If there are none, the worst one, or the whole window if it has no sentences. */
function highlightsOfWindow(window: AnalyzedWindow, judged: Judged, thresholds: Scores): Highlight[] {
  const scores = scoresOf(window, judged);
  const sentences = window.sentences.filter((each) => judged.has(each));
  return categories
    .filter((category) => scores[category] >= thresholds[category])
    .flatMap((category) => {
      const scoreOf = (passage: Passage) => judged.get(passage)![category];
      const ranked = sentences.toSorted((a, b) => scoreOf(b) - scoreOf(a));
      const over = ranked.filter((each) => scoreOf(each) >= thresholds[category]);
      const chosen = over.length > 0 ? over : ranked.length > 0 ? ranked.slice(0, 1) : [window];
      return chosen.map(({ location }) => ({ ...location, category }));
    });
}

/** Sorted by offset, without duplicates from overlapping windows. */
function inOrder(highlights: readonly Highlight[]): Highlight[] {
  const unique = new Map(highlights.map((each) => [`${each.start} ${each.end} ${each.category}`, each]));
  return [...unique.values()].toSorted((a, b) => a.start - b.start || a.end - b.end);
}
