import { z } from 'zod';
import { aiSystem, dateTime, timestamp, uuid } from './common.ts';
import { usage } from './completions.ts';
import { conversation, conversationRun, feedback, originApis, runOrigin, runStatus } from './conversations.ts';
import { defineEndpoint } from './endpoint.ts';
import { moderationFlag } from './moderation.ts';

/** The specification's number format: 32-bit integers. */
const int32 = z.int().min(-2_147_483_648).max(2_147_483_647);

/** A field that only the service sets. Sending it is rejected, because a silently ignored filter would mislead an auditor. */
function readOnly(description: Record<string, unknown>) {
  return z
    .unknown()
    .refine(() => false, 'is set by the service and cannot be sent')
    .optional()
    .meta({ readOnly: true, ...description });
}

export const auditFeedback = z
  .strictObject({
    score: int32.nullish().describe('Equal'),
    scoreText: z.string().nullish().describe('Contained, without case'),
    scoreTags: z.string().nullish().describe('Separated by commas; all of them present'),
  })
  .meta({ id: 'AuditFeedback' });

const publicFilter = {
  callerId: uuid.nullish(),
  startDate: dateTime.nullish().describe('Runs made at or after it'),
  endDate: dateTime.nullish().describe('Runs made at or before it'),
  appHeaders: z
    .record(z.string(), z.string().nullable())
    .nullish()
    .describe('Every name must have that value; null means that the header is absent. Names compare without case.'),
  promptId: uuid.nullish(),
  promptVersionId: uuid.nullish(),
  promptRunId: uuid.nullish(),
  conversationRunId: uuid.nullish(),
  workspaceId: uuid.nullish(),
  conversationId: uuid.nullish(),
  feedback: auditFeedback.optional(),
};

function requireOrderedDates(
  { startDate, endDate }: { startDate?: string | null | undefined; endDate?: string | null | undefined },
  context: z.RefinementCtx,
): void {
  if (!startDate || !endDate || Date.parse(startDate) <= Date.parse(endDate)) return;
  context.addIssue({ code: 'custom', path: ['startDate'], message: 'must not be after endDate' });
}

export const auditReportRequest = z
  .strictObject({
    ...publicFilter,
    pageSize: z.int().min(1, 'must be from 1 to 20').max(20, 'must be from 1 to 20').optional(),
    lookupTypes: readOnly({ type: ['array', 'null'], items: { type: 'string' } }),
    userId: readOnly({ type: ['string', 'null'], format: 'uuid' }),
    isAdmin: readOnly({ type: 'boolean' }),
    organizationId: readOnly({ type: ['string', 'null'], format: 'uuid' }),
    continuationToken: z.string().min(1, 'must not be empty').nullish(),
    includeFeedback: z.boolean().optional(),
  })
  .superRefine(requireOrderedDates)
  .meta({ id: 'AuditReportRequest' });
export type AuditReportRequest = z.infer<typeof auditReportRequest>;

export const auditReport = z
  .object({
    conversations: z.array(
      conversation.extend({
        runs: z.array(
          conversationRun.extend({ matched: z.boolean().describe('Whether this run meets all the filters') }),
        ),
      }),
    ),
    continuationToken: z.string().nullable(),
  })
  .meta({ id: 'AuditReport' });
export type AuditReport = z.infer<typeof auditReport>;

export const queryConversations = defineEndpoint({
  id: 'queryConversations',
  method: 'post',
  path: '/audit/conversations',
  access: 'audit',
  tag: 'Audit',
  summary: 'Search conversations by the filters of the audit',
  description:
    'Returns the conversations in which at least one run meets all filters together; `matched` marks those runs. The conversation with the newest run comes first. A paged query keeps the state at its start.',
  mediaTypes: ['application/json', 'text/json', 'application/*+json'],
  body: auditReportRequest,
  response: auditReport,
});

const tag = 'Window: audit';

function rangeOf(number: z.ZodNumber | z.ZodInt) {
  return z
    .strictObject({ min: number.nullish(), max: number.nullish() })
    .refine(({ min, max }) => (min ?? -Infinity) <= (max ?? Infinity), {
      path: ['min'],
      error: 'must not be above max',
    });
}

const several = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(100);

/**
 * The window's filter: that of the public query and more. All conditions hold for one and the same run; several values of one
 * field are alternatives. A range leaves out runs without the value; both of its ends are included.
 */
export const auditFilter = z
  .strictObject({
    ...publicFilter,
    /** Words, `"phrases"`, `prefix*`, AND, OR, NOT and parentheses; invalid syntax is searched as plain words. */
    text: z.string().max(2000).nullish(),
    /** Where to search for the text; both by default. */
    textIn: z.enum(['prompt', 'answer']).nullish(),
    callerIds: several(uuid).nullish(),
    /** The agent of the turns, also a deleted one. */
    agentId: uuid.nullish(),
    aiSystems: several(aiSystem).nullish(),
    models: several(z.string()).nullish(),
    statuses: several(runStatus).nullish(),
    /** The APIs of `origin`. */
    origins: several(z.enum(originApis)).nullish(),
    /** The programs of `origin`. */
    clients: several(z.string()).nullish(),
    /** The runs of an imported log. */
    importId: uuid.nullish(),
    finishReasons: several(z.string()).nullish(),
    errorCodes: several(z.string()).nullish(),
    /** Flagged by the guard for any of them. */
    moderationFlags: several(moderationFlag).nullish(),
    hasFeedback: z.boolean().nullish(),
    score: rangeOf(z.int()).nullish(),
    /** All of them present. */
    tags: several(z.string()).nullish(),
    totalMs: rangeOf(z.number()).nullish(),
    firstTokenMs: rangeOf(z.number()).nullish(),
    /** US dollars. */
    cost: rangeOf(z.number()).nullish(),
    totalTokens: rangeOf(z.int()).nullish(),
  })
  .superRefine(requireOrderedDates);
export type AuditFilter = z.infer<typeof auditFilter>;

/**
 * `newest` and `oldest` sort by a conversation's newest run, the others by its first matching run in that order; runs without the
 * value come last.
 */
export const auditSorts = ['newest', 'oldest', 'slowest', 'dearest', 'lowest-score'] as const;
export const auditSort = z.enum(auditSorts);
export type AuditSort = z.infer<typeof auditSort>;

/** One line of the list: a conversation and its representative run. */
export const auditRow = z.object({
  conversationId: uuid,
  name: z.string(),
  callerId: uuid,
  workspaceId: uuid.nullable(),
  /** When its newest run started. */
  updatedAt: timestamp,
  /** Whether it is sample data. */
  isSample: z.boolean(),
  /** The number of the conversation's runs. */
  runs: z.int(),
  /** Its runs and, for a branch, those before it branched off. */
  turns: z.int(),
  /** The matching runs, newest first, at most 100. */
  matchedRunIds: z.array(uuid),
  /** For `newest` and `oldest` the newest matching run, otherwise the run that determines the order. */
  run: z.object({
    runId: uuid,
    createdAt: timestamp,
    status: runStatus,
    aiSystem,
    model: z.string(),
    servedBy: z.string(),
    origin: runOrigin,
    /** Start of the rendered prompt, at most 120 characters. */
    title: z.string(),
    /** Start of the answer, at most 200 characters. */
    excerpt: z.string(),
    totalMs: z.number().nullable(),
    firstTokenMs: z.number().nullable(),
    usage: usage.nullable(),
    /** US dollars. */
    cost: z.number().nullable(),
    finishReason: z.string().nullable(),
    /** Of the response to a recorded call of this device; null for other runs. */
    httpStatus: z.int().nullable(),
    errorCode: z.string().nullable(),
    feedback: feedback.nullable(),
  }),
});
export type AuditRow = z.infer<typeof auditRow>;

/** The runs of this device, or of all hosts that copy to the team database. */
export const auditSource = z.enum(['device', 'team']);
export type AuditSource = z.infer<typeof auditSource>;

export const auditSearch = z.strictObject({
  filter: auditFilter,
  /** `device` by default; the same for the next queries. */
  source: auditSource.optional(),
  sort: auditSort.optional(),
  /**
   * From an earlier response with the same filter and sort: the list stays unchanged, so that an offset means the same row while
   * runs arrive. If it is missing, a new list is created. An expired one is 400.
   */
  snapshot: z.string().min(1).optional(),
  /** First row, from 0; any row of the list costs the same. Beyond the end the response is empty. */
  offset: z.int().min(0).optional(),
  /** Instead of an offset: the rows from this time on, in the list's direction. Only for `newest` and `oldest`. */
  at: dateTime.optional(),
  /** Instead of an offset: a page with this conversation in its middle; from 0 if it is not in the list. */
  around: uuid.optional(),
  /** Rows; 50 by default. */
  limit: z.int().min(1).max(200).optional(),
});
export type AuditSearch = z.input<typeof auditSearch>;

export const auditPage = z.object({
  rows: z.array(auditRow),
  /** Index of the first row in the list. */
  offset: z.int(),
  /** Conversations in the list; an estimate while `isTotalExact` is false. */
  total: z.int(),
  isTotalExact: z.boolean(),
  snapshot: z.string(),
});
export type AuditPage = z.infer<typeof auditPage>;

export const searchAudit = defineEndpoint({
  id: 'searchAudit',
  method: 'post',
  path: '/window/audit/search',
  access: 'window',
  tag,
  summary: 'List conversations by filter and sort, from any offset',
  body: auditSearch,
  response: auditPage,
});

/** Percentiles of matching runs with the value, within 1 %; milliseconds. */
const percentiles = z.object({ p50: z.number(), p90: z.number(), p95: z.number(), p99: z.number(), max: z.number() });
export type Percentiles = z.infer<typeof percentiles>;

const feedbackFigures = z.object({ count: z.int(), averageScore: z.number().nullable() });

export const bucketSizes = ['minute', 'hour', 'day', 'week', 'month'] as const;

/** Statistics of one time span. */
export const auditBucket = z.object({
  /** Start, in UTC; weeks begin on Monday. */
  start: timestamp,
  runs: z.int(),
  failed: z.int(),
  totalTokens: z.int(),
  cost: z.number(),
  /** Runs whose cost is unknown; `cost` leaves them out. */
  runsWithoutCost: z.int(),
  /** Null if no run has a latency. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  feedback: feedbackFigures,
});
export type AuditBucket = z.infer<typeof auditBucket>;

/** Statistics of every run that matches the filter. */
export const auditSummary = z.object({
  runs: z.int(),
  conversations: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  totalTokens: z.int(),
  /** US dollars, of the runs with a known price. */
  cost: z.number(),
  /** Runs whose cost is unknown; `cost` leaves them out. */
  runsWithoutCost: z.int(),
  latency: percentiles.nullable(),
  firstToken: percentiles.nullable(),
  statuses: z.array(z.object({ status: runStatus, runs: z.int() })),
  /** The most used ones, at most 20. */
  models: z.array(z.object({ aiSystem, model: z.string(), runs: z.int(), totalTokens: z.int(), cost: z.number() })),
  feedback: feedbackFigures.extend({ scores: z.array(z.object({ score: z.int(), runs: z.int() })) }),
  bucketSize: z.enum(bucketSizes),
  /** Without gaps, oldest first, at most 400. */
  buckets: z.array(auditBucket),
});
export type AuditSummary = z.infer<typeof auditSummary>;

export const summarizeAudit = defineEndpoint({
  id: 'summarizeAudit',
  method: 'post',
  path: '/window/audit/summary',
  access: 'window',
  tag,
  summary: 'Summarise the runs that match a filter: counts, tokens, cost, latency and feedback, in total and over time',
  body: z.strictObject({
    filter: auditFilter,
    bucketSize: z.enum(bucketSizes).optional(),
    source: auditSource.optional(),
  }),
  response: auditSummary,
});

const counted = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object({ ...shape, runs: z.int() }));

/** Existing values, the most frequent first, at most 200 of each. */
export const auditFacets = z.object({
  runs: z.int(),
  conversations: z.int(),
  firstRunAt: timestamp.nullable(),
  lastRunAt: timestamp.nullable(),
  models: counted({ aiSystem, model: z.string() }),
  /** The caller of runs in the window. */
  windowCallerId: uuid,
  /** `name` is that of the API key or of a sample team, null for any other caller. */
  callers: counted({ callerId: uuid, name: z.string().nullable() }),
  statuses: counted({ status: runStatus }),
  origins: counted({ api: z.enum(originApis) }),
  clients: counted({ client: z.string() }),
  finishReasons: counted({ finishReason: z.string() }),
  errorCodes: counted({ errorCode: z.string() }),
  moderationFlags: counted({ flag: moderationFlag }),
  tags: counted({ tag: z.string() }),
  appHeaders: z.array(z.object({ name: z.string(), values: counted({ value: z.string() }) })),
  promptIds: counted({ promptId: uuid }),
  workspaceIds: counted({ workspaceId: uuid }),
});
export type AuditFacets = z.infer<typeof auditFacets>;

/**
 * How many runs have each value under a filter, the most frequent first. A value counts the runs that match with it: values of one
 * field are alternatives, so a field's own condition is ignored; tags must all be present, so theirs applies.
 */
export const auditFacetCounts = auditFacets
  .pick({
    models: true,
    statuses: true,
    origins: true,
    clients: true,
    finishReasons: true,
    errorCodes: true,
    moderationFlags: true,
    tags: true,
  })
  .extend({ aiSystems: counted({ aiSystem }), callers: counted({ callerId: uuid }) });
export type AuditFacetCounts = z.infer<typeof auditFacetCounts>;

export const countAuditFacets = defineEndpoint({
  id: 'countAuditFacets',
  method: 'post',
  path: '/window/audit/facets',
  access: 'window',
  tag,
  summary: 'Count the runs of each filter value under the other filters',
  body: z.strictObject({ filter: auditFilter, source: auditSource.optional() }),
  response: auditFacetCounts,
});

export const readAuditFacets = defineEndpoint({
  id: 'readAuditFacets',
  method: 'get',
  path: '/window/audit/facets',
  access: 'window',
  tag,
  query: z.strictObject({ source: auditSource.optional() }),
  summary: 'List the models, callers, tags, headers and other values of the recorded runs',
  response: auditFacets,
});
