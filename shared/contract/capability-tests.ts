import { z } from 'zod';
import { aiSystem, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Capability tests';

/** What a provider can do through Touchstone, in the order of the tables. */
export const capabilities = [
  'text',
  'stop',
  'usage',
  'cache',
  'reasoning',
  'schema',
  'tool',
  'parallel-tools',
  'streamed-tools',
  'images',
  'pdf',
  'citations',
] as const;
export type Capability = (typeof capabilities)[number];

export const capabilityNames: Readonly<Record<Capability, string>> = {
  text: 'Text',
  stop: 'Stop sequences',
  usage: 'Token counts',
  cache: 'Cached tokens',
  reasoning: 'Reasoning',
  schema: 'JSON schemas',
  tool: 'Tool call',
  'parallel-tools': 'Parallel tool calls',
  'streamed-tools': 'Streamed tool calls',
  images: 'Images',
  pdf: 'PDF files',
  citations: 'Citations',
};

export const capabilityResult = z.object({
  capability: z.enum(capabilities),
  outcome: z
    .enum(['yes', 'no', 'not-offered'])
    .describe('`not-offered`: the model or its API does not have it, so nothing was sent'),
  reason: z.string().nullable().describe('Why not; null for `yes`'),
});
export type CapabilityResult = z.infer<typeof capabilityResult>;

const target = {
  aiSystem,
  model: z.string().min(1, 'must not be empty').max(300),
};

export const capabilityTest = z
  .object({
    id: uuid,
    ...target,
    servedBy: z
      .string()
      .optional()
      .describe('What answered: a built-in model may run on this device. Absent in tests of earlier versions'),
    state: z
      .enum(['Running', 'Stopped', 'Failed', 'Completed'])
      .describe('`Failed`: the provider rejected the key or did not respond, so the rest was not sent'),
    message: z.string().nullable().describe('Why it failed'),
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
    requests: z.int().describe('Requests of the whole test'),
    done: z.int().describe('Requests that were answered'),
    results: z.array(capabilityResult),
    cost: z.number().nullable().describe('US dollars so far; null if the price of the model is unknown'),
  })
  .meta({ id: 'CapabilityTest' });
export type CapabilityTest = z.infer<typeof capabilityTest>;

export const capabilityTestRequest = z.strictObject(target).meta({ id: 'CapabilityTestRequest' });

export const estimateCapabilityTest = defineEndpoint({
  id: 'estimateCapabilityTest',
  method: 'post',
  path: '/capability-tests/estimate',
  access: 'manage',
  tag,
  summary: 'Estimate the requests and the cost of a capability test',
  description: 'Sends nothing.',
  body: capabilityTestRequest,
  response: z
    .object({
      requests: z.int(),
      maxCost: z.number().nullable().describe('US dollars at most; null if the price of the model is unknown'),
    })
    .meta({ id: 'CapabilityTestEstimate' }),
});

export const startCapabilityTest = defineEndpoint({
  id: 'startCapabilityTest',
  method: 'post',
  path: '/capability-tests',
  access: 'manage',
  tag,
  summary: 'Test what a model can do, with a few small requests to its provider',
  description:
    'The provider bills the requests. The test runs in the background. It replaces the previous test of the same provider; 409 while that is running.',
  body: capabilityTestRequest,
  status: 201,
  response: capabilityTest,
  errors: [409],
});

export const listCapabilityTests = defineEndpoint({
  id: 'listCapabilityTests',
  method: 'get',
  path: '/capability-tests',
  access: 'manage',
  tag,
  summary: 'List the last capability test of each provider',
  description: 'Newest first.',
  response: z.object({ data: z.array(capabilityTest) }).meta({ id: 'CapabilityTests' }),
});

export const readCapabilityTest = defineEndpoint({
  id: 'readCapabilityTest',
  method: 'get',
  path: '/capability-tests/{id}',
  access: 'manage',
  tag,
  summary: 'Read a capability test',
  description: 'Returns its progress and the results so far.',
  parameters: z.object({ id: uuid }),
  response: capabilityTest,
  errors: [404],
});

export const stopCapabilityTest = defineEndpoint({
  id: 'stopCapabilityTest',
  method: 'post',
  path: '/capability-tests/{id}/stop',
  access: 'manage',
  tag,
  summary: 'Stop a capability test',
  description: 'The results so far are kept.',
  parameters: z.object({ id: uuid }),
  response: capabilityTest,
  errors: [404],
});
