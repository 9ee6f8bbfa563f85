import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { citation, usage, warning } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { fileForms, fileId, pageResolutions } from './files.ts';
import { toolCall } from './tools.ts';
import { labelName } from './prompts.ts';

/** The response of a stored prompt or an agent without streaming. */
export const messageAnswer = z
  .object({
    message: z.string().describe('The generated text'),
    toolCalls: z.array(toolCall).optional().describe('Present if the model called tools'),
    messageId: uuid,
    runId: uuid,
    conversationId: uuid,
    usage,
    citations: z.array(citation).optional(),
    warnings: z.array(warning).optional(),
  })
  .meta({ id: 'MessageAnswer' });
export type MessageAnswer = z.infer<typeof messageAnswer>;

const fileOptions = {
  as: z.enum(fileForms).optional(),
  pages: z.string().optional(),
  resolution: z.enum(pageResolutions).optional(),
};
const file = z
  .union([
    z.strictObject({ fileId, ...fileOptions }),
    z.strictObject({ sourceId: uuid, ...fileOptions }),
    z.strictObject({ mediaType: z.string(), data: z.string(), ...fileOptions }),
  ])
  .meta({ id: 'FileReplacement', description: 'A file for `{{media}}`' });

export const promptRunRequest = z
  .strictObject({
    promptId: uuid,
    promptVersionId: uuid.nullish().describe('The newest version, unless given'),
    label: labelName.nullish().describe('The version that this label of the prompt points at'),
    replacements: z
      .record(
        z.string(),
        z.union([z.string(), file, z.array(file)], 'must be a text, or a file or list of files for {{media}}'),
      )
      .nullish(),
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

export const promptOutline = z
  .object({
    prompts: z.int(),
    withoutFolder: z.int(),
    folders: z
      .array(z.object({ folder: z.string(), prompts: z.int() }))
      .describe('By name, each after the one that it is in; with the prompts in it and below it'),
    tags: z.array(z.object({ tag: z.string(), prompts: z.int() })).describe('By name'),
  })
  .meta({ id: 'PromptOutline' });
export type PromptOutline = z.infer<typeof promptOutline>;

export const readPromptOutline = defineEndpoint({
  id: 'readPromptOutline',
  method: 'get',
  path: '/prompts/outline',
  access: 'manage',
  tag: 'Prompts',
  summary: 'Read the folders and tags of the library',
  description: 'Each with the number of prompts that have it.',
  response: promptOutline,
});

export const promptChange = z.object({
  /** Changes of prompts and labels since the host started. */
  changes: z.int(),
  /** Prompts deleted since the previous part. */
  removedIds: z.array(uuid),
});
export type PromptChange = z.infer<typeof promptChange>;

export const followPrompts = defineEndpoint({
  id: 'followPrompts',
  method: 'get',
  path: '/window/prompts/events',
  access: 'window',
  tag: 'Prompts',
  summary: 'How often prompts and labels have changed, now and after each change',
  kinds: ['event-stream'],
  part: promptChange,
});

const tag = 'Prompts';

/** A name, such as `production`, that points to one version of a prompt; API clients run it without knowing the version. */
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
        'The version that it points to now, null for a new label: 409 if it points elsewhere. Absent: not checked',
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

/** Statistics of a version's stored runs. Averages are null if no run has the value. */
export const promptVersionUsage = z
  .object({
    promptVersionId: uuid,
    versionNumber: z.int(),
    runs: z.int(),
    lastRunAt: timestamp.nullable(),
    averageScore: z.number().nullable().describe('Of the runs that were given a score, -10 to 10'),
    scoredRuns: z.int(),
    averageCost: z.number().nullable().describe('In US dollars, of the runs whose price is known'),
    averageMs: z.number().nullable().describe('From the request to the end of the answer'),
  })
  .meta({ id: 'PromptVersionUsage' });
export type PromptVersionUsage = z.infer<typeof promptVersionUsage>;

export const listPromptUsage = defineEndpoint({
  id: 'listPromptUsage',
  method: 'get',
  path: '/prompts/{id}/usage',
  access: 'manage',
  tag: 'Prompts',
  summary: 'List the usage of each version of a prompt',
  description: 'Runs, scores, cost and durations per version, newest version first.',
  parameters: z.object({ id: uuid }),
  query: listQuery,
  response: listOf(promptVersionUsage),
  errors: [404],
});

export const countDraftRuns = defineEndpoint({
  id: 'countDraftRuns',
  method: 'post',
  path: '/window/prompts/{id}/versions/{versionId}/draft-runs',
  access: 'window',
  tag: 'Window: prompts',
  summary: 'Count the earlier runs of a draft for the version saved from it',
  description:
    'Runs of the draft that sent the same text, system message, model and parameters become runs of the version. Runs of another version are unchanged. Returns how many were added; a repeated call adds none.',
  parameters: z.object({ id: uuid, versionId: uuid }),
  body: z.strictObject({ draftId: z.string().min(1, 'must not be empty').max(100) }),
  response: z.object({ runs: z.int() }),
  errors: [404],
});
