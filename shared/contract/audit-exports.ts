import { z } from 'zod';
import { auditFilter, auditSource } from './audit.ts';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: evidence packs';

/** The columns of a pack, in the order of its files. */
export const exportColumns = [
  'conversationId',
  'conversationName',
  'runId',
  'messageId',
  'matched',
  'createdAt',
  'completedAt',
  'status',
  'callerId',
  'workspaceId',
  'promptId',
  'promptVersionId',
  'aiSystem',
  'model',
  'servedBy',
  'originApi',
  'originClient',
  'httpStatus',
  'importId',
  'systemMessage',
  'promptText',
  'replacements',
  'renderedPrompt',
  'messages',
  'content',
  'toolCalls',
  'reasoning',
  'finishReason',
  'errorCode',
  'errorMessage',
  'configuration',
  'dataspaceIds',
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'cost',
  'pricesFrom',
  'rawUsage',
  'firstTokenMs',
  'totalMs',
  'appHeaders',
  'metadata',
  'callerSupplied',
  'citations',
  'warnings',
  'moderationFlags',
  'moderation',
  'feedbackScore',
  'feedbackText',
  'feedbackTags',
  'feedbackAt',
  'feedbackHistory',
] as const;
export const exportColumn = z.enum(exportColumns);
export type ExportColumn = z.infer<typeof exportColumn>;

/** Columns with text from people or models, to which rules are applied. */
export const redactedColumns = [
  'conversationName',
  'originClient',
  'systemMessage',
  'promptText',
  'replacements',
  'renderedPrompt',
  'messages',
  'content',
  'toolCalls',
  'reasoning',
  'errorMessage',
  'configuration',
  'appHeaders',
  'rawUsage',
  'metadata',
  'citations',
  'warnings',
  'moderation',
  'feedbackText',
  'feedbackTags',
  'feedbackHistory',
] as const satisfies readonly ExportColumn[];

const replacement = z
  .string()
  .max(200)
  .optional()
  .describe('Put in place of each match; by default `[e-mail]` and so on');

/**
 * `secret` are keys and tokens in known forms, private keys, and values that the text calls a password, a key or a token.
 * `card` numbers must pass the Luhn check and `account` numbers (IBAN) their check digits; `account` also includes numbers that the
 * text calls an account.
 */
export const redactionRule = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('secret'), replacement }),
  z.strictObject({ kind: z.literal('email'), replacement }),
  z.strictObject({ kind: z.literal('phone'), replacement }),
  z.strictObject({ kind: z.literal('card'), replacement }),
  z.strictObject({ kind: z.literal('account'), replacement }),
  z.strictObject({
    kind: z.literal('pattern'),
    name: z.string().trim().min(1, 'must not be empty').max(100),
    /** RE2 syntax: no back references, no look-around, linear time. A pattern that matches the empty text is 400. */
    pattern: z.string().min(1, 'must not be empty').max(1000),
    /** False by default. */
    isCaseSensitive: z.boolean().optional(),
    replacement,
  }),
]);
export type RedactionRule = z.infer<typeof redactionRule>;

const replacements = {
  secret: '[key]',
  email: '[e-mail]',
  phone: '[phone]',
  card: '[card]',
  account: '[account]',
} as const;

/** What a rule leaves in place of a text. */
export function replacementOf(rule: RedactionRule): string {
  return rule.replacement ?? (rule.kind === 'pattern' ? `[${rule.name}]` : replacements[rule.kind]);
}

/** The conversations of a pack: those that match a filter, or the listed ones; by default of this device. */
export const exportSelection = z.union([
  z.strictObject({ filter: auditFilter, source: auditSource.optional() }),
  z.strictObject({
    conversationIds: z.array(uuid).min(1, 'must not be empty').max(10_000),
    source: auditSource.optional(),
  }),
]);
export type ExportSelection = z.infer<typeof exportSelection>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const exportFormats = ['html', 'jsonl', 'csv'] as const;
export const exportFormat = z.enum(exportFormats);
export type ExportFormat = z.infer<typeof exportFormat>;

export const auditExportInput = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(200).optional(),
  selection: exportSelection,
  /** `matched` leaves out non-matching runs of a conversation; `all` by default. */
  runs: z.enum(['all', 'matched']).optional(),
  /** Any order; the files have the order of `exportColumns`. */
  columns: z.array(exportColumn).min(1, 'must not be empty').max(exportColumns.length),
  /** Applied to every text one after the other: `account`, `card`, `email`, `phone`, then custom patterns in their order. */
  rules: z.array(redactionRule).max(50),
  formats: z.array(exportFormat).min(1, 'must not be empty').max(exportFormats.length),
  form: z.enum(['folder', 'zip']),
  /** Adds the files of prompts unchanged: rules apply to texts only. By default true if there are no rules. */
  files: z.boolean().optional(),
  /** IANA name of the time zone of the HTML pages, such as `Europe/Berlin`; that of the host by default. */
  timeZone: z.string().max(100).refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin').optional(),
});
export type AuditExportInput = z.infer<typeof auditExportInput>;

export const exportStates = ['running', 'stopped', 'completed', 'failed'] as const;

export const auditExport = z.object({
  id: uuid,
  name: z.string(),
  state: z.enum(exportStates),
  /** The current step; null for an inactive pack, or while another pack is being written. */
  step: z.enum(['selecting', 'writing', 'checking', 'packing']).nullable(),
  /** Why it failed and what to do; null if it did not fail. */
  failure: z.string().nullable(),
  createdAt: timestamp,
  completedAt: timestamp.nullable(),
  conversationsDone: z.int(),
  /** Conversations in the pack; 0 until they are selected. */
  conversationsTotal: z.int(),
  runsDone: z.int(),
  /** Bytes written so far; for a completed pack the sum of its files. */
  bytes: z.int(),
  /** The number of each rule's matches, in the order of the rules. */
  replaced: z.array(z.int()),
  selection: exportSelection,
  runs: z.enum(['all', 'matched']),
  columns: z.array(exportColumn),
  rules: z.array(redactionRule),
  formats: z.array(exportFormat),
  form: z.enum(['folder', 'zip']),
  /** Files of a completed pack as in its folder; a zip is one file. */
  files: z.array(z.object({ name: z.string(), bytes: z.int(), sha256: z.string() })),
});
export type AuditExport = z.infer<typeof auditExport>;

export const auditExportList = z.object({ data: z.array(auditExport) });

const exportParameters = z.object({ id: uuid });

/** One match of a rule. */
const redactionSample = z.object({
  conversationId: uuid,
  runId: uuid,
  column: exportColumn,
  /** The text before the match, the match, its replacement, and the text after it. */
  before: z.string(),
  found: z.string(),
  replacement: z.string(),
  after: z.string(),
});

export const redactionPreview = z.object({
  /** The content of the selection. */
  conversations: z.int(),
  runs: z.int(),
  /** The number of checked runs, which are the first of the pack. */
  examinedRuns: z.int(),
  /** One for each rule, in their order. */
  rules: z.array(z.object({ count: z.int(), runs: z.int(), samples: z.array(redactionSample) })),
});
export type RedactionPreview = z.infer<typeof redactionPreview>;

export const previewRedaction = defineEndpoint({
  id: 'previewRedaction',
  method: 'post',
  path: '/window/audit/exports/preview',
  access: 'window',
  tag,
  summary: 'Preview redaction on the first runs of a selection: counts and at most ten samples per rule',
  body: z.strictObject({
    selection: exportSelection,
    runs: z.enum(['all', 'matched']).optional(),
    columns: z.array(exportColumn).min(1).max(exportColumns.length),
    rules: z.array(redactionRule).max(50),
  }),
  response: redactionPreview,
});

export const createAuditExport = defineEndpoint({
  id: 'createAuditExport',
  method: 'post',
  path: '/window/audit/exports',
  access: 'window',
  tag,
  summary: 'Create an evidence pack of the current runs',
  body: auditExportInput,
  status: 202,
  response: auditExport,
});

export const listAuditExports = defineEndpoint({
  id: 'listAuditExports',
  method: 'get',
  path: '/window/audit/exports',
  access: 'window',
  tag,
  summary: 'List evidence packs, newest first',
  response: auditExportList,
});

export const followAuditExports = defineEndpoint({
  id: 'followAuditExports',
  method: 'get',
  path: '/window/audit/exports/events',
  access: 'window',
  tag,
  summary: 'Send the list again whenever it changes, at most five times a second',
  kinds: ['event-stream'],
  part: auditExportList,
});

export const stopAuditExport = defineEndpoint({
  id: 'stopAuditExport',
  method: 'post',
  path: '/window/audit/exports/{id}/stop',
  access: 'window',
  tag,
  summary: 'Stop a pack; it can be resumed',
  parameters: exportParameters,
  response: auditExport,
  errors: [404],
});

export const resumeAuditExport = defineEndpoint({
  id: 'resumeAuditExport',
  method: 'post',
  path: '/window/audit/exports/{id}/resume',
  access: 'window',
  tag,
  summary: 'Resume a stopped or failed pack',
  parameters: exportParameters,
  status: 202,
  response: auditExport,
  errors: [404],
});

export const deleteAuditExport = defineEndpoint({
  id: 'deleteAuditExport',
  method: 'delete',
  path: '/window/audit/exports/{id}',
  access: 'window',
  tag,
  summary: 'Stop a pack if it is running and delete its files',
  parameters: exportParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const downloadAuditExport = defineEndpoint({
  id: 'downloadAuditExport',
  method: 'get',
  path: '/window/audit/exports/{id}/download',
  access: 'window',
  tag,
  summary: 'Download a complete pack as one zip file, even if it was written as a folder',
  parameters: exportParameters,
  kinds: ['file'],
  errors: [404, 409],
});
