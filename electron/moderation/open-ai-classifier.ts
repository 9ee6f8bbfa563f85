import { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import type { Category } from '../../shared/contract/moderation.ts';
import type { Providers } from '../providers/create-providers.ts';
import { forEachCategory, type Classifier } from './classifier.ts';

const answer = z.object({
  model: z.string().optional(),
  results: z.array(z.object({ category_scores: z.record(z.string(), z.number().nullable()) })).min(1),
});

/** OpenAI's categories that make one of ours; the highest score counts. Its `illicit` ones have no counterpart here. */
const sources: Record<Category, readonly string[]> = {
  sexual: ['sexual', 'sexual/minors'],
  hatred: ['hate', 'hate/threatening'],
  harassment: ['harassment', 'harassment/threatening'],
  selfHarm: ['self-harm', 'self-harm/intent', 'self-harm/instructions'],
  violence: ['violence', 'violence/graphic'],
};

const defaultThreshold = 0.5;

export interface OpenAiClassifierOptions {
  readonly model: string;
  readonly providers: Pick<Providers, 'provider'>;
}

/** OpenAI's classifier. It tells no passages, so that there are no highlights. */
export function createOpenAiClassifier({ model, providers }: OpenAiClassifierOptions): Classifier {
  return {
    defaultThresholds: forEachCategory(() => defaultThreshold),
    async classify(input, { signal }) {
      const rawAnswer = await providers.provider('OpenAi').moderate?.({ model, input }, { signal });
      const parsed = answer.safeParse(rawAnswer);
      if (!parsed.success) {
        throw new AppError('provider_failed', 'OpenAI sent a moderation that cannot be read. Try again.');
      }
      // A long text may be answered in several results.
      const scores = forEachCategory((category) =>
        Math.max(
          ...parsed.data.results.flatMap(({ category_scores }) =>
            sources[category].map((name) => clamp(category_scores[name] ?? 0)),
          ),
        ),
      );
      return { model: `OpenAi/${parsed.data.model ?? model}`, scores, highlights: [], rawAnswer };
    },
  };
}

const clamp = (score: number) => Math.min(1, Math.max(0, score));
