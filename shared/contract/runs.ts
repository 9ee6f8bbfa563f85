import { z } from 'zod';
import { aiSystem, listOf, listQuery, timestamp, uuid } from './common.ts';
import { citation, usage, warning } from './completions.ts';
import { frameTiming, runOrigin } from './conversations.ts';
import { defineEndpoint } from './endpoint.ts';
import { message } from './messages.ts';
import { runModeration } from './moderation.ts';
import { toolCall } from './tools.ts';

const tag = 'Window: runs';

/** The details of a run without its texts. */
export const runSummary = z.object({
  runId: uuid,
  conversationId: uuid,
  status: z.enum(['Running', 'Completed', 'Cancelled', 'Failed']),
  aiSystem,
  model: z.string(),
  servedBy: z.string().nullable(),
  origin: runOrigin,
  /** Of the response to a recorded call; null for other runs. */
  httpStatus: z.int().nullable(),
  createdAt: timestamp,
  completedAt: timestamp.nullable(),
  totalMs: z.number().nullable(),
  firstTokenMs: z.number().nullable(),
  usage: usage.nullable(),
  /** US dollars by the price in the catalogue or the settings; null if the price or the usage is unknown. */
  cost: z.number().nullable(),
  /** Day of the prices, `YYYY-MM-DD`; null without a cost, and for earlier runs, whose cost ignores cached tokens. */
  pricesFrom: z.string().nullable(),
  errorCode: z.string().nullable(),
  /** The first line of the rendered prompt, truncated to 120 characters. */
  title: z.string(),
  /** The draft in the window (`metadata.draftId`); null for other callers' runs. */
  draftId: z.string().nullable(),
});
export type RunSummary = z.infer<typeof runSummary>;

/** A row of the history. */
export const runListItem = runSummary.extend({
  /** Beginning of the answer, or the tools that it called, or the rendered prompt while there is neither; at most 200 characters. */
  excerpt: z.string(),
  /** Number of its stored version; null for a run of another text. */
  promptVersion: z.int().nullable(),
  /** Score of its feedback. */
  score: z.number().nullable(),
});
export type RunListItem = z.infer<typeof runListItem>;

/** A run with its request and answer; enough to restore it. */
export const runDetail = runSummary.extend({
  messageId: uuid,
  callerId: uuid,
  /** The agent whose turn the run is. Callers can write any `metadata.agentId`. */
  agentId: uuid.nullable(),
  /** Whether the retention has removed its texts. */
  isAnonymised: z.boolean(),
  input: z.object({
    promptText: z.string(),
    systemMessage: z.string().nullable(),
    replacements: z.record(z.string(), z.unknown()).nullable(),
    renderedPrompt: z.string().nullable(),
    messages: z.array(message),
    configuration: z.record(z.string(), z.unknown()).nullable(),
    dataspaceIds: z.array(uuid).nullable(),
  }),
  output: z.object({
    content: z.string(),
    /** Absent if the model called no tool. */
    toolCalls: z.array(toolCall).optional(),
    reasoning: z.string().nullable(),
    finishReason: z.string().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  }),
  appHeaders: z.record(z.string(), z.string()),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  citations: z.array(citation),
  warnings: z.array(warning),
  credits: z.int(),
  /** The provider's own usage object; null if it sent none. */
  rawUsage: z.record(z.string(), z.unknown()).nullable(),
  /** The guard's findings; absent if it didn't check the run. */
  moderation: runModeration.optional(),
  /** Only of a recorded stream. */
  frames: frameTiming.optional(),
});
export type RunDetail = z.infer<typeof runDetail>;

export const listRuns = defineEndpoint({
  id: 'listRuns',
  method: 'get',
  path: '/window/runs',
  access: 'window',
  tag,
  summary: "Runs, newest first; with `draftId` those of one of the window's prompts",
  query: listQuery.extend({ draftId: z.string().min(1).max(100).optional() }),
  response: listOf(runListItem),
});

export const readRun = defineEndpoint({
  id: 'readRun',
  method: 'get',
  path: '/window/runs/{id}',
  access: 'window',
  tag,
  summary: 'One run, whole',
  parameters: z.object({ id: uuid }),
  response: runDetail,
  errors: [404],
});

export const followReasoning = defineEndpoint({
  id: 'followReasoning',
  method: 'get',
  path: '/window/runs/{id}/reasoning',
  access: 'window',
  tag,
  summary: 'The reasoning of a run under way as it comes; the public stream does not carry it',
  parameters: z.object({ id: uuid }),
  kinds: ['event-stream'],
  part: z.object({ text: z.string() }),
  errors: [404],
});
