/**
 * Coefficients of a logistic regression, learned from the development half of our own questions (`npm run benchmark -- retrieval --learn`):
 * whether a passage holds the answer, be it a short one or one cut from a document, from how near it is in meaning and how much of the
 * question's words it holds. The square makes half of the words count for a quarter: some words in common are found everywhere.
 */
const both = { constant: -7, similarity: 16.1, coverage: 6.4 };
const wordsAlone = { constant: -2.5, coverage: 6.5 };

/**
 * How likely a passage holds what was asked, 0 to 1, as it was with everyday questions that avoid the words of the answer.
 * `similarity` is the cosine, null when there are no vectors to compare; `coverage` is the share of the weight of the question's
 * words. As a rule of thumb: above 0.5 it most likely speaks of the matter, below 0.1 it hardly does.
 */
export function relevanceOf({ similarity, coverage }: { similarity: number | null; coverage: number }): number {
  const held = coverage * coverage;
  const evidence =
    similarity === null
      ? wordsAlone.constant + wordsAlone.coverage * held
      : both.constant + both.similarity * similarity + both.coverage * held;
  return 1 / (1 + Math.exp(-evidence));
}
