import { z } from 'zod';
import { uuid } from './common.ts';
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

export const promptChange = z.object({
  /** Of prompts and labels since the host started. */
  changes: z.int(),
  /** Prompts deleted since the part before. */
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
