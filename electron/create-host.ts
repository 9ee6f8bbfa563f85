import { join } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import type { Capability, HostState } from '../shared/contract/settings.ts';
import { createAgents } from './agents/create-agents.ts';
import { agentHandlers } from './api/agents.ts';
import type { Api } from './api/api.ts';
import { apiKeyHandlers } from './api/api-keys.ts';
import { auditExportHandlers } from './api/audit-exports.ts';
import { auditReplayHandlers } from './api/audit-replay.ts';
import { auditRetentionHandlers } from './api/audit-retention.ts';
import { auditSampleHandlers } from './api/audit-samples.ts';
import { auditHandlers } from './api/audit.ts';
import { completionHandlers } from './api/completions.ts';
import { conversationHandlers } from './api/conversations.ts';
import { createApi } from './api/create-api.ts';
import { dataspaceHandlers } from './api/dataspaces.ts';
import type { Handler } from './api/handler.ts';
import { knowledgeWindowHandlers } from './api/knowledge-window.ts';
import { onDeviceHandlers } from './api/on-device.ts';
import { groundingHandlers } from './api/grounding.ts';
import { moderationWindowHandlers } from './api/moderation-window.ts';
import { moderationHandlers } from './api/moderation.ts';
import { openApiHandlers } from './api/open-api.ts';
import { promptFolderHandlers } from './api/prompt-folders.ts';
import { promptTransferHandlers } from './api/prompt-transfer.ts';
import { promptHandlers } from './api/prompts.ts';
import { providerHandlers } from './api/providers.ts';
import { runHandlers } from './api/runs.ts';
import { settingsHandlers } from './api/settings.ts';
import { sourceHandlers } from './api/sources.ts';
import { createAuditWork } from './audit/create-audit-work.ts';
import { createCompletions, type Completions } from './completions/create-completions.ts';
import { createGuard } from './completions/guard.ts';
import { createCredits } from './credits/credits.ts';
import { createKeyStore } from './key-store/create-key-store.ts';
import type { KeyStore } from './key-store/key-store.ts';
import { createKnowledgeWork } from './knowledge/create-knowledge-work.ts';
import { createGrounding } from './knowledge/grounding/create-grounding.ts';
import { createModerationBatches } from './moderation/batches.ts';
import { createModeration, type Moderation } from './moderation/create-moderation.ts';
import { createOnDeviceLanguageModels } from './on-device/create-language-models.ts';
import { createEmbeddings, type Embeddings } from './on-device/embeddings.ts';
import type { OnDeviceLanguageModels } from './on-device/language-model.ts';
import { registryAddress } from './on-device/registry-address.ts';
import { createPrompts } from './prompts/create-prompts.ts';
import { storedPromptOf } from './prompts/stored-prompt.ts';
import { createPromptFolders } from './prompts/folder/create-prompt-folders.ts';
import { noticeChanges } from './prompts/folder/notice-changes.ts';
import { createPromptReader } from './prompts/transfer/create-prompt-reader.ts';
import { createUploadShelf } from './prompts/transfer/upload-shelf.ts';
import { createProviders } from './providers/create-providers.ts';
import { openStorage } from './storage/open-storage.ts';
import type { Storage } from './storage/storage.ts';

export interface HostOptions {
  readonly dataDirectory: string;
  /** Base addresses by provider name that win over the settings, for people behind a gateway. */
  readonly providerBases: Readonly<Record<string, string>>;
  /** Compatible endpoints beside those in the settings. */
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
  readonly capabilities: readonly Capability[];
  /** Where provider keys may come from when no keychain holds them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told what a person who runs the host should know; never a secret. */
  readonly log: (message: string, error?: unknown) => void;
  /** The keychain unless told; tests bring their own. */
  readonly keyStore?: KeyStore;
  /** What only this kind of host can answer, such as native dialogs. */
  readonly handlers?: readonly Handler[];
}

/** State of the network listener, as the window shows it. */
export type ServerState = Pick<HostState, 'serverAddress' | 'serverFailure' | 'protocols'>;

/** The running service, without sockets and without a window. */
export interface Host {
  readonly api: Api;
  readonly storage: Storage;
  readonly onDevice: OnDeviceLanguageModels;
  readonly completions: Completions;
  readonly moderation: Moderation;
  /** One engine for all that needs embeddings. */
  readonly embeddings: Embeddings;
  setServer(state: ServerState): void;
  /** Stops every run so that it is recorded as cancelled, then closes everything. */
  close(): Promise<void>;
}

/** Puts the service together. The desktop shell and the headless entry point both start here. */
export async function createHost(options: HostOptions): Promise<Host> {
  const storage = openStorage({ directory: options.dataDirectory });
  const onDevice = createOnDeviceLanguageModels({
    directory: join(options.dataDirectory, 'models'),
    settings: storage.settings,
    registryAddress,
    log: options.log,
  });
  const providers = createProviders({
    memory: storage.providerMemory,
    keyStore: options.keyStore ?? (await createKeyStore()),
    environment: options.environment,
    baseOverrides: options.providerBases,
    endpointOverrides: options.endpoints,
    settings: storage.settings,
    onDevice,
  });
  const embeddings = createEmbeddings();
  const moderation = createModeration({
    settings: () => storage.settings.read().moderation,
    providers,
    embeddings,
  });
  const { dataDirectory, log } = options;
  const knowledgeWork = await createKnowledgeWork({ dataDirectory, storage, embeddings, log });
  const { knowledge, retrieval } = knowledgeWork;
  const guard = createGuard({ settings: () => storage.settings.read().guard, classifier: moderation });
  const { classifierOf } = moderation;
  const batches = createModerationBatches({ storage, classifierOf, log: options.log });
  const grounding = createGrounding({ retrieval, findDataspace: storage.dataspaces.find });
  const completions = createCompletions({
    runs: storage.runs,
    providers,
    credits: createCredits(),
    guard,
    grounding,
    storedPromptOf: (request, applicable) => storedPromptOf(request, storage.prompts.findVersion, applicable),
  });
  const keptPrompts = createPrompts({ store: storage.prompts, providers, completions });
  const reader = createPromptReader();
  const uploads = createUploadShelf();
  const folders = createPromptFolders({
    store: storage.promptFolders,
    prompts: keptPrompts,
    reader,
    systemOf: providers.systemOf,
    log: options.log,
  });
  const prompts = noticeChanges(keptPrompts, folders.promptsChanged);
  const agents = createAgents({ store: storage.agents, turns: storage.turns, providers, completions });
  const auditWork = await createAuditWork({
    dataDirectory: options.dataDirectory,
    storage,
    completions,
    providers,
    version: packageFile.version,
    log: options.log,
  });

  let server: ServerState = { serverAddress: null, serverFailure: null, protocols: [] };
  const hostState = (): HostState => ({
    ...server,
    version: packageFile.version,
    platform: process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux',
    capabilities: [...options.capabilities],
    dataDirectory: options.dataDirectory,
    databaseBytes: storage.databaseBytes(),
    runs: storage.runs.count(),
  });

  const api = createApi({
    apiKeys: storage.apiKeys,
    windowCallerId: storage.windowCallerId,
    reportFailure: options.log,
    handlers: [
      ...completionHandlers(completions, options.log),
      ...groundingHandlers(completions, options.log),
      ...auditHandlers(storage.audit),
      ...auditExportHandlers(auditWork.exports, options.log),
      ...auditSampleHandlers(auditWork.samples),
      ...auditRetentionHandlers(auditWork.retention),
      ...auditReplayHandlers(auditWork.replays, options.log),
      ...moderationHandlers(moderation),
      ...moderationWindowHandlers({ batches, guard, classifierOf, log: options.log }),
      ...conversationHandlers(storage.audit),
      ...promptFolderHandlers(folders, options.log),
      ...promptTransferHandlers({ prompts, reader, uploads, systemOf: providers.systemOf }),
      ...promptHandlers(prompts, options.log),
      ...agentHandlers(agents, options.log),
      ...dataspaceHandlers(knowledge.dataspaces, retrieval),
      ...sourceHandlers(knowledge.sources),
      ...knowledgeWindowHandlers(knowledge, options.log),
      ...openApiHandlers(packageFile.version),
      ...providerHandlers(providers),
      ...runHandlers(storage.runs, completions, options.log),
      ...onDeviceHandlers(onDevice, options.log),
      ...apiKeyHandlers(storage.apiKeys),
      ...settingsHandlers(storage, hostState),
      ...(options.handlers ?? []),
    ],
  });

  return {
    api,
    storage,
    onDevice,
    completions,
    moderation,
    embeddings,
    setServer: (state) => {
      server = state;
    },
    close: async () => {
      await auditWork.close();
      uploads.close();
      await folders.close();
      await reader.close();
      await completions.close();
      await batches.close();
      await moderation.close();
      await knowledgeWork.close();
      await embeddings.close();
      await providers.close();
      await onDevice.close();
      await storage.close();
    },
  };
}
