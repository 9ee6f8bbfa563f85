import { exampleFrame, instructionFrame } from '../../../electron/knowledge/grounding/frames.ts';
import { row, type Row } from '../support/report.ts';
import { mean } from './measures.ts';
import type { Answered } from './quality.ts';

/** The kind of questions that share no words with their answers. */
const everyday = 'other words';

/** Passages of a question that are learned from: those that compete for being given. */
const learnedPlaces = 10;
const rounds = 20_000;
const rate = 0.5;

interface Sample {
  readonly features: readonly number[];
  readonly isRelevant: boolean;
}

/** Gradient descent without frills: three numbers and two thousand samples need no more. */
function fit(samples: readonly Sample[]): number[] {
  const weights = samples[0]!.features.map(() => 0);
  for (let round = 0; round < rounds; round += 1) {
    const slope = weights.map(() => 0);
    for (const { features, isRelevant } of samples) {
      const evidence = features.reduce((sum, value, place) => sum + value * weights[place]!, 0);
      const error = 1 / (1 + Math.exp(-evidence)) - (isRelevant ? 1 : 0);
      features.forEach((value, place) => (slope[place]! += error * value));
    }
    slope.forEach((value, place) => (weights[place]! -= (rate * value) / samples.length));
  }
  return weights;
}

/**
 * Coefficients for `relevance.ts`. What words weigh beside meaning is learned from all questions, as it decides the order; how sure
 * one may be from everyday ones: most others have many passages that differ in a name alone, and would make all look unlikely.
 */
export function learnRelevance(answered: readonly Answered[]): Record<string, readonly number[]> {
  const samples = answered.flatMap(({ question, hits }) =>
    hits.slice(0, learnedPlaces).map(({ id, similarity, coverage }) => ({
      kind: question.kind,
      similarity: similarity ?? 0,
      held: coverage ** 2,
      isRelevant: question.relevant.has(id),
    })),
  );
  const [, meaning, words] = fit(
    samples.map(({ similarity, held, isRelevant }) => ({ features: [1, similarity, held], isRelevant })),
  );
  const share = words! / meaning!;
  const [constant, together] = fit(
    samples
      .filter(({ kind }) => kind === everyday)
      .map(({ similarity, held, isRelevant }) => ({ features: [1, similarity + share * held], isRelevant })),
  );
  return {
    both: [constant!, together!, together! * share],
    wordsAlone: fit(samples.map(({ held, isRelevant }) => ({ features: [1, held], isRelevant }))),
  };
}

/** What a model with this least relevance is given, and what it is given of the rest with the answer taken away, as if nobody had written it. */
export function relevanceRows(answered: readonly Answered[]): Row[] {
  const ofEveryday = answered.filter(({ question }) => question.kind === everyday);
  return [instructionFrame, exampleFrame].flatMap(({ relevance: least }) => {
    const share = (isWanted: boolean) =>
      100 *
      mean(
        ofEveryday.map(({ question, hits }) =>
          Number(hits.some((hit) => question.relevant.has(hit.id) === isWanted && hit.relevance >= least)),
        ),
      );
    return [
      row(`relevance ${least} or more: everyday questions with their answer`, share(true), '%'),
      row(`relevance ${least} or more: everyday questions with something else`, share(false), '%'),
    ];
  });
}
