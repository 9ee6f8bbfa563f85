import { z } from 'zod';
import { auditFilter, auditSource } from './audit.ts';
import { aiSystem, timestamp, uuid } from './common.ts';
import { usage, warning } from './completions.ts';
import { runStatus } from './conversations.ts';
import { defineEndpoint } from './endpoint.ts';
import { toolCall } from './tools.ts';

const tag = 'Window: replay';

export const maximumReplayedRuns = 500;

/** The listed runs, in this order, or those that match a filter, newest first; more than 500 are 400. Listed runs may be of other hosts. */
export const replaySelection = z.union([
  z.strictObject({ runIds: z.array(uuid).min(1, 'must not be empty').max(maximumReplayedRuns) }),
  z.strictObject({ filter: auditFilter, source: auditSource.optional() }),
]);

/** The changes to the original run; absent fields stay unchanged. */
export const replayTarget = z
  .strictObject({
    aiSystem: aiSystem.optional(),
    model: z.string().min(1, 'must not be empty').optional(),
    /** Template and system message of another version; the replacements are those of the run. */
    promptText: z.string().min(1, 'must not be empty').optional(),
    systemMessage: z.string().nullable().optional(),
    /** Merged over the run's configuration key by key; null removes a key. */
    configuration: z.record(z.string(), z.unknown()).optional(),
  })
  .refine((target) => (target.aiSystem === undefined) === (target.model === undefined), {
    path: ['model'],
    error: 'must be given together with aiSystem',
  });
export type ReplayTarget = z.infer<typeof replayTarget>;

export const replayInput = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(200).optional(),
  selection: replaySelection,
  target: replayTarget,
  /** Concurrent runs; 4 by default. */
  parallel: z.int().min(1, 'must be from 1 to 16').max(16, 'must be from 1 to 16').optional(),
});
export type ReplayInput = z.infer<typeof replayInput>;

export const replayStates = ['running', 'stopped', 'completed'] as const;

export const replay = z.object({
  id: uuid,
  name: z.string(),
  /** `completed` when every run was attempted, even if some failed. */
  state: z.enum(replayStates),
  createdAt: timestamp,
  completedAt: timestamp.nullable(),
  target: replayTarget,
  parallel: z.int(),
  total: z.int(),
  waiting: z.int(),
  running: z.int(),
  completed: z.int(),
  failed: z.int(),
});
export type Replay = z.infer<typeof replay>;

export const replayList = z.object({ data: z.array(replay) });

/** One side of a pair; the compared values. */
const replaySide = z.object({
  runId: uuid,
  conversationId: uuid,
  status: runStatus,
  aiSystem,
  model: z.string(),
  servedBy: z.string(),
  createdAt: timestamp,
  renderedPrompt: z.string(),
  content: z.string(),
  toolCalls: z.array(toolCall),
  reasoning: z.string().nullable(),
  finishReason: z.string().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** What was left out of the request, for example. */
  warnings: z.array(warning),
  usage: usage.nullable(),
  /** US dollars. */
  cost: z.number().nullable(),
  firstTokenMs: z.number().nullable(),
  totalMs: z.number().nullable(),
});
export type ReplaySide = z.infer<typeof replaySide>;

/** Whether the model wrote the same text and the same calls. Their ids are new in each run. */
export function isSameAnswer(before: ReplaySide, after: ReplaySide): boolean {
  const calls = ({ toolCalls }: ReplaySide) => toolCalls.map(({ name, arguments: text }) => [name, text]);
  return before.content === after.content && JSON.stringify(calls(before)) === JSON.stringify(calls(after));
}

export const replayPair = z.object({
  /** Index in the replay, from 0. */
  position: z.int(),
  state: z.enum(['waiting', 'running', 'completed', 'failed']),
  /** Why there is no new run, or why it failed; null otherwise. */
  failure: z.string().nullable(),
  /** Null if the original was removed. */
  original: replaySide.nullable(),
  /** The newest attempt; null before the first. */
  replayed: replaySide.nullable(),
});
export type ReplayPair = z.infer<typeof replayPair>;

const totals = z.object({
  /** Sums over the pairs in which both sides completed. */
  runs: z.int(),
  totalTokens: z.int(),
  /** Runs with unknown tokens, which `totalTokens` excludes. */
  runsWithoutTokens: z.int(),
  /** US dollars of the runs with a known cost. */
  cost: z.number(),
  /** Runs with an unknown cost, which `cost` excludes. */
  runsWithoutCost: z.int(),
  averageTotalMs: z.number().nullable(),
  averageFirstTokenMs: z.number().nullable(),
});

export const replayResults = z.object({
  data: z.array(replayPair),
  /** Index of the first pair. */
  offset: z.int(),
  total: z.int(),
  before: totals,
  after: totals,
  /** Pairs with equal answers, of those in which both sides completed. */
  sameAnswers: z.int(),
});
export type ReplayResults = z.infer<typeof replayResults>;

const replayParameters = z.object({ id: uuid });

export const createReplay = defineEndpoint({
  id: 'createReplay',
  method: 'post',
  path: '/window/audit/replays',
  access: 'window',
  tag,
  summary: 'Rerun selected runs on another model, prompt or configuration; each rerun is a new run',
  body: replayInput,
  status: 202,
  response: replay,
  errors: [404, 503],
});

export const listReplays = defineEndpoint({
  id: 'listReplays',
  method: 'get',
  path: '/window/audit/replays',
  access: 'window',
  tag,
  summary: 'List replays, newest first',
  response: replayList,
});

export const followReplays = defineEndpoint({
  id: 'followReplays',
  method: 'get',
  path: '/window/audit/replays/events',
  access: 'window',
  tag,
  summary: 'Send the list again whenever it changes, at most five times a second',
  kinds: ['event-stream'],
  part: replayList,
});

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be a whole number from ${minimum} to ${maximum}`);

export const readReplayResults = defineEndpoint({
  id: 'readReplayResults',
  method: 'get',
  path: '/window/audit/replays/{id}/results',
  access: 'window',
  tag,
  summary: 'Compare original runs with their reruns, with totals',
  parameters: replayParameters,
  query: z.strictObject({ offset: wholeNumber(0, 999_999).optional(), limit: wholeNumber(1, 100).optional() }),
  response: replayResults,
  errors: [404],
});

export const stopReplay = defineEndpoint({
  id: 'stopReplay',
  method: 'post',
  path: '/window/audit/replays/{id}/stop',
  access: 'window',
  tag,
  summary: 'Stop a replay; running and queued reruns can be resumed',
  parameters: replayParameters,
  response: replay,
  errors: [404],
});

export const resumeReplay = defineEndpoint({
  id: 'resumeReplay',
  method: 'post',
  path: '/window/audit/replays/{id}/resume',
  access: 'window',
  tag,
  summary: 'Resume a stopped replay',
  parameters: replayParameters,
  status: 202,
  response: replay,
  errors: [404],
});

export const retryReplay = defineEndpoint({
  id: 'retryReplay',
  method: 'post',
  path: '/window/audit/replays/{id}/retry',
  access: 'window',
  tag,
  summary: 'Retry the failed runs of a replay',
  parameters: replayParameters,
  status: 202,
  response: replay,
  errors: [404],
});

export const deleteReplay = defineEndpoint({
  id: 'deleteReplay',
  method: 'delete',
  path: '/window/audit/replays/{id}',
  access: 'window',
  tag,
  summary: 'Stop and delete a replay; its runs are kept',
  parameters: replayParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
