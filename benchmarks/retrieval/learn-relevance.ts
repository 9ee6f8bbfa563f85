import { exampleTemplate, instructionTemplate } from '../../electron/knowledge/grounding/templates.ts';
import { weakRelevance } from '../../shared/contract/grounding.ts';
import { row, type Row } from '../support/report.ts';
import { mean } from './measures.ts';
import type { Answered } from './quality.ts';

/** Questions that share no words with their answers, also those of two parts. */
const isEveryday = (kind: string) => kind.startsWith('other words');

/** Passages per question that are used for training: the ones that compete for the prompt. */
const learnedRanks = 10;
const rounds = 20_000;
const rate = 0.5;

interface Sample {
  readonly features: readonly number[];
  readonly isRelevant: boolean;
}

/** Plain gradient descent: three numbers and two thousand samples need no more. */
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
 * Coefficients for `relevance.ts`. The weight of words relative to meaning is fitted on all questions, because it determines the
 * order; the offset on everyday questions, because most others have many passages that differ only in a name, which would make all
 * of them look unlikely.
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

/** Max hits that a model receives. */
const maxGiven = 8;

/**
 * The answers that a model with this minimum relevance receives, and whether it receives others: the hits that it would receive if
 * the answer did not exist.
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
