import { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import {
  categories,
  type Category,
  type Highlight,
  mistralEndpoint,
  type ModerationPreset,
} from '../../shared/contract/moderation.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { Provider } from '../providers/provider.ts';

export type CategoryValues<Value> = Readonly<Record<Category, Value>>;

/** Creates one value per category, in the order of the contract. */
export function forEachCategory<Value>(valueOf: (category: Category) => Value): Record<Category, Value> {
  return Object.fromEntries(categories.map((category) => [category, valueOf(category)])) as Record<Category, Value>;
}

export type Presets = Readonly<Record<ModerationPreset, CategoryValues<number>>>;

/** Presets of classifiers that we have not measured: the same for each category. */
export const unmeasuredPresets: Presets = {
  strict: forEachCategory(() => 0.3),
  balanced: forEachCategory(() => 0.5),
  lenient: forEachCategory(() => 0.7),
};

/** The result of any classifier. */
export interface Classification {
  /** The classifier that responded: `on-device/<name>` or `<aiSystem>/<model>`. */
  readonly model: string;
  readonly scores: CategoryValues<number>;
  readonly highlights: readonly Highlight[];
  /** The provider's raw response; null on the device. */
  readonly rawAnswer: unknown;
}

export interface ClassifyOptions {
  /** Min scores of a passage worth highlighting. */
  readonly thresholds: CategoryValues<number>;
  readonly signal: AbortSignal;
}

/** A classifier. Throws `AppError` with the code for the caller. */
export interface Classifier {
  /** Minimum scores at which a text is flagged, for each preset. */
  readonly presets: Presets;
  classify(input: string, options: ClassifyOptions): Promise<Classification>;
}

/** The common format of OpenAI's and Mistral's responses. */
const answer = z.object({
  model: z.string().optional(),
  results: z.array(z.object({ category_scores: z.record(z.string(), z.number().nullable()) })).min(1),
});

/** The provider's categories that map to one of ours; the highest score counts. */
type Sources = Readonly<Record<Category, readonly string[]>>;

/** Its `illicit` categories have no counterpart here. */
const openAiSources: Sources = {
  sexual: ['sexual', 'sexual/minors'],
  hatred: ['hate', 'hate/threatening'],
  harassment: ['harassment', 'harassment/threatening'],
  selfHarm: ['self-harm', 'self-harm/intent', 'self-harm/instructions'],
  violence: ['violence', 'violence/graphic'],
};

/**
 * Its dangerous content, health, financial, law, personal data and jailbreaking have no counterpart here; our harassment has none
 * there.
 */
const mistralSources: Sources = {
  sexual: ['sexual'],
  hatred: ['hate_and_discrimination'],
  harassment: [],
  selfHarm: ['selfharm'],
  violence: ['violence_and_threats'],
};

interface ProviderClassifierOptions {
  readonly model: string;
  /** The provider's display name, and the prefix of the model's name. */
  readonly title: string;
  readonly prefix: string;
  readonly sources: Sources;
  readonly provider: () => Provider;
}

/** A provider's own classifier. It returns no passages, so there are no highlights. */
function createProviderClassifier({ model, title, prefix, sources, provider }: ProviderClassifierOptions): Classifier {
  return {
    presets: unmeasuredPresets,
    async classify(input, { signal }) {
      const rawAnswer = await provider().moderate?.({ model, input }, { signal });
      const parsed = answer.safeParse(rawAnswer);
      if (!parsed.success) {
        throw new AppError('provider_failed', `${title} returned an invalid moderation response. Try again.`);
      }
      // A long text may have several results.
      const scores = forEachCategory((category) =>
        Math.max(
          0,
          ...parsed.data.results.flatMap(({ category_scores }) =>
            sources[category].map((name) => clamp(category_scores[name] ?? 0)),
          ),
        ),
      );
      return { model: `${prefix}/${parsed.data.model ?? model}`, scores, highlights: [], rawAnswer };
    },
  };
}

const clamp = (score: number) => Math.min(1, Math.max(0, score));

export interface ClassifierOptions {
  readonly model: string;
  readonly providers: Pick<Providers, 'provider' | 'endpointProvider'>;
}

export function createOpenAiClassifier({ model, providers }: ClassifierOptions): Classifier {
  return createProviderClassifier({
    model,
    title: 'OpenAI',
    prefix: 'OpenAi',
    sources: openAiSources,
    provider: () => providers.provider('OpenAi'),
  });
}

/** Mistral's classifier. It doesn't classify harassment: that score is always 0. */
export function createMistralClassifier({ model, providers }: ClassifierOptions): Classifier {
  return createProviderClassifier({
    model,
    title: 'Mistral',
    prefix: `OpenAiCompatible/${mistralEndpoint}`,
    sources: mistralSources,
    provider: () => {
      const provider = providers.endpointProvider(mistralEndpoint);
      if (provider) return provider;
      throw new AppError(
        'provider_not_configured',
        `Mistral isn't set up. In Settings, Compatible endpoints, add an endpoint named "${mistralEndpoint}" with the address https://api.mistral.ai/v1 and your API key.`,
      );
    },
  });
}
