import { z } from 'zod';
import { aiSystem, keyedProvider, timestamp } from './common.ts';
import { namedParameters } from './completions.ts';
import { fileKinds } from '../file-kinds.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: providers and models';

/** The result of the last test of a key or an endpoint. The test only fetches the list of models and costs nothing. */
export const providerTest = z.object({
  testedAt: timestamp,
  outcome: z.enum(['ok', 'refused', 'unreachable', 'silent', 'failed']),
  milliseconds: z.number(),
  models: z.int(),
  /** HTTP status of the provider's response, null if there was none. */
  status: z.int().nullable(),
  /** What it means and how to fix it; null after a success. */
  message: z.string().nullable(),
});
export type ProviderTest = z.infer<typeof providerTest>;

/** Paths are added at its end, and keys have their own headers. */
export const baseAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2000)
  .regex(/^[^/]*\/\/[^/?#@\\]*(?:\/[^?#]*)?$/, 'must have no query, fragment, user name or password');

const keySource = z.enum(['keychain', 'memory', 'environment']).nullable();
/** Why the keychain entry of the key can't be read and how to fix it; null if it can, or doesn't exist. */
const keyFailure = z.string().nullable();

/** Nothing is sent to an address until the user has confirmed it in the window. */
export const addressConfirmation = z.object({
  /** Scheme, host and port of the current address. */
  origin: z.string(),
  /** The origin that the key was entered for; null if that isn't known, or without a key. */
  keyOrigin: z.string().nullable(),
  /** The source of the key that would be sent; null without one. */
  keySource,
});
export type AddressConfirmation = z.infer<typeof addressConfirmation>;

/** A provider as the window sees it: whether it has a key and from where, never the key itself. */
export const providerState = z.object({
  aiSystem: keyedProvider,
  /** Null also for a key that isn't sent before `confirmation` or can't be read. */
  keySource,
  keyFailure,
  confirmation: addressConfirmation.nullable(),
  /** The current address, the provider's own by default. */
  baseAddress: z.string(),
  isBaseAddressDefault: z.boolean(),
  /** Page where users get a key. */
  keyPage: z.string(),
  lastTest: providerTest.nullable(),
});
export type ProviderState = z.infer<typeof providerState>;

/** An OpenAI-compatible endpoint; its models are written `<name>/<model>`. */
export const compatibleEndpoint = z.object({
  name: z.string(),
  baseAddress: z.string(),
  /** Null also for a key that isn't sent before `confirmation` or can't be read. */
  keySource,
  keyFailure,
  confirmation: addressConfirmation.nullable(),
  lastTest: providerTest.nullable(),
});
export type CompatibleEndpoint = z.infer<typeof compatibleEndpoint>;

const endpointName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores');

const keyText = z
  .string()
  .min(1, 'must not be empty')
  .max(10_000)
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces');

const providerParameters = z.object({ aiSystem: keyedProvider });
const endpointParameters = z.object({ name: endpointName });

export const listProviders = defineEndpoint({
  id: 'listProviders',
  method: 'get',
  path: '/window/providers',
  access: 'window',
  tag,
  summary: 'Providers with the state of their keys',
  response: z.object({
    data: z.array(providerState),
    /** Display name of the keychain; null if keys are only in memory until the host ends. */
    keychain: z.string().nullable(),
  }),
});

export const setProviderKey = defineEndpoint({
  id: 'setProviderKey',
  method: 'put',
  path: '/window/providers/{aiSystem}/key',
  access: 'window',
  tag,
  summary: 'Keep a key in the keychain',
  parameters: providerParameters,
  body: z.strictObject({ key: keyText }),
  response: providerState,
});

export const removeProviderKey = defineEndpoint({
  id: 'removeProviderKey',
  method: 'delete',
  path: '/window/providers/{aiSystem}/key',
  access: 'window',
  tag,
  summary: 'Remove a key from the keychain',
  parameters: providerParameters,
  status: 204,
  kinds: ['empty'],
});

export const updateProvider = defineEndpoint({
  id: 'updateProvider',
  method: 'patch',
  path: '/window/providers/{aiSystem}',
  access: 'window',
  tag,
  summary: "Set a provider's base address; null is its own",
  parameters: providerParameters,
  body: z.strictObject({ baseAddress: baseAddress.nullable() }),
  response: providerState,
});

/** The origin that the user saw. An address that has changed meanwhile isn't confirmed. */
export const confirmationBody = z.strictObject({ origin: z.string().min(1, 'must not be empty').max(2000) });

export const confirmProviderAddress = defineEndpoint({
  id: 'confirmProviderAddress',
  method: 'post',
  path: '/window/providers/{aiSystem}/confirmation',
  access: 'window',
  tag,
  summary: "Let the provider's key be sent to the origin of its present address",
  parameters: providerParameters,
  body: confirmationBody,
  response: providerState,
  errors: [409],
});

export const testProvider = defineEndpoint({
  id: 'testProvider',
  method: 'post',
  path: '/window/providers/{aiSystem}/test',
  access: 'window',
  tag,
  summary: 'Ask the provider for its list of models and keep the list',
  parameters: providerParameters,
  response: providerState,
  errors: [404],
});

export const listEndpoints = defineEndpoint({
  id: 'listEndpoints',
  method: 'get',
  path: '/window/endpoints',
  access: 'window',
  tag,
  summary: 'Compatible endpoints, and detected local ones that were not added',
  response: z.object({
    data: z.array(compatibleEndpoint),
    found: z.array(z.object({ name: z.string(), baseAddress: z.string(), models: z.int() })),
  }),
});

export const endpointInput = z.strictObject({ name: endpointName, baseAddress, key: keyText.nullish() });

export const addEndpoint = defineEndpoint({
  id: 'addEndpoint',
  method: 'post',
  path: '/window/endpoints',
  access: 'window',
  tag,
  summary: 'Add a compatible endpoint',
  body: endpointInput,
  status: 201,
  response: compatibleEndpoint,
  errors: [409],
});

export const updateEndpoint = defineEndpoint({
  id: 'updateEndpoint',
  method: 'patch',
  path: '/window/endpoints/{name}',
  access: 'window',
  tag,
  summary: 'Change the address or the key; a null key removes it',
  parameters: endpointParameters,
  body: z.strictObject({ baseAddress: baseAddress.optional(), key: keyText.nullish() }),
  response: compatibleEndpoint,
  errors: [404],
});

export const removeEndpoint = defineEndpoint({
  id: 'removeEndpoint',
  method: 'delete',
  path: '/window/endpoints/{name}',
  access: 'window',
  tag,
  summary: 'Remove an endpoint and its key',
  parameters: endpointParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const confirmEndpointAddress = defineEndpoint({
  id: 'confirmEndpointAddress',
  method: 'post',
  path: '/window/endpoints/{name}/confirmation',
  access: 'window',
  tag,
  summary: 'Let prompts and the key be sent to the origin of the present address',
  parameters: endpointParameters,
  body: confirmationBody,
  response: compatibleEndpoint,
  errors: [404, 409],
});

export const testEndpoint = defineEndpoint({
  id: 'testEndpoint',
  method: 'post',
  path: '/window/endpoints/{name}/test',
  access: 'window',
  tag,
  summary: 'Ask the endpoint for its list of models and keep the list',
  parameters: endpointParameters,
  response: compatibleEndpoint,
  errors: [404],
});

/** A model for the picker. Unknown details are null, never guessed. */
export const model = z.object({
  aiSystem,
  /** The value of `model` in a request. */
  name: z.string(),
  title: z.string(),
  /** Its source: the bundled catalogue, the provider's own list, the user, or this device. */
  origin: z.enum(['catalogue', 'provider', 'user', 'service']),
  /** Tokens of prompt and answer together. */
  contextTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  /** US dollars per million tokens. */
  inputPrice: z.number().nullable(),
  outputPrice: z.number().nullable(),
  cachedInputPrice: z.number().nullable(),
  /** Of audio in the prompt; null where it costs as much as text. */
  audioInputPrice: z.number().nullable(),
  /** Prices of every token of a request with a longer prompt; null where its length doesn't matter. */
  longPrompt: z
    .object({
      aboveTokens: z.int(),
      inputPrice: z.number(),
      outputPrice: z.number(),
      cachedInputPrice: z.number().nullable(),
    })
    .nullable(),
  /** Whether its provider counts the tokens of a prompt on request. */
  canCountTokens: z.boolean(),
  capabilities: z.array(z.enum(['reasoning', 'tools', 'images', 'structured-output', 'open-weights'])),
  /** Kinds of files that it supports, as far as that is known. Text files are sent as text. */
  fileKinds: z.array(z.enum(fileKinds)),
  /** Whether it gets tools, as far as that is known. */
  callsTools: z.boolean(),
  /** The named parameters that it supports; others are dropped with a warning, `reason` says why. */
  parameters: z.array(
    z.object({
      name: z.enum(namedParameters),
      isAccepted: z.boolean(),
      /** Why it isn't supported; null if it is. */
      reason: z.string().nullable(),
      /** The supported values, if there are few (`reasoning_effort`). */
      values: z.array(z.string()).nullable(),
    }),
  ),
  /** Date (`YYYY-MM-DD`) on which the provider shuts it down or did. */
  shutdownDate: z.iso.date().nullable(),
  hasEnded: z.boolean(),
  /** The successor that the provider recommends, one of its own models. */
  replacement: z.string().nullable(),
  /** Whether it can run now: a key is set, or the model is on this device. */
  isReady: z.boolean(),
  /** The route of a service model, `<aiSystem>/<model>`; null for all others. */
  servedBy: z.string().nullable(),
});
export type Model = z.infer<typeof model>;

export const listModels = defineEndpoint({
  id: 'listModels',
  method: 'get',
  path: '/window/models',
  access: 'window',
  tag,
  summary: 'Every model of every provider, with facts and readiness',
  response: z.object({ data: z.array(model) }),
});

export const addModel = defineEndpoint({
  id: 'addModel',
  method: 'post',
  path: '/window/models',
  access: 'window',
  tag,
  summary: 'Make a name valid that neither the catalogue nor the provider lists',
  body: z.strictObject({ aiSystem, model: z.string().min(1, 'must not be empty').max(300) }),
  status: 201,
  response: model,
  errors: [409],
});

export const removeModel = defineEndpoint({
  id: 'removeModel',
  method: 'delete',
  path: '/window/models',
  access: 'window',
  tag,
  summary: 'Remove a model that the user added',
  body: z.strictObject({ aiSystem, model: z.string().min(1) }),
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
