import { categories, type Highlight } from '../../shared/contract/moderation.ts';
import type { Embeddings } from '../on-device/embeddings.ts';
import type { AnalyzedWindow, Passage } from './analyze-text.ts';
import { forEachCategory, type CategoryValues, type Classifier, type ClassifyOptions } from './classifier.ts';
import { embeddingSum, scoreOfSum, type ModerationWeights } from './linear-model.ts';
import type { TextAnalysis } from './text-analysis.ts';

/** Sentences of flagged windows that are judged one by one for highlights; windows beyond them are highlighted whole. */
const maximumSentences = 16;

interface Judged {
  readonly passage: Passage;
  readonly scores: CategoryValues<number>;
}

export interface OnDeviceClassifierOptions {
  readonly weights: () => ModerationWeights;
  readonly analysis: TextAnalysis;
  readonly embeddings: Embeddings;
}

/** The classifier that needs no key and no network. The worst window of a text gives its scores. */
export function createOnDeviceClassifier({ weights, analysis, embeddings }: OnDeviceClassifierOptions): Classifier {
  async function judge(passages: readonly Passage[], signal: AbortSignal): Promise<Judged[]> {
    const { heads } = weights();
    const vectors = await embeddings.embed(
      passages.map(({ text }) => text),
      { signal },
    );
    return passages.map((passage, index) => ({
      passage,
      scores: forEachCategory((category) => {
        const head = heads[category];
        return scoreOfSum(head, passage.sums[category] + embeddingSum(head, vectors[index]!));
      }),
    }));
  }

  async function highlights(
    windows: readonly { readonly window: AnalyzedWindow; readonly judged: Judged }[],
    { thresholds, signal }: ClassifyOptions,
  ): Promise<Highlight[]> {
    const isOver = ({ scores }: Judged) => categories.some((category) => scores[category] >= thresholds[category]);
    const flagged = windows
      .filter(({ judged }) => isOver(judged))
      .toSorted((a, b) => worst(b.judged.scores) - worst(a.judged.scores));
    const sentences = new Map<number, Passage>();
    const looked = flagged.filter(({ window }) => {
      const isSeveral = window.sentences.length > 1;
      if (!isSeveral || sentences.size + window.sentences.length > maximumSentences) return false;
      for (const sentence of window.sentences) sentences.set(sentence.place.start, sentence);
      return true;
    });
    const judgedSentences = await judge([...sentences.values()], signal);
    return flagged.flatMap(({ window, judged }) => {
      const inside = looked.some((each) => each.window === window)
        ? judgedSentences.filter(({ passage }) =>
            window.sentences.some(({ place }) => place.start === passage.place.start),
          )
        : [];
      return highlightsOfWindow(judged, inside, thresholds);
    });
  }

  return {
    get defaultThresholds() {
      const { heads } = weights();
      return forEachCategory((category) => heads[category].threshold);
    },
    async classify(input, options) {
      const windows = await analysis.analyze(input, options);
      const judged = await judge(windows, options.signal);
      return {
        model: weights().model,
        scores: forEachCategory((category) => Math.max(0, ...judged.map(({ scores }) => scores[category]))),
        highlights: inOrder(
          await highlights(
            windows.map((window, index) => ({ window, judged: judged[index]! })),
            options,
          ),
        ),
        rawAnswer: null,
      };
    },
  };
}

const worst = (scores: CategoryValues<number>) => Math.max(...Object.values(scores));

/** The sentences that are over the threshold by themselves; where none is, the worst; without sentences the whole window. */
function highlightsOfWindow(
  window: Judged,
  sentences: readonly Judged[],
  thresholds: CategoryValues<number>,
): Highlight[] {
  const flagged = categories.filter((category) => window.scores[category] >= thresholds[category]);
  return flagged.flatMap((category) => {
    const ranked = sentences.toSorted((a, b) => b.scores[category] - a.scores[category]);
    const over = ranked.filter(({ scores }) => scores[category] >= thresholds[category]);
    const chosen = over.length > 0 ? over : ranked.length > 0 ? ranked.slice(0, 1) : [window];
    return chosen.map(({ passage }) => ({ ...passage.place, category }));
  });
}

/** By place, without those that overlapping windows gave twice. */
function inOrder(highlights: readonly Highlight[]): Highlight[] {
  const unique = new Map(highlights.map((each) => [`${each.start} ${each.end} ${each.category}`, each]));
  return [...unique.values()].toSorted((a, b) => a.start - b.start || a.end - b.end);
}
