import { z } from 'zod';
import { aiSystem, listOf, listQuery, timestamp, uuid } from './common.ts';
import { citation, usage, warning } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { answerValue } from './rubrics.ts';
import { message } from './messages.ts';
import { runModeration } from './moderation.ts';
import { toolCall } from './tools.ts';

const tag = 'Conversations';

export const runStatuses = ['Running', 'Completed', 'Cancelled', 'Failed'] as const;
export const runStatus = z.enum(runStatuses).meta({ id: 'RunStatus' });
export type RunStatus = z.infer<typeof runStatus>;

/** How a run got into the audit: by a completion, by a recorded call to one of the other APIs, or from an imported log. */
export const originApis = [
  'completions',
  'openai-chat',
  'openai-responses',
  'openai-embeddings',
  'anthropic-messages',
  'gemini-content',
  'import',
] as const;
export type OriginApi = (typeof originApis)[number];

export const runOrigin = z
  .object({
    api: z.enum(originApis),
    client: z.string().nullable().describe('The program, from its `user-agent` or the imported log; null if unknown'),
  })
  .meta({ id: 'RunOrigin' });
export type RunOrigin = z.infer<typeof runOrigin>;

/** The cost of a run by token class. */
export const runCost = z
  .object({
    amount: z.number(),
    currency: z.literal('USD'),
    pricesFrom: z
      .string()
      .nullable()
      .describe('Day of the prices, `YYYY-MM-DD`; null for earlier runs, whose cost does not know cached tokens'),
  })
  .meta({ id: 'RunCost' });

/** A person's feedback on a run. `scoreTags` are separated by commas. */
export const feedback = z
  .object({
    score: z.int().min(-10).max(10).nullable(),
    scoreText: z.string().nullable(),
    scoreTags: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: 'Feedback' });
export type Feedback = z.infer<typeof feedback>;

/** Entries of a series; frames that arrived close to each other share one. */
export const maxFrameEntries = 64;

export const frameTiming = z
  .object({
    count: z.int(),
    firstMs: z.number().describe('Since the call began, as all times'),
    lastMs: z.number(),
    longestGapMs: z.number().describe('Between two frames'),
    series: z
      .array(z.object({ atMs: z.number(), frames: z.int() }))
      .max(maxFrameEntries)
      .describe('How many frames arrived from a time on until that of the next entry'),
  })
  .meta({ id: 'FrameTiming', description: 'When the frames of a streamed answer arrived' });
export type FrameTiming = z.infer<typeof frameTiming>;

/** A run with its request and answer. */
export const conversationRun = z
  .object({
    conversationRunId: uuid,
    promptRunId: uuid.nullable().describe('The same id for a run of a stored prompt, null for others'),
    promptId: uuid.nullable(),
    promptVersionId: uuid.nullable(),
    agentId: uuid.nullable().describe('The agent whose turn the run is'),
    messageId: uuid,
    status: runStatus,
    aiSystem,
    model: z.string(),
    servedBy: z.string(),
    origin: runOrigin,
    input: z.object({
      promptText: z.string(),
      systemMessage: z.string().nullable(),
      replacements: z.record(z.string(), z.unknown()).nullable(),
      renderedPrompt: z.string().describe('Several messages are separated by empty lines'),
      messages: z.array(message).describe('What the prompt rendered to, without the history of the conversation'),
      configuration: z.record(z.string(), z.unknown()).nullable(),
      dataspaceIds: z.array(uuid).nullable(),
    }),
    output: z.object({
      content: z.string(),
      toolCalls: z.array(toolCall).optional().describe('Absent if the model called no tool'),
      reasoning: z.string().nullable(),
      finishReason: z.string().nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
    usage: usage.nullable(),
    cost: runCost
      .nullable()
      .optional()
      .describe('Only for those who may read the audit; null if the price or the usage is unknown'),
    timing: z.object({ firstTokenMs: z.number().nullable(), totalMs: z.number().nullable() }),
    createdAt: timestamp,
    completedAt: timestamp.nullable(),
    appHeaders: z.record(z.string(), z.string()),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    citations: z.array(citation),
    warnings: z.array(warning),
    moderation: runModeration.optional().describe('What the guard found; only where it looked'),
    frames: frameTiming.optional().describe('Only of a recorded stream'),
    feedback: feedback.nullable().optional().describe('Only for those who asked for it or may see it'),
  })
  .meta({ id: 'ConversationRun' });
export type ConversationRun = z.infer<typeof conversationRun>;

/** A conversation without its runs. `updatedAt` is the time of its newest run. */
export const conversation = z
  .object({
    id: uuid,
    name: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
    workspaceId: uuid.nullable(),
    callerId: uuid,
  })
  .meta({ id: 'Conversation' });
export type Conversation = z.infer<typeof conversation>;

/** A conversation with its runs, oldest first. */
export const conversationDetail = conversation
  .extend({
    runs: z.array(conversationRun),
    isIncomplete: z
      .literal(true)
      .optional()
      .describe(
        'Present if runs that other hosts of the team recorded may be missing, because the team database does not answer or they have more than 16 MB of texts',
      ),
  })
  .meta({ id: 'ConversationDetail' });
export type ConversationDetail = z.infer<typeof conversationDetail>;

export const listConversations = defineEndpoint({
  id: 'listConversations',
  method: 'get',
  path: '/conversations',
  access: 'run or audit',
  tag,
  summary: 'List conversations',
  description:
    "The conversation with the newest run comes first. Without the scope `audit`, only the caller's own conversations are listed.",
  query: listQuery,
  response: listOf(conversation),
});

export const readConversation = defineEndpoint({
  id: 'readConversation',
  method: 'get',
  path: '/conversations/{id}',
  access: 'run or audit',
  tag,
  summary: 'Read a conversation with its runs',
  description:
    'Runs are sorted oldest first. Only keys with the scope `audit` see feedback, reasoning, answers that the guard withheld, and ' +
    'the stored text, system message and parameters of prompts and agents.',
  parameters: z.object({ id: uuid }),
  response: conversationDetail,
  errors: [404],
});

export const feedbackInput = z
  .strictObject({
    score: z.int().min(-10, 'must be from -10 to 10').max(10, 'must be from -10 to 10').nullish(),
    scoreText: z.string().max(10_000).nullish(),
    scoreTags: z.string().max(1000).nullish().describe('Separated by commas'),
  })
  .meta({ id: 'FeedbackInput' });
export type FeedbackInput = z.infer<typeof feedbackInput>;

export const giveFeedback = defineEndpoint({
  id: 'giveFeedback',
  method: 'put',
  path: '/conversations/{conversationId}/runs/{runId}/feedback',
  access: 'audit',
  tag: 'Audit',
  summary: 'Rate a run',
  description: 'Replaces the feedback of the run. An absent field becomes null.',
  parameters: z.object({ conversationId: uuid, runId: uuid }),
  body: feedbackInput,
  response: feedback,
  errors: [404],
});

/** What one reviewer said about a run. Later feedback replaces it and leaves it here. */
export const feedbackEntry = z
  .object({
    id: uuid,
    reviewer: z
      .string()
      .nullable()
      .describe('Name of the reviewer or of the API key at that time, or `Touchstone window`; null if it is not known'),
    rubricItemId: uuid.nullable().describe('Of an answer in a review queue; null for feedback on the run as a whole'),
    question: z
      .string()
      .nullable()
      .describe('Of that item of the rubric, as the reviewer read it; null for feedback, and where it is not known'),
    value: z.union([feedback.pick({ score: true, scoreTags: true }), answerValue]),
    note: z.string().nullable().describe('The `scoreText` of the feedback'),
    createdAt: timestamp,
    replaces: uuid.nullable().describe('The entry before it; null for the first one'),
  })
  .meta({ id: 'FeedbackEntry' });
export type FeedbackEntry = z.infer<typeof feedbackEntry>;

export const maxFeedbackEntries = 1000;

export const listFeedback = defineEndpoint({
  id: 'listFeedback',
  method: 'get',
  path: '/conversations/{conversationId}/runs/{runId}/feedback',
  access: 'audit',
  tag: 'Audit',
  summary: 'Read the feedback history of a run',
  description:
    `All feedback ever given, newest first: at most the newest ${maxFeedbackEntries} entries. The same feedback again, from the ` +
    'same reviewer, adds none.',
  parameters: z.object({ conversationId: uuid, runId: uuid }),
  response: z.array(feedbackEntry),
  errors: [404],
});
