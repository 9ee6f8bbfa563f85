import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

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
