import { z } from 'zod';
import { uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: schemas';

const answerError = z.object({
  /** JSON pointer into the answer. */
  path: z.string(),
  /** The end of a sentence, such as "must be a string". */
  message: z.string(),
});
export type AnswerError = z.infer<typeof answerError>;

export const answerCheck = z.object({
  /** `unchecked`: the check reached its limit of time or memory. `none`: the run has no schema or no complete answer. */
  outcome: z.enum(['valid', 'invalid', 'not-json', 'invalid-schema', 'unchecked', 'none']),
  /** Why there are no errors to show; null for `valid`, `invalid` and `none`. */
  reason: z.string().nullable(),
  /** At most 100. */
  errors: z.array(answerError),
  errorCount: z.int(),
});
export type AnswerCheck = z.infer<typeof answerCheck>;

export const checkSchema = defineEndpoint({
  id: 'checkSchema',
  method: 'post',
  path: '/window/schema-check',
  access: 'window',
  tag,
  summary: 'Check a JSON schema',
  body: z.object({ schema: z.record(z.string(), z.unknown()) }),
  response: z.object({
    /** Null for a valid schema; `pointer` is a JSON pointer into it. */
    issue: z.object({ pointer: z.string(), issue: z.string() }).nullable(),
  }),
});

export const checkRunAnswer = defineEndpoint({
  id: 'checkRunAnswer',
  method: 'get',
  path: '/window/runs/{id}/schema-check',
  access: 'window',
  tag,
  summary: 'Check the stored answer of a run against the schema of its response_format',
  parameters: z.object({ id: uuid }),
  response: answerCheck,
  errors: [404],
});

const toolCallCheck = answerCheck.extend({
  /** Whether the run's configuration has the tool, or may have it: the names of a provider's own tools are unknown. */
  isKnownTool: z.boolean(),
});
export type ToolCallCheck = z.infer<typeof toolCallCheck>;

export const checkRunToolCalls = defineEndpoint({
  id: 'checkRunToolCalls',
  method: 'get',
  path: '/window/runs/{id}/tool-call-check',
  access: 'window',
  tag,
  summary: "Check the arguments of a run's tool calls against the schemas of its tools",
  parameters: z.object({ id: uuid }),
  /** In the order of the calls. */
  response: z.object({ calls: z.array(toolCallCheck) }),
  errors: [404],
});
