import { z } from 'zod';
import { aiSystem } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/** The categories that a text is checked for. */
export const categories = ['sexual', 'hatred', 'harassment', 'selfHarm', 'violence'] as const;
export type Category = (typeof categories)[number];

/** Max bytes of a text in UTF-8: 1 MB. */
export const maximumModerationBytes = 1_048_576;

function forEachCategory<Value extends z.ZodType>(value: Value) {
  return z.object({ sexual: value, hatred: value, harassment: value, selfHarm: value, violence: value });
}

const share = z.number().min(0).max(1);

/** A passage that caused a flag. */
export const highlight = z
  .object({
    /** Offset of its first character, in UTF-16 units as JavaScript counts them. */
    start: z.int().min(0),
    /** Offset after its last character. */
    end: z.int().min(0),
    category: z.enum(categories),
  })
  .meta({ id: 'ModerationHighlight' });
export type Highlight = z.infer<typeof highlight>;

export const moderationResult = z
  .object({
    /** True if at least one category is. */
    flagged: z.boolean(),
    /** True if the score reaches the threshold. */
    categories: forEachCategory(z.boolean()),
    categoryScores: forEachCategory(share),
    thresholds: forEachCategory(share),
    /** Passages in the order of the text; empty for classifiers that return none. */
    highlights: z.array(highlight),
  })
  .meta({ id: 'ModerationResult' });
export type ModerationResult = z.infer<typeof moderationResult>;

export const moderationAnswer = z
  .object({
    id: z.string(),
    /** The classifier that responded: `on-device/<name>`, or `<aiSystem>/<model>`. */
    model: z.string(),
    results: z.array(moderationResult),
  })
  .meta({ id: 'Moderation' });
export type ModerationAnswer = z.infer<typeof moderationAnswer>;

export const moderationRequest = z
  .strictObject({
    /** Not empty, at most 1 MB in UTF-8. */
    input: z.string().min(1, 'must not be empty'),
  })
  .meta({ id: 'ModerationRequest' });

/** Max length of a custom policy for a chat model. */
export const policyCharacters = 20_000;

/** The default policy for chat models. */
export const builtInPolicy = `sexual: content meant to arouse, or that promotes sexual services; not education, medicine or wellness.
hatred: content that expresses, incites or promotes hate for a group because of race, gender, ethnicity, religion, nationality, sexual orientation, disability or caste.
harassment: content that torments, insults, humiliates or threatens a person.
selfHarm: content that promotes, encourages, depicts or intends suicide, cutting or eating disorders; not help and recovery.
violence: content that threatens, incites, glorifies or graphically depicts violence; not news, history or games.`;

/** Name of the compatible endpoint for Mistral's classifier. */
export const mistralEndpoint = 'mistral';

/** The classifier. */
export const moderationClassifier = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('on-device') }),
  /** OpenAI's own classifier; needs the key of `OpenAi`. */
  z.strictObject({ kind: z.literal('open-ai'), model: z.string().min(1) }),
  /** Mistral's own classifier, at the compatible endpoint `mistral`. It doesn't classify harassment: that score is always 0. */
  z.strictObject({ kind: z.literal('mistral'), model: z.string().min(1) }),
  /** A chat model with this policy; `null` is the built-in policy. */
  z.strictObject({
    kind: z.literal('model'),
    aiSystem,
    model: z.string().min(1),
    policy: z.string().min(1).max(policyCharacters).nullable(),
  }),
]);
export type ModerationClassifier = z.infer<typeof moderationClassifier>;

/** How easily texts are flagged. Strict misses the fewest and flags more harmless texts, Lenient the reverse. */
export const moderationPresets = ['strict', 'balanced', 'lenient'] as const;
export const moderationPreset = z.enum(moderationPresets);
export type ModerationPreset = z.infer<typeof moderationPreset>;

const ownThreshold = share.nullable();

export const moderationSettings = z.strictObject({
  classifier: moderationClassifier,
  preset: moderationPreset.default('balanced'),
  /** Minimum scores at which a text is flagged; `null` uses that of the preset. */
  thresholds: z.strictObject({
    sexual: ownThreshold,
    hatred: ownThreshold,
    harassment: ownThreshold,
    selfHarm: ownThreshold,
    violence: ownThreshold,
  }),
});
export type ModerationSettings = z.infer<typeof moderationSettings>;

export const defaultModerationSettings: ModerationSettings = {
  classifier: { kind: 'on-device' },
  preset: 'balanced',
  thresholds: { sexual: null, hatred: null, harassment: null, selfHarm: null, violence: null },
};

export const moderate = defineEndpoint({
  id: 'moderate',
  method: 'post',
  path: '/moderations',
  access: 'run',
  tag: 'Moderation',
  summary: 'Classify a text',
  description:
    "Scores sexual content, hatred, harassment, self-harm and violence from 0 to 1, compares each score with the service's threshold, and names the passages that caused them. A classifier of a provider costs 1 credit.",
  body: moderationRequest,
  response: moderationAnswer,
  errors: [402, 429, 502, 503, 504],
});

/**
 * The guard's action: nothing, record its findings with the run, or block the text. A blocked prompt is a 400 before the run
 * starts. A blocked answer ends with the finish reason `ContentFilter`, a streamed one before its first flagged sentence.
 */
export const guardModes = ['off', 'note', 'refuse'] as const;
export const guardMode = z.enum(guardModes);
export type GuardMode = (typeof guardModes)[number];

/** Settings group `guard`: the action for the prompts and the answers of every completion. */
export const guard = z.strictObject({ prompts: guardMode, answers: guardMode });
export type GuardSettings = z.infer<typeof guard>;

/** The side of a run that was flagged and its category, for the audit's filter. */
export const moderationFlags = ['prompt', 'answer'].flatMap((side) =>
  categories.map((category) => `${side}:${category}` as `${'prompt' | 'answer'}:${Category}`),
);
export const moderationFlag = z.enum(moderationFlags);
export type ModerationFlag = z.infer<typeof moderationFlag>;

/** The guard's findings in one text. */
export const guardFinding = z
  .object({
    mode: z.enum(['note', 'refuse']),
    /** The classifier that responded. */
    model: z.string(),
    /** Categories at or above their thresholds. */
    categories: z.array(z.enum(categories)),
    /** The highest score of any part of the text; null if the classifier failed. */
    categoryScores: moderationResult.shape.categoryScores.nullable(),
    /** Time of all checks together. */
    milliseconds: z.number(),
    /** The part of an answer that its caller did not get; null if nothing was withheld. */
    withheld: z.string().nullable(),
    /** Why the text could not be checked; null otherwise. */
    failure: z.string().nullable(),
  })
  .meta({ id: 'GuardFinding' });
export type GuardFinding = z.infer<typeof guardFinding>;

/** The guard's findings of a run. An unchecked side is null. */
export const runModeration = z
  .object({ prompt: guardFinding.nullable(), answer: guardFinding.nullable() })
  .meta({ id: 'RunModeration' });
export type RunModeration = z.infer<typeof runModeration>;

/** The flags of a run, prompt before answer. */
export function flagsOf({ prompt, answer }: RunModeration): ModerationFlag[] {
  return [
    ...(prompt?.categories ?? []).map((category): ModerationFlag => `prompt:${category}`),
    ...(answer?.categories ?? []).map((category): ModerationFlag => `answer:${category}`),
  ];
}
