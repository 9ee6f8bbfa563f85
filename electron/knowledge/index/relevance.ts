/**
 * Coefficients of a logistic regression, learned from the development half of our own questions (`npm run benchmark:retrieval`):
 * whether a passage holds the answer, from how near it is in meaning and how much of the question's words it holds. The square
 * makes half of the words count for a quarter: some words in common are found everywhere.
 */
const both = { constant: -5, similarity: 7.5, coverage: 3.75 };
const wordsAlone = { constant: -3, coverage: 5 };

/**
 * How likely a passage holds what was asked, 0 to 1: about as many of the passages with 0.7 do as seven of ten. `similarity` is the
 * cosine, null when there are no vectors to compare; `coverage` is the share of the weight of the question's words.
 */
export function relevanceOf({ similarity, coverage }: { similarity: number | null; coverage: number }): number {
  const held = coverage * coverage;
  const evidence =
    similarity === null
      ? wordsAlone.constant + wordsAlone.coverage * held
      : both.constant + both.similarity * similarity + both.coverage * held;
  return 1 / (1 + Math.exp(-evidence));
}

/** Passages below this are not given to a model: nine of ten of them have nothing to do with the question. */
export const leastRelevance = 0.1;
