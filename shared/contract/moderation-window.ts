import { z } from 'zod';
import { auditFilter } from './audit.ts';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { categories, highlight, moderationClassifier, moderationPresets, moderationResult } from './moderation.ts';

const tag = 'Window: moderation';

/** Scores or thresholds, from 0 to 1. */
export const categoryScores = moderationResult.shape.categoryScores;
export type CategoryScores = z.infer<typeof categoryScores>;

/** At most two classifiers are compared. */
const classifiers = z.array(moderationClassifier).min(1).max(2);

/** The result of one classifier for one text. `failure` is the reason for a missing result. */
export const checkedText = z.object({
  model: z.string().nullable(),
  scores: categoryScores.nullable(),
  /** Its Balanced preset. */
  defaultThresholds: categoryScores,
  highlights: z.array(highlight),
  milliseconds: z.number(),
  failure: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type CheckedText = z.infer<typeof checkedText>;

export const checkText = defineEndpoint({
  id: 'checkText',
  method: 'post',
  path: '/window/moderation/check',
  access: 'window',
  tag,
  summary: 'One text by one or two classifiers, with the passages above the given thresholds',
  body: z.strictObject({
    text: z.string().min(1, 'must not be empty'),
    classifiers,
    /** For the highlights; the default is each classifier's Balanced preset. */
    thresholds: categoryScores.optional(),
  }),
  response: z.object({ results: z.array(checkedText) }),
});

/** Thresholds of each preset. */
export const presetThresholds = z.record(z.enum(moderationPresets), categoryScores);
export type PresetThresholds = z.infer<typeof presetThresholds>;

export const readPresets = defineEndpoint({
  id: 'readModerationPresets',
  method: 'post',
  path: '/window/moderation/presets',
  access: 'window',
  tag,
  summary: 'Thresholds of a classifier for each preset',
  body: z.strictObject({ classifier: moderationClassifier }),
  response: z.object({ presets: presetThresholds }),
});

/** Passages that one explanation leaves out, one at a time. */
export const maxExplainedPassages = 24;

/** A passage with the scores that the text has without it. */
export const explainedPassage = z.object({
  /** Offset of its first character, in UTF-16 units. */
  start: z.int(),
  /** Offset after its last character. */
  end: z.int(),
  scores: categoryScores,
});
export type ExplainedPassage = z.infer<typeof explainedPassage>;

export const explanation = z.object({
  /** Of the whole text. */
  scores: categoryScores,
  /** In the order of the text. */
  passages: z.array(explainedPassage),
  /** Passages that could be left out; more than in `passages` if there are too many. */
  candidates: z.int(),
});
export type Explanation = z.infer<typeof explanation>;

export const explainText = defineEndpoint({
  id: 'explainText',
  method: 'post',
  path: '/window/moderation/explain',
  access: 'window',
  tag,
  summary: 'The on-device scores of a text without each of the passages that decide them',
  body: z.strictObject({ text: z.string().min(1, 'must not be empty') }),
  response: explanation,
});

/** Texts of one batch. */
export const maxBatchTexts = 20_000;

const label = z.boolean().nullable();

/** Human labels of a text; null without labels. */
export const textLabels = z.strictObject({
  sexual: label,
  hatred: label,
  harassment: label,
  selfHarm: label,
  violence: label,
});
export type TextLabels = z.infer<typeof textLabels>;

export const batchText = z.strictObject({ text: z.string().min(1), labels: textLabels.nullish() });
export type BatchText = z.infer<typeof batchText>;

export const batchInput = z.strictObject({
  /** File name, or the origin of the texts. */
  name: z.string().trim().min(1).max(200),
  classifiers,
  source: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('texts'),
      texts: z.array(batchText).min(1).max(maxBatchTexts, `must have at most ${maxBatchTexts} texts`),
    }),
    z.strictObject({
      kind: z.literal('audit'),
      /** Every run of these conversations, or every run that matches the filter, newest first. */
      conversationIds: z.array(uuid).min(1).max(1000).optional(),
      filter: auditFilter.optional(),
      side: z.enum(['prompts', 'answers']),
    }),
  ]),
});
export type BatchInput = z.input<typeof batchInput>;

export const batch = z.object({
  id: uuid,
  name: z.string(),
  /** Failed: every classifier stopped after failures. */
  state: z.enum(['running', 'completed', 'stopped', 'failed']),
  total: z.int(),
  hasLabels: z.boolean(),
  createdAt: timestamp,
  classifiers: z.array(
    z.object({
      classifier: moderationClassifier,
      model: z.string().nullable(),
      defaultThresholds: categoryScores,
      /** Texts that it has finished, from the first one on without gaps. */
      done: z.int(),
      /** Failed ones among them. */
      failed: z.int(),
      /** Texts per second. */
      rate: z.number(),
      /** Why it failed; null while it runs or after it has finished. */
      failure: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
});
export type Batch = z.infer<typeof batch>;

const batchList = z.object({ data: z.array(batch) });
const parameters = z.object({ id: uuid });

/** Scores in the order of the categories; null if a classifier has none, because it hasn't scored the text yet or failed. */
export const batchResult = z.object({
  /** Start of the text, at most 120 characters. */
  title: z.string(),
  words: z.int(),
  labels: textLabels.nullable(),
  /** One entry per classifier. */
  scores: z.array(z.array(z.number()).length(categories.length).nullable()),
});
export type BatchResult = z.infer<typeof batchResult>;

export const createBatch = defineEndpoint({
  id: 'createModerationBatch',
  method: 'post',
  path: '/window/moderation/batches',
  access: 'window',
  tag,
  summary: 'Classify many texts. The eight newest batches stay in memory',
  status: 202,
  body: batchInput,
  response: batch,
  errors: [404],
});

export const listBatches = defineEndpoint({
  id: 'listModerationBatches',
  method: 'get',
  path: '/window/moderation/batches',
  access: 'window',
  tag,
  summary: 'Batches, newest first',
  response: batchList,
});

export const followBatches = defineEndpoint({
  id: 'followModerationBatches',
  method: 'get',
  path: '/window/moderation/batches/events',
  access: 'window',
  tag,
  summary: 'The same list whenever it changes, at most five times per second',
  kinds: ['event-stream'],
  part: batchList,
});

export const readBatchResults = defineEndpoint({
  id: 'readModerationResults',
  method: 'get',
  path: '/window/moderation/batches/{id}/results',
  access: 'window',
  tag,
  summary: 'Scores of a range of texts, at most 2,000',
  parameters,
  query: z.strictObject({
    offset: z
      .string()
      .regex(/^\d{1,6}$/, 'must be a whole number')
      .transform(Number),
    limit: z
      .string()
      .regex(/^\d{1,4}$/, 'must be a whole number')
      .transform(Number)
      .optional(),
  }),
  response: z.object({ results: z.array(batchResult) }),
  errors: [404],
});

export const readBatchText = defineEndpoint({
  id: 'readModerationText',
  method: 'get',
  path: '/window/moderation/batches/{id}/texts/{index}',
  access: 'window',
  tag,
  summary: 'One complete text of a batch; the first index is 0',
  parameters: parameters.extend({
    index: z
      .string()
      .regex(/^\d{1,6}$/, 'must be a whole number')
      .transform(Number),
  }),
  response: z.object({ text: z.string() }),
  errors: [404],
});

export const stopBatch = defineEndpoint({
  id: 'stopModerationBatch',
  method: 'post',
  path: '/window/moderation/batches/{id}/stop',
  access: 'window',
  tag,
  summary: 'Stop a batch. Results so far are kept',
  parameters,
  response: batch,
  errors: [404],
});

export const exportBatch = defineEndpoint({
  id: 'exportModerationBatch',
  method: 'post',
  path: '/window/moderation/batches/{id}/export',
  access: 'window',
  tag,
  summary: 'The texts with scores and with flags at the given thresholds, as a file for the window to save',
  parameters,
  body: z.strictObject({ format: z.enum(['csv', 'jsonl']), thresholds: z.array(categoryScores).min(1).max(2) }),
  response: z.object({ fileName: z.string(), content: z.string() }),
  errors: [404],
});

const guardCost = z.object({
  checked: z.int(),
  flagged: z.int(),
  refused: z.int(),
  /** Milliseconds per run, over the newest 1,000; null before the first one. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
});

export const guardCosts = z.object({ prompts: guardCost, answers: guardCost });
export type GuardCosts = z.infer<typeof guardCosts>;

export const readGuardCosts = defineEndpoint({
  id: 'readGuardCosts',
  method: 'get',
  path: '/window/moderation/guard',
  access: 'window',
  tag,
  summary: 'Runs that the guard checked since the host started, and the time that took',
  response: guardCosts,
});
