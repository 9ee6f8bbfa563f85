import { z } from 'zod';
import { retention } from './audit-data.ts';
import { redactionRule } from './audit-exports.ts';
import { aiSystem, recordLevel } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { defaultModerationSettings, guard, moderationSettings } from './moderation.ts';
import { traceExportSettings } from './trace-export.ts';
import { providerExchangeSettings } from './provider-exchanges.ts';

/** Providers of embeddings. */
export const embeddingProviders = ['OpenAi', 'GoogleGemini', 'Cohere', 'OpenAiCompatible'] as const;
export type EmbeddingProvider = (typeof embeddingProviders)[number];

/**
 * The provider of embeddings for passages and queries. Another choice makes existing sources outdated: they are found by keywords
 * only until they are indexed again. A provider receives every passage and every query.
 */
export const embeddingSettings = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('on-device') }),
  z.strictObject({
    kind: z.literal('provider'),
    aiSystem: z.enum(embeddingProviders),
    /** The provider's name for it; `<endpoint>/<model>` for `OpenAiCompatible`. */
    model: z.string().trim().min(1).max(300),
  }),
]);
export type EmbeddingSettings = z.infer<typeof embeddingSettings>;

const tag = 'Window: settings and host';

/** The service's own models, with the names of the specification. */
export const serviceModels = ['hl-gpt-4o-mini', 'hl-gpt-4.1-mini'] as const;
export type ServiceModel = (typeof serviceModels)[number];

/** Route of a service model. */
export const serviceRoute = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('on-device') }),
  z.strictObject({
    kind: z.literal('provider'),
    aiSystem: aiSystem.exclude(['ServiceAi']),
    model: z.string().min(1),
  }),
]);
export type ServiceRoute = z.infer<typeof serviceRoute>;

/** US dollars per million tokens. */
const tokenPrice = z.number().min(0, 'must be 0 or more').max(100_000, 'must be 100,000 or less');

/** The price of a model of a compatible endpoint. The catalogue has no prices for these. */
export const endpointPrice = z.strictObject({
  /** `<endpoint>/<model>`, as in a request. */
  model: z
    .string()
    .regex(/^[^/]+\/./, 'must be <endpoint>/<model>')
    .max(500),
  inputPrice: tokenPrice,
  outputPrice: tokenPrice,
});
export type EndpointPrice = z.infer<typeof endpointPrice>;

export const settings = z.strictObject({
  serviceRoutes: z.strictObject({ 'hl-gpt-4o-mini': serviceRoute, 'hl-gpt-4.1-mini': serviceRoute }),
  /** Prices of models of compatible endpoints; a model that isn't listed has no known price. */
  endpointPrices: z
    .array(endpointPrice)
    .max(5000)
    .refine((prices) => new Set(prices.map(({ model }) => model)).size === prices.length, 'must list each model once'),
  timeLimits: z.strictObject({
    /** Seconds until a provider's first byte. */
    firstByteSeconds: z.number().positive().max(3600),
    /** Seconds between two chunks of a provider's response. */
    betweenBytesSeconds: z.number().positive().max(3600),
  }),
  /** The network listener of the desktop host; the headless host always listens. */
  localServer: z.strictObject({
    isEnabled: z.boolean(),
    /** 0 uses a free port at every start. */
    port: z.int().min(0).max(65535),
    isTls: z.boolean(),
  }),
  appearance: z.strictObject({ theme: z.enum(['system', 'light', 'dark']) }),
  /** File name of the selected on-device model; null until one is installed. */
  onDeviceModel: z.string().nullable(),
  /** What happens to old runs. */
  retention,
  /** The guard's action on prompts and answers of completions. */
  guard,
  /** The classifier and the scores from which texts are flagged. */
  moderation: moderationSettings,
  embeddings: embeddingSettings,
  /** The runs whose raw request to the provider and response are stored. */
  providerExchanges: providerExchangeSettings,
  /** The record of other programs' calls. */
  recorder: z.strictObject({
    /** Nothing is recorded, whatever the levels are. */
    isPaused: z.boolean(),
    /** What is recorded of each API; a key or a call can only have less. */
    levels: z.strictObject({
      'openai-chat': recordLevel,
      'openai-responses': recordLevel,
      'openai-embeddings': recordLevel,
      'anthropic-messages': recordLevel,
      'gemini-content': recordLevel,
    }),
    /** Applied to texts before they are written to disk. */
    redaction: z.array(redactionRule).max(50),
    /** What happens to a call that can't be recorded: it goes through, or it fails. */
    onFailure: z.enum(['pass', 'block']),
  }),
  /** What the recorder's earlier rules, which are off or deleted now, left in place of texts. The host adds to it. */
  redactionMarks: z.array(z.string().max(200)).max(200),
  /** The collector of OpenTelemetry that gets the runs. */
  traceExport: traceExportSettings,
  /** Whether the desktop application checks its update server for newer versions. */
  updates: z.strictObject({ isEnabled: z.boolean() }),
});
export type Settings = z.infer<typeof settings>;

export const defaultSettings: Settings = {
  serviceRoutes: { 'hl-gpt-4o-mini': { kind: 'on-device' }, 'hl-gpt-4.1-mini': { kind: 'on-device' } },
  endpointPrices: [],
  timeLimits: { firstByteSeconds: 60, betweenBytesSeconds: 30 },
  localServer: { isEnabled: false, port: 4117, isTls: false },
  appearance: { theme: 'system' },
  onDeviceModel: null,
  retention: { mode: 'off', days: 365 },
  guard: { prompts: 'off', answers: 'off' },
  moderation: defaultModerationSettings,
  embeddings: { kind: 'on-device' },
  providerExchanges: { keep: 'newest' },
  recorder: {
    isPaused: false,
    levels: {
      'openai-chat': 'all',
      'openai-responses': 'all',
      'openai-embeddings': 'metadata',
      'anthropic-messages': 'all',
      'gemini-content': 'all',
    },
    redaction: [],
    onFailure: 'pass',
  },
  redactionMarks: [],
  traceExport: { address: null, hasContent: false },
  updates: { isEnabled: false },
};

export const readSettings = defineEndpoint({
  id: 'readSettings',
  method: 'get',
  path: '/window/settings',
  access: 'window',
  tag,
  summary: 'All settings',
  response: settings,
});

export const updateSettings = defineEndpoint({
  id: 'updateSettings',
  method: 'patch',
  path: '/window/settings',
  access: 'window',
  tag,
  summary: 'Change one or more groups of settings; a group is replaced as a whole',
  body: settings.omit({ redactionMarks: true }).partial(),
  response: settings,
});

/** Capabilities of the host. The window checks a capability, never the kind of host. */
export const capabilities = [
  'native-dialogs',
  'window-controls',
  'local-server-switch',
  'open-folder',
  /** The application has a menu that the window can open. On a Mac the menu is always in view. */
  'application-menu',
  /** The operating system opens `touchstone:` links with this application. */
  'app-links',
  /** The operating system opens `.prompt` files with this application. */
  'prompt-files',
  /** The application can check an update server for newer versions, if its build has one. */
  'updates',
] as const;
export type Capability = (typeof capabilities)[number];

/** Details of the running host. */
export const hostState = z.object({
  version: z.string(),
  platform: z.enum(['linux', 'darwin', 'win32']),
  capabilities: z.array(z.enum(capabilities)),
  dataDirectory: z.string(),
  /** Bytes of the database with its log. */
  databaseBytes: z.int(),
  runs: z.int(),
  /** The network address of the API, null while the local server is off. */
  serverAddress: z.string().nullable(),
  /** Why the local server couldn't start; null if it runs or is off. */
  serverFailure: z.string().nullable(),
  protocols: z.array(z.string()),
});
export type HostState = z.infer<typeof hostState>;

export const readHost = defineEndpoint({
  id: 'readHost',
  method: 'get',
  path: '/window/host',
  access: 'window',
  tag,
  summary: 'The host: version, data folder, address',
  response: hostState,
});

export const createBackup = defineEndpoint({
  id: 'createBackup',
  method: 'post',
  path: '/window/backups',
  access: 'window',
  tag,
  summary: 'Write a consistent copy of the database into the data folder',
  status: 201,
  response: z.object({ fileName: z.string(), bytes: z.int() }),
});

export const listBackups = defineEndpoint({
  id: 'listBackups',
  method: 'get',
  path: '/window/backups',
  access: 'window',
  tag,
  summary: 'Copies in the data folder, newest first',
  response: z.object({ data: z.array(z.object({ fileName: z.string(), bytes: z.int(), createdAt: z.string() })) }),
});

export const restoreBackup = defineEndpoint({
  id: 'restoreBackup',
  method: 'post',
  path: '/window/backups/{fileName}/restore',
  access: 'window',
  tag,
  summary: 'Restore a backup at the next start; the current database becomes a backup',
  parameters: z.object({ fileName: z.string().regex(/^[\w.-]+\.sqlite$/) }),
  status: 202,
  response: z.object({ fileName: z.string() }),
  errors: [404, 409],
});
