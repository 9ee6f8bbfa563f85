import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { searchWords } from './prompts.ts';
import { toolFunction, toolMock } from './tools.ts';

const tag = 'Tools';

const maxWords = 20;

export const toolInput = z
  .strictObject({
    name: toolFunction.shape.name.describe('Unique in the library'),
    description: z.string().max(10_000).nullish(),
    parameters: toolFunction.shape.parameters,
    strict: toolFunction.shape.strict,
    mock: toolMock.nullish(),
    note: z.string().max(10_000).nullish(),
  })
  .meta({ id: 'ToolInput', description: 'A version of a tool' });
export type ToolInput = z.infer<typeof toolInput>;

/** What identifies a tool in a list. Its schema and its mock, which may be large, are in its versions. */
export const tool = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().nullable(),
    mockKind: z.enum(['fixed', 'lookUp', 'recorded']).nullable().describe('Null if a person enters each result'),
    latestVersionId: uuid,
    latestVersionNumber: z.int(),
    createdAt: timestamp,
    updatedAt: timestamp.describe('When it got its newest version'),
  })
  .meta({ id: 'Tool' });
export type Tool = z.infer<typeof tool>;

export const toolVersion = z
  .object({
    id: uuid,
    toolId: uuid,
    number: z.int().describe('Counts from 1 within its tool'),
    name: z.string(),
    description: z.string().nullable(),
    parameters: z.record(z.string(), z.unknown()).describe('JSON schema of the arguments'),
    strict: z.boolean().nullable(),
    mock: toolMock.nullable(),
    note: z.string().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'ToolVersion' });
export type ToolVersion = z.infer<typeof toolVersion>;

const promptUse = z
  .object({
    kind: z.literal('prompt'),
    id: uuid.describe('Of the prompt'),
    name: z.string(),
    versionId: uuid,
    versionNumber: z.int(),
    isLatest: z.boolean().describe('Whether it is the newest version of its prompt'),
  })
  .meta({ id: 'ToolUseByPrompt' });

const agentUse = z
  .object({ kind: z.literal('agent'), id: uuid.describe('Of the agent'), name: z.string() })
  .meta({ id: 'ToolUseByAgent' });

export const toolUse = z
  .discriminatedUnion('kind', [promptUse, agentUse])
  .meta({ id: 'ToolUse', description: 'A prompt version or an agent that offers the tool' });
export type ToolUse = z.infer<typeof toolUse>;

export const toolListQuery = listQuery.extend({
  search: z
    .string()
    .max(500)
    .refine((search) => searchWords(search).length <= maxWords, `must not have more than ${maxWords} words`)
    .optional()
    .describe(
      'Tools whose name or description contains every word. Parts of words count, case and accents make no difference, and "in quotation marks" is one word',
    ),
});

const toolAddress = z.object({ id: uuid });

export const listTools = defineEndpoint({
  id: 'listTools',
  method: 'get',
  path: '/tools',
  access: 'manage',
  tag,
  summary: 'List tools',
  description: 'Tools that match the search, newest first.',
  query: toolListQuery,
  response: listOf(tool),
});

export const createTool = defineEndpoint({
  id: 'createTool',
  method: 'post',
  path: '/tools',
  access: 'manage',
  tag,
  summary: 'Create a tool with its first version',
  description: 'The name must be unused in the library, and `parameters` a valid JSON schema.',
  body: toolInput,
  status: 201,
  response: tool,
});

export const readTool = defineEndpoint({
  id: 'readTool',
  method: 'get',
  path: '/tools/{id}',
  access: 'manage',
  tag,
  summary: 'Read a tool',
  description: 'Its schema and its mock are in its versions.',
  parameters: toolAddress,
  response: tool,
  errors: [404],
});

export const deleteTool = defineEndpoint({
  id: 'deleteTool',
  method: 'delete',
  path: '/tools/{id}',
  access: 'manage',
  tag,
  summary: 'Delete a tool and its versions',
  description: 'Prompts that have the tool keep it.',
  parameters: toolAddress,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const listToolVersions = defineEndpoint({
  id: 'listToolVersions',
  method: 'get',
  path: '/tools/{id}/versions',
  access: 'manage',
  tag,
  summary: 'List the versions of a tool',
  description: 'Newest first.',
  parameters: toolAddress,
  query: listQuery,
  response: listOf(toolVersion),
  errors: [404],
});

export const listToolUses = defineEndpoint({
  id: 'listToolUses',
  method: 'get',
  path: '/tools/{id}/uses',
  access: 'manage',
  tag,
  summary: 'List the prompt versions and agents with a tool',
  description:
    'Those whose `configuration.tools` has a function with a name that a version of the tool has, unless the name is now that of another ' +
    'tool. They have copies, which may have been changed. Newest first, without deleted prompts.',
  parameters: toolAddress,
  query: listQuery,
  response: listOf(toolUse),
  errors: [404],
});

export const createToolVersion = defineEndpoint({
  id: 'createToolVersion',
  method: 'post',
  path: '/tools/{id}/versions',
  access: 'manage',
  tag,
  summary: 'Add a version to a tool',
  description: 'The new version becomes the newest and may rename the tool. Versions never change.',
  parameters: toolAddress,
  body: toolInput,
  status: 201,
  response: toolVersion,
  errors: [404],
});

export const readToolVersion = defineEndpoint({
  id: 'readToolVersion',
  method: 'get',
  path: '/tools/{id}/versions/{versionId}',
  access: 'manage',
  tag,
  summary: 'Read a version of a tool',
  description: 'Returns its schema and its mock.',
  parameters: z.object({ id: uuid, versionId: uuid }),
  response: toolVersion,
  errors: [404],
});
