import { z } from 'zod';
import { aiSystem, listOf, listQuery, timestamp, uuid } from './common.ts';
import { configuration } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Prompts';
const notEmpty = 'must not be empty';

const promptName = z.string().min(1, notEmpty).max(300);
const folder = z.string().min(1, notEmpty).max(1000);
const tags = z.array(z.string().min(1, notEmpty).max(100)).max(100);
const description = z.string().max(10_000);

/** `latest` always means the newest version, so no label can have this name. */
export const labelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be 1 to 100 letters, digits, dots, hyphens and underscores')
  .refine(
    (label) => label.toLowerCase() !== 'latest',
    'must not be "latest": a run without a label takes the newest version',
  );

/** A variable of a prompt. `sampleValue` is only shown; `defaultValue` replaces a value that a run omits. */
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

/** The content of a version. A version without a model uses the first model of ServiceAi. */
const versionFields = {
  promptText: z.string().min(1, notEmpty).describe('Handlebars template; dotprompt roles make it several messages'),
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
    latestVersion: z
      .object({ number: z.int(), aiSystem: aiSystem.nullable(), model: z.string().nullable() })
      .describe('Null for a model is the first one of ServiceAi'),
    labels: z.array(z.object({ label: z.string(), promptVersionId: uuid })).describe('By name'),
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

const maxWords = 20;

/** Terms of a search; a quoted phrase is one term. */
export function searchWords(search: string): string[] {
  return [...search.matchAll(/"([^"]+)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

export const promptListQuery = listQuery.extend({
  search: z
    .string()
    .max(500)
    .refine((search) => searchWords(search).length <= maxWords, `must not have more than ${maxWords} words`)
    .optional()
    .describe(
      'Prompts that contain every word: in their name, folder, tags, description or labels, or in the text, system message, model, ' +
        'variables or note of any of their versions (of each version, the first 65,536 characters). Parts of words are found; case and accents ' +
        'make no difference; "in quotation marks" is one word',
    ),
  searchIn: z
    .enum(['everything', 'details'])
    .optional()
    .describe('details: only what the prompt itself says, none of its versions'),
  folder: z
    .string()
    .max(1000)
    .optional()
    .describe('Prompts in it and in the folders below it; empty for those without a folder'),
  tags: z
    .string()
    .max(2000)
    .optional()
    .describe('Separated by commas (a comma within a tag is written `\\,`); prompts that have all of them'),
});

export const listPrompts = defineEndpoint({
  id: 'listPrompts',
  method: 'get',
  path: '/prompts',
  access: 'manage',
  tag,
  summary: 'List prompts',
  description: 'Prompts that match the search, the folder and all tags, newest first.',
  query: promptListQuery,
  response: listOf(prompt),
});

export const createPrompt = defineEndpoint({
  id: 'createPrompt',
  method: 'post',
  path: '/prompts',
  access: 'manage',
  tag,
  summary: 'Create a prompt with its first version',
  description: "The body has the prompt's details and, at the same level, the fields of its first version.",
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
  summary: 'Read a prompt',
  description: "Returns the prompt's details and its labels. The texts are in its versions.",
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
  summary: "Change a prompt's name, folder, tags or description",
  description: 'Absent fields are unchanged. To change the text, add a version.',
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
  summary: 'Delete a prompt',
  description: 'Runs keep the ids of the prompt and its versions, and each version stays readable at its own address.',
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
  summary: 'List the versions of a prompt',
  description: 'Newest first.',
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
  summary: 'Add a version to a prompt',
  description: 'The new version becomes the newest. Versions never change.',
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
  summary: 'Read a version of a prompt',
  description: 'Also works for versions of a deleted prompt.',
  parameters: z.object({ id: uuid, versionId: uuid }),
  response: promptVersion,
  errors: [404],
});
