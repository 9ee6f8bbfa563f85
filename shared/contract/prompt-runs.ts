import { z } from 'zod';
import { uuid } from './common.ts';
import { citation, usage, warning } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { labelName } from './prompts.ts';

/** What a run of a stored prompt or of an agent answers when it is not streamed. */
export const messageAnswer = z
  .object({
    message: z.string().describe('The generated text'),
    messageId: uuid,
    runId: uuid,
    conversationId: uuid,
    usage,
    citations: z.array(citation).optional(),
    warnings: z.array(warning).optional(),
  })
  .meta({ id: 'MessageAnswer' });
export type MessageAnswer = z.infer<typeof messageAnswer>;

export const promptRunRequest = z
  .strictObject({
    promptId: uuid,
    promptVersionId: uuid.nullish().describe('The newest version, unless given'),
    label: labelName.nullish().describe('The version that this label of the prompt points at'),
    replacements: z.record(z.string(), z.string()).nullish(),
  })
  .superRefine(({ promptVersionId, label }, context) => {
    if (!promptVersionId || !label) return;
    context.addIssue({ code: 'custom', path: ['label'], message: 'must not be given together with promptVersionId' });
  })
  .meta({ id: 'PromptRunRequest' });
export type PromptRunRequest = z.infer<typeof promptRunRequest>;

export const runPrompt = defineEndpoint({
  id: 'runPrompt',
  method: 'post',
  path: '/prompts/run',
  access: 'run',
  tag: 'Prompts',
  summary: 'Run a stored prompt',
  description:
    'Runs the newest version, the version named by `promptVersionId`, or the version that a label points at.',
  body: promptRunRequest,
  response: messageAnswer,
  errors: [402, 404, 429, 502, 503, 504],
});
