import { z } from 'zod';
import { errorBody, uuid } from './common.ts';
import { citation, completionChunk, completionRequest } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { messageRole } from './messages.ts';

const tag = 'Window: grounding';

/** Max passages that a user may pin, exclude or choose. */
const maxChosen = 50;

/** A passage by its position in its source, as in citations. */
export const passageReference = z.strictObject({ sourceId: uuid, start: z.int().min(0), end: z.int().min(1) });
export type PassageReference = z.infer<typeof passageReference>;

/** The user's changes to the search results. */
export const groundingChoice = z.strictObject({
  /** Always included, in this order, before the search results. */
  pinned: z.array(passageReference).max(maxChosen).optional(),
  /** Never included. */
  excluded: z.array(passageReference).max(maxChosen).optional(),
  /** Exactly these passages are used, in this order, without a search: the same context for several models. */
  only: z.array(passageReference).max(maxChosen).optional(),
});
export type GroundingChoice = z.infer<typeof groundingChoice>;

/**
 * A passage below this relevance is hardly about the question: nine of ten off-topic queries match nothing above it (`npm run
 * benchmark -- retrieval`).
 */
export const weakRelevance = 0.1;

/** Why a matching passage isn't used. */
export const groundingOmission = z.enum(['not-relevant', 'too-many', 'no-room', 'excluded']);
export type GroundingOmission = z.infer<typeof groundingOmission>;

/** A matching or pinned passage, with the values that determine its rank. */
export const groundingPassage = citation.extend({
  /** Its number in the prompt, from 1; null if it isn't used. */
  index: z.int().nullable(),
  omission: groundingOmission.nullable(),
  isPinned: z.boolean(),
  heading: z.string().nullable(),
  /** Rank by keywords and its BM25; null without one. */
  textRank: z.int().nullable(),
  textScore: z.number().nullable(),
  /** Share of the weight of the query's words that it contains, 0 to 1. */
  coverage: z.number(),
  /** Rank by meaning; null without one. */
  vectorRank: z.int().nullable(),
  /** Cosine of query and passage, -1 to 1; null if one of them has no vector. */
  similarity: z.number().nullable(),
  /** Estimate of its tokens in the prompt. */
  tokens: z.int(),
});
export type GroundingPassage = z.infer<typeof groundingPassage>;

export const groundingPreview = z.object({
  /** The query: the rendered prompt, or the relevant part of a long one. */
  query: z.string(),
  /** In the order of their numbers, followed by unused ones, best first. */
  passages: z.array(groundingPassage),
  budget: z.object({
    /** Estimated token budget for passages, and the tokens that they use. */
    tokens: z.int(),
    used: z.int(),
    /** The model's context; null if unknown. */
    contextTokens: z.int().nullable(),
  }),
  /** The messages that are sent, with the rules and the passages around the prompt; worked examples come before it. */
  messages: z.array(z.object({ role: messageRole, content: z.string() })),
  /** Parameters that the service sets because the request doesn't. */
  configuration: z.record(z.string(), z.unknown()),
  milliseconds: z.object({ embedding: z.number(), search: z.number() }),
  /** Why only keywords were searched; null otherwise. */
  keywordOnlyReason: z.string().nullable(),
});
export type GroundingPreview = z.infer<typeof groundingPreview>;

/** A completion request with chosen passages. */
export const groundedRequest = completionRequest.extend({ grounding: groundingChoice.optional() });
export type GroundedRequest = z.infer<typeof groundedRequest>;

export const previewGrounding = defineEndpoint({
  id: 'previewGrounding',
  method: 'post',
  path: '/window/grounding',
  access: 'window',
  tag,
  summary: 'The passages that a run would send and the prompt around them, without a run',
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
