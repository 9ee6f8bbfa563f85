import { z } from 'zod';
import { categories, moderationResult, type Category } from './moderation.ts';

/**
 * What the guard does with a text: nothing, note what it finds with the run, or refuse it. A refused prompt is a 400 before
 * the run begins; a refused answer ends with the finish reason `ContentFilter`, a streamed one before its first flagged sentence.
 */
export const guardModes = ['off', 'note', 'refuse'] as const;
export const guardMode = z.enum(guardModes);
export type GuardMode = (typeof guardModes)[number];

/** Settings group `guard`: what happens to the prompts and the answers of every completion. */
export const guard = z.strictObject({ prompts: guardMode, answers: guardMode });
export type GuardSettings = z.infer<typeof guard>;

/** Which side of a run was flagged for what; a run is found by it in the audit. */
export const moderationFlags = ['prompt', 'answer'].flatMap((side) =>
  categories.map((category) => `${side}:${category}` as `${'prompt' | 'answer'}:${Category}`),
);
export const moderationFlag = z.enum(moderationFlags);
export type ModerationFlag = z.infer<typeof moderationFlag>;

/** What the guard found in one text. */
export const guardFinding = z
  .object({
    mode: z.enum(['note', 'refuse']),
    /** Which classifier answered. */
    model: z.string(),
    /** Categories at or above their thresholds. */
    categories: z.array(z.enum(categories)),
    /** The highest score that any part of the text had; null when the classifier failed. */
    categoryScores: moderationResult.shape.categoryScores.nullable(),
    /** What the checks took together. */
    milliseconds: z.number(),
    /** The part of an answer that its caller did not get; null when nothing was withheld. */
    withheld: z.string().nullable(),
    /** Why the text could not be checked; null when it was. */
    failure: z.string().nullable(),
  })
  .meta({ id: 'GuardFinding' });
export type GuardFinding = z.infer<typeof guardFinding>;

/** What the guard found in a run; a side that was not looked at is null. */
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
