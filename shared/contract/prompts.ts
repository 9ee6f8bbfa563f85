import { z } from 'zod';
import { aiSystem, listOf, listQuery, timestamp, uuid } from './common.ts';
import { citation, configuration, usage, warning } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Prompts';
const notEmpty = 'must not be empty';

const promptName = z.string().min(1, notEmpty).max(300);
const folder = z.string().min(1, notEmpty).max(1000);
const tags = z.array(z.string().min(1, notEmpty).max(100)).max(100);
const description = z.string().max(10_000);

/** What a person fills in. `sampleValue` is only shown; `defaultValue` fills a replacement that a run leaves out. */
const variableInput = z
  .strictObject({
    name: z.string().min(1, notEmpty).max(200),
    description: z.string().max(10_000).nullish(),
    defaultValue: z.string().nullish(),
    sampleValue: z.string().nullish(),
  })
  .meta({ id: 'PromptVariableInput' });

export const promptVariable = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    defaultValue: z.string().nullable(),
    sampleValue: z.string().nullable(),
  })
  .meta({ id: 'PromptVariable' });
export type PromptVariable = z.infer<typeof promptVariable>;

/** Everything that makes a version. A version without a model runs on the first model of ServiceAi. */
const versionFields = {
  promptText: z.string().min(1, notEmpty).describe('Handlebars template'),
  systemMessage: z.string().nullish(),
  aiSystem: aiSystem.nullish().describe('The first provider that has the model, unless given'),
  model: z.string().min(1, notEmpty).max(300).nullish(),
  configuration: configuration.nullish(),
  variables: z.array(variableInput).max(1000).nullish(),
  note: z.string().max(10_000).nullish(),
};

type VersionFields = z.infer<z.ZodObject<typeof versionFields>>;

function requireCoherence(version: Partial<VersionFields>, context: z.RefinementCtx): void {
  if (version.aiSystem && !version.model) {
    context.addIssue({ code: 'custom', path: ['model'], message: 'is required when aiSystem is given' });
  }
  const names = new Set<string>();
  version.variables?.forEach(({ name }, index) => {
    if (names.has(name)) {
      context.addIssue({ code: 'custom', path: ['variables', index, 'name'], message: 'is given more than once' });
    }
    names.add(name);
  });
}

export const promptVersionInput = z
  .strictObject(versionFields)
  .superRefine(requireCoherence)
  .meta({ id: 'PromptVersionInput' });
export type PromptVersionInput = z.infer<typeof promptVersionInput>;

export const promptInput = z
  .strictObject({
    name: promptName,
    folder: folder.nullish(),
    tags: tags.nullish(),
    description: description.nullish(),
    ...versionFields,
  })
  .superRefine(requireCoherence)
  .meta({ id: 'PromptInput', description: 'A prompt with its first version' });
export type PromptInput = z.infer<typeof promptInput>;

export const promptChange = z
  .strictObject({
    name: promptName.optional(),
    folder: folder.nullish(),
    tags: tags.optional(),
    description: description.nullish(),
  })
  .meta({ id: 'PromptChange', description: 'Absent fields stay as they are; null empties one' });
export type PromptChange = z.infer<typeof promptChange>;

export const prompt = z
  .object({
    id: uuid,
    name: z.string(),
    folder: z.string().nullable(),
    tags: z.array(z.string()),
    description: z.string().nullable(),
    latestVersionId: uuid,
    createdAt: timestamp,
    updatedAt: timestamp.describe('When it was changed or got its newest version'),
  })
  .meta({ id: 'Prompt' });
export type Prompt = z.infer<typeof prompt>;

/** A version never changes, and stays readable when its prompt is deleted: runs refer to it. */
export const promptVersion = z
  .object({
    id: uuid,
    promptId: uuid,
    number: z.int().describe('Counts from 1 within its prompt'),
    promptText: z.string(),
    systemMessage: z.string().nullable(),
    aiSystem: aiSystem.nullable(),
    model: z.string().nullable(),
    configuration: z.record(z.string(), z.unknown()).nullable(),
    variables: z.array(promptVariable),
    note: z.string().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'PromptVersion' });
export type PromptVersion = z.infer<typeof promptVersion>;

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
    replacements: z.record(z.string(), z.string()).nullish(),
  })
  .meta({ id: 'PromptRunRequest' });
export type PromptRunRequest = z.infer<typeof promptRunRequest>;

export const runPrompt = defineEndpoint({
  id: 'runPrompt',
  method: 'post',
  path: '/prompts/run',
  access: 'run',
  tag,
  summary: 'Run a stored prompt: its newest version, or the one that is named',
  body: promptRunRequest,
  response: messageAnswer,
  errors: [402, 404, 429, 502, 503, 504],
});

export const listPrompts = defineEndpoint({
  id: 'listPrompts',
  method: 'get',
  path: '/prompts',
  access: 'manage',
  tag,
  summary: 'Prompts, newest first',
  query: listQuery,
  response: listOf(prompt),
});

export const createPrompt = defineEndpoint({
  id: 'createPrompt',
  method: 'post',
  path: '/prompts',
  access: 'manage',
  tag,
  summary: 'Keep a prompt with its first version',
  body: promptInput,
  status: 201,
  response: prompt,
});

export const readPrompt = defineEndpoint({
  id: 'readPrompt',
  method: 'get',
  path: '/prompts/{id}',
  access: 'manage',
  tag,
  summary: 'One prompt; its texts are in its versions',
  parameters: z.object({ id: uuid }),
  response: prompt,
  errors: [404],
});

export const updatePrompt = defineEndpoint({
  id: 'updatePrompt',
  method: 'patch',
  path: '/prompts/{id}',
  access: 'manage',
  tag,
  summary: 'Change what a prompt is called and where it stands; its texts change with a new version',
  parameters: z.object({ id: uuid }),
  body: promptChange,
  response: prompt,
  errors: [404],
});

export const deletePrompt = defineEndpoint({
  id: 'deletePrompt',
  method: 'delete',
  path: '/prompts/{id}',
  access: 'manage',
  tag,
  summary: 'Delete a prompt; its runs keep its ids, and each of its versions stays readable by its own address',
  parameters: z.object({ id: uuid }),
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const listPromptVersions = defineEndpoint({
  id: 'listPromptVersions',
  method: 'get',
  path: '/prompts/{id}/versions',
  access: 'manage',
  tag,
  summary: 'Versions of a prompt, newest first',
  parameters: z.object({ id: uuid }),
  query: listQuery,
  response: listOf(promptVersion),
  errors: [404],
});

export const createPromptVersion = defineEndpoint({
  id: 'createPromptVersion',
  method: 'post',
  path: '/prompts/{id}/versions',
  access: 'manage',
  tag,
  summary: 'Add a version, which becomes the newest one',
  parameters: z.object({ id: uuid }),
  body: promptVersionInput,
  status: 201,
  response: promptVersion,
  errors: [404],
});

export const readPromptVersion = defineEndpoint({
  id: 'readPromptVersion',
  method: 'get',
  path: '/prompts/{id}/versions/{versionId}',
  access: 'manage',
  tag,
  summary: 'One version, also of a deleted prompt',
  parameters: z.object({ id: uuid, versionId: uuid }),
  response: promptVersion,
  errors: [404],
});
