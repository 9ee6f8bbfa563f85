import { exampleTemplate, instructionTemplate } from '../../electron/knowledge/grounding/templates.ts';
import { weakRelevance } from '../../shared/contract/grounding.ts';
import { row, type Row } from '../support/report.ts';
import { mean } from './measures.ts';
import type { Answered } from './quality.ts';

/** Questions that share no words with their answers, also those of two parts. */
const isEveryday = (kind: string) => kind.startsWith('other words');

/** Passages of a question that are learned from: those that compete for being given. */
const learnedRanks = 10;
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
      const evidence = features.reduce((sum, value, index) => sum + value * weights[index]!, 0);
      const error = 1 / (1 + Math.exp(-evidence)) - (isRelevant ? 1 : 0);
      features.forEach((value, index) => (slope[index]! += error * value));
    }
    slope.forEach((value, index) => (weights[index]! -= (rate * value) / samples.length));
  }
  return weights;
}

/**
 * Coefficients for `relevance.ts`. What words weigh beside meaning is learned from all questions, as it decides the order; how sure
 * one may be from everyday ones: most others have many passages that differ in a name alone, and would make all look unlikely.
 */
export function learnRelevance(answered: readonly Answered[]): Record<string, readonly number[]> {
  const samples = answered.flatMap(({ question, hits }) =>
    hits.slice(0, learnedRanks).map(({ answers, similarity, coverage }) => ({
      kind: question.kind,
      similarity: similarity ?? 0,
      coverage: coverage ** 2,
      isRelevant: answers.length > 0,
    })),
  );
  const [, meaning, words] = fit(
    samples.map(({ similarity, coverage, isRelevant }) => ({ features: [1, similarity, coverage], isRelevant })),
  );
  const share = words! / meaning!;
  const [constant, together] = fit(
    samples
      .filter(({ kind }) => isEveryday(kind))
      .map(({ similarity, coverage, isRelevant }) => ({ features: [1, similarity + share * coverage], isRelevant })),
  );
  return {
    both: [constant!, together!, together! * share],
    keywordOnly: fit(samples.map(({ coverage, isRelevant }) => ({ features: [1, coverage], isRelevant }))),
  };
}

/** Hits that a model is given at most. */
const maxGiven = 8;

/**
 * What a model with this least relevance is given of the answers, and whether it is given something else: what it would be given if
 * nobody had written the answer.
 */
export function relevanceRows(answered: readonly Answered[], of: string): Row[] {
  const kinds = [...new Set(answered.map(({ question }) => question.kind))].filter(isEveryday);
  return [instructionTemplate, exampleTemplate].flatMap(({ relevance: min }) =>
    kinds.flatMap((kind) => {
      const ofKind = answered.filter(({ question }) => question.kind === kind);
      const given = ofKind.map(({ hits }) => hits.slice(0, maxGiven).filter(({ relevance }) => relevance >= min));
      const answers = given.map(
        (hits, index) => new Set(hits.flatMap((hit) => hit.answers)).size / ofKind[index]!.question.relevant.size,
      );
      const others = given.map((hits) => Number(hits.some((hit) => hit.answers.length === 0)));
      const name = `relevance ${min} or more, ${of}, ${kind}`;
      return [
        row(`${name}: answers given`, 100 * mean(answers), '%'),
        row(`${name}: something else`, 100 * mean(others), '%'),
      ];
    }),
  );
}

/** Queries that no passage of the corpus answers: nonsense, function words, and other subjects. */
const offTopic = [
  'asdf qwer zxcv',
  'lorem ipsum dolor sit amet',
  'xyzzy',
  'the of and to',
  'what is it',
  'hello',
  '1234567890',
  '!!!',
  'Who won the 1998 world cup?',
  'best pizza in Naples',
  'quantum chromodynamics lattice',
  'What is the capital of Mongolia?',
  'symptoms of appendicitis',
  'Explain the plot of Hamlet',
  'how many moons does Jupiter have',
  'What is the meaning of life?',
  'Tell me a joke',
  'number of people in Tokyo',
  'translate good morning to French',
  'stock price of Apple',
];

/** How often the best passage for an off-topic query looks relevant. */
export async function offTopicRows(bestRelevance: (query: string) => Promise<number>, of: string): Promise<Row[]> {
  const best = await Promise.all(offTopic.map(bestRelevance));
  const misleading = best.filter((relevance) => relevance >= weakRelevance);
  const name = `off-topic queries with a relevance of ${weakRelevance} or more, ${of}`;
  return [row(name, (100 * misleading.length) / best.length, '%', { max: 10 })];
}
