import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { labelName } from './prompts.ts';

const tag = 'Prompts';

/** A name, such as `production`, for one version of a prompt at a time; programs run it without knowing the version. */
export const promptLabel = z
  .object({
    label: z.string(),
    promptId: uuid,
    promptVersionId: uuid,
    versionNumber: z.int(),
    updatedAt: timestamp.describe('When it was set to this version'),
  })
  .meta({ id: 'PromptLabel' });
export type PromptLabel = z.infer<typeof promptLabel>;

export const promptLabelInput = z
  .strictObject({
    promptVersionId: uuid,
    previousVersionId: uuid
      .nullish()
      .describe(
        'The version that it is moved away from, null for a label that is new: 409 when it points elsewhere. Absent: whatever it was',
      ),
  })
  .meta({ id: 'PromptLabelInput' });
export type PromptLabelInput = z.infer<typeof promptLabelInput>;

export const promptLabelChange = z
  .object({
    label: z.string(),
    previousVersionId: uuid.nullable().describe('Null when the label was new'),
    promptVersionId: uuid.nullable().describe('Null when the label was removed'),
    changedAt: timestamp,
  })
  .meta({ id: 'PromptLabelChange' });
export type PromptLabelChange = z.infer<typeof promptLabelChange>;

const labelAddress = z.object({ id: uuid, label: labelName });

export const readPromptLabel = defineEndpoint({
  id: 'readPromptLabel',
  method: 'get',
  path: '/prompts/{id}/labels/{label}',
  access: 'manage',
  tag,
  summary: 'Read a label',
  description: 'Returns the version that the label points at.',
  parameters: labelAddress,
  response: promptLabel,
  errors: [404],
});

export const setPromptLabel = defineEndpoint({
  id: 'setPromptLabel',
  method: 'put',
  path: '/prompts/{id}/labels/{label}',
  access: 'manage',
  tag,
  summary: 'Point a label at a version',
  description:
    'Creates the label or moves it from another version. With `previousVersionId`, the response is 409 if somebody else moved it in the meantime.',
  parameters: labelAddress,
  body: promptLabelInput,
  response: promptLabel,
  errors: [404, 409],
});

export const removePromptLabel = defineEndpoint({
  id: 'removePromptLabel',
  method: 'delete',
  path: '/prompts/{id}/labels/{label}',
  access: 'manage',
  tag,
  summary: 'Remove a label',
  description: 'The history of the label is kept.',
  parameters: labelAddress,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const listPromptLabelChanges = defineEndpoint({
  id: 'listPromptLabelChanges',
  method: 'get',
  path: '/prompts/{id}/label-changes',
  access: 'manage',
  tag,
  summary: "List the changes of a prompt's labels",
  description: 'Every time a label was set, moved or removed, newest first.',
  parameters: z.object({ id: uuid }),
  query: listQuery,
  response: listOf(promptLabelChange),
  errors: [404],
});
