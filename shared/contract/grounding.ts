import { z } from 'zod';
import { errorBody, uuid } from './common.ts';
import { citation, completionChunk, completionRequest } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { messageRole } from './messages.ts';

const tag = 'Window: grounding';

/** Most passages that a person may pin, exclude or give. */
const maxChosen = 50;

/** A passage by its place in its source, as citations name it. */
export const passageReference = z.strictObject({ sourceId: uuid, start: z.int().min(0), end: z.int().min(1) });
export type PassageReference = z.infer<typeof passageReference>;

/** What a person wants otherwise than the search would have it. */
export const groundingChoice = z.strictObject({
  /** Always included, in this order, before the search results. */
  pinned: z.array(passageReference).max(maxChosen).optional(),
  /** Never given. */
  excluded: z.array(passageReference).max(maxChosen).optional(),
  /** Exactly these are given, in this order, and nothing is searched: the same context for several models. */
  only: z.array(passageReference).max(maxChosen).optional(),
});
export type GroundingChoice = z.infer<typeof groundingChoice>;

/**
 * Below this relevance a passage hardly speaks of what was asked: nine of ten off-topic queries find nothing above it
 * (`npm run benchmark -- retrieval`).
 */
export const weakRelevance = 0.1;

/** Why a passage that was found is not given to the model. */
export const groundingOmission = z.enum(['not-relevant', 'too-many', 'no-room', 'excluded']);
export type GroundingOmission = z.infer<typeof groundingOmission>;

/** A passage that was found or pinned, with everything that its place in the list came from. */
export const groundingPassage = citation.extend({
  /** Its number in the prompt, from 1; null when it is not given. */
  index: z.int().nullable(),
  omission: groundingOmission.nullable(),
  isPinned: z.boolean(),
  heading: z.string().nullable(),
  /** Place in the list by words and its BM25; null without one. */
  textRank: z.int().nullable(),
  textScore: z.number().nullable(),
  /** Share of the weight of the question's words that it holds, 0 to 1. */
  coverage: z.number(),
  /** Place in the list by meaning; null without one. */
  vectorRank: z.int().nullable(),
  /** Cosine of the angle between question and passage, -1 to 1; null when one of them has no vector. */
  similarity: z.number().nullable(),
  /** Estimate of its tokens in the prompt. */
  tokens: z.int(),
});
export type GroundingPassage = z.infer<typeof groundingPassage>;

export const groundingPreview = z.object({
  /** What was searched: the rendered prompt, or its telling part when it is long. */
  query: z.string(),
  /** In the order of their numbers, then what is not given, best first. */
  passages: z.array(groundingPassage),
  budget: z.object({
    /** Estimated tokens that passages may take, and what they take. */
    tokens: z.int(),
    used: z.int(),
    /** The model's context; null when it is not known. */
    contextTokens: z.int().nullable(),
  }),
  /** The conversation that is sent, with the rules and the passages around the prompt; worked examples come before it. */
  messages: z.array(z.object({ role: messageRole, content: z.string() })),
  /** Parameters that are set because the request leaves them open. */
  configuration: z.record(z.string(), z.unknown()),
  milliseconds: z.object({ embedding: z.number(), search: z.number() }),
  /** Why it was searched by words alone; null when it was not. */
  keywordOnlyReason: z.string().nullable(),
});
export type GroundingPreview = z.infer<typeof groundingPreview>;

/** A completion request with a choice of passages. */
export const groundedRequest = completionRequest.extend({ grounding: groundingChoice.optional() });
export type GroundedRequest = z.infer<typeof groundedRequest>;

export const previewGrounding = defineEndpoint({
  id: 'previewGrounding',
  method: 'post',
  path: '/window/grounding',
  access: 'window',
  tag,
  summary: 'The passages that a run would be given and the prompt around them, without a run',
  body: groundedRequest,
  response: groundingPreview,
});

export const createGroundedCompletion = defineEndpoint({
  id: 'createGroundedCompletion',
  method: 'post',
  path: '/window/grounding/completions',
  access: 'window',
  tag,
  summary: 'Run a prompt on chosen passages; streamed as server-sent events',
  body: groundedRequest,
  kinds: ['event-stream'],
  part: z.union([completionChunk, errorBody]),
  errors: [402, 429, 502, 503, 504],
});
