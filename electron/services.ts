import { join } from 'node:path';
import { createAgents } from './agents/create-agents.ts';
import { createAuditServices } from './audit/create-audit-services.ts';
import { forkChild, type StartChild } from './child-process/child.ts';
import type { Completions } from './completions/completions.ts';
import { createCompletions } from './completions/create-completions.ts';
import { createGuard } from './completions/guard.ts';
import { createCredits } from './credits/credits.ts';
import { createRateLimits } from './credits/rate-limits.ts';
import { createKeyStore } from './key-store/create-key-store.ts';
import { createGrounding } from './knowledge/grounding/create-grounding.ts';
import { createModerationBatches } from './moderation/batches.ts';
import { createModeration } from './moderation/create-moderation.ts';
import { createOnDeviceLanguageModels } from './on-device/create-language-models.ts';
import { createEmbeddings, type Embeddings } from './on-device/embeddings.ts';
import { registryAddress } from './on-device/registry-address.ts';
import { createPrompts } from './prompts/create-prompts.ts';
import { createPromptChanges, noticeChanges } from './prompts/prompt-changes.ts';
import { storedPromptOf } from './prompts/stored-prompt.ts';
import { createPromptFolders } from './prompts/folder/create-prompt-folders.ts';
import { createPromptReader } from './prompts/transfer/create-prompt-reader.ts';
import { createUploadStore } from './prompts/transfer/upload-store.ts';
import { createProviderExchanges } from './provider-exchanges/create-provider-exchanges.ts';
import { createProviders, type Providers } from './providers/create-providers.ts';
import { openStorage } from './storage/open-storage.ts';
import type { Storage } from './storage/storage.ts';
import type { HostOptions } from './create-host.ts';
import type { Log } from './log.ts';
import { createKnowledge, type Knowledge } from './knowledge/create-knowledge.ts';
import { createKnowledgeIndex } from './knowledge/index/create-knowledge-index.ts';
import { createSourceReader } from './knowledge/parsing/source-reader.ts';
import { createRetrieval, type Retrieval } from './knowledge/retrieval/create-retrieval.ts';
import { createSourceFiles } from './knowledge/source-files.ts';
import { createTextEmbedders } from './knowledge/text-embedder.ts';
import packageFile from '../package.json' with { type: 'json' };

interface KnowledgeServices {
  readonly knowledge: Knowledge;
  readonly retrieval: Retrieval;
  close(): Promise<void>;
}

interface KnowledgeServicesOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'dataspaces' | 'sources' | 'settings'>;
  readonly embeddings: Embeddings;
  readonly providers: Pick<Providers, 'provider' | 'endpointProvider'>;
  readonly startChild: StartChild;
  readonly log: Log;
}

/** Dataspaces, their sources, and the search in them, with the threads that read and index. */
async function createKnowledgeServices(options: KnowledgeServicesOptions): Promise<KnowledgeServices> {
  const { dataDirectory, storage, embeddings, providers, startChild, log } = options;
  const settings = () => storage.settings.read().embeddings;
  const embedder = createTextEmbedders({ settings, embeddings, providers });
  const index = createKnowledgeIndex({ directory: dataDirectory });
  const reader = createSourceReader({ startChild });
  const sourceName = (id: string) => storage.sources.find(id)?.name ?? null;
  const pagesOf = createSourceFiles(join(dataDirectory, 'sources')).readPages;
  const retrieval = createRetrieval({ index, embedder, sourceName, pagesOf, log });
  const knowledge = await createKnowledge({ dataDirectory, storage, reader, index, embedder, log });
  // Which sources are outdated follows from the choice of the embedding model.
  const unsubscribe = storage.settings.subscribe(knowledge.refresh);
  return {
    knowledge,
    retrieval,
    async close() {
      unsubscribe();
      await knowledge.close();
      await reader.close();
      await index.close();
    },
  };
}

interface PromptServicesOptions {
  readonly storage: Storage;
  readonly providers: Providers;
  readonly completions: Completions;
  readonly log: Log;
}

/** The library with what changes it: the API, imports and linked folders. */
function createPromptServices({ storage, providers, completions, log }: PromptServicesOptions) {
  const promptChanges = createPromptChanges();
  const keptPrompts = noticeChanges(
    createPrompts({ store: storage.prompts, draftRuns: storage.draftRuns, providers, completions }),
    promptChanges.changed,
  );
  const reader = createPromptReader();
  const uploads = createUploadStore();
  const folders = createPromptFolders({
    store: storage.promptFolders,
    prompts: keptPrompts,
    reader,
    systemOf: providers.systemOf,
    log,
  });
  return {
    prompts: noticeChanges(keptPrompts, folders.promptsChanged),
    promptChanges,
    reader,
    uploads,
    folders,
    async close(): Promise<void> {
      uploads.close();
      await folders.close();
      await reader.close();
    },
  };
}

/** All that the service does, without the endpoints through which it is reached. */
export async function createServices(options: HostOptions) {
  const { dataDirectory, startChild = forkChild, log } = options;
  const storage = openStorage({ directory: dataDirectory });
  const onDevice = createOnDeviceLanguageModels({
    directory: join(dataDirectory, 'models'),
    settings: storage.settings,
    registryAddress,
    startChild,
    log,
  });
  const providers = createProviders({
    memory: storage.providerMemory,
    keyStore: options.keyStore ?? (await createKeyStore({ startChild })),
    environment: options.environment,
    baseOverrides: options.providerBases,
    endpointOverrides: options.endpoints,
    settings: storage.settings,
    onDevice,
  });
  const embeddings = createEmbeddings();
  const moderation = createModeration({ settings: () => storage.settings.read().moderation, providers, embeddings });
  const knowledgeServices = await createKnowledgeServices({
    dataDirectory,
    storage,
    embeddings,
    providers,
    startChild,
    log,
  });
  const { knowledge, retrieval } = knowledgeServices;
  const guard = createGuard({ settings: () => storage.settings.read().guard, classifier: moderation });
  const batches = createModerationBatches({ storage, classifierOf: moderation.classifierOf, log });
  const grounding = createGrounding({ retrieval, findDataspace: storage.dataspaces.find });
  const exchanges = createProviderExchanges({ store: storage.exchanges, settings: storage.settings, log });
  const allowances = { credits: createCredits(), rateLimits: createRateLimits(), apiKeys: storage.apiKeys };
  const completions = createCompletions({
    runs: storage.runs,
    providers,
    ...allowances,
    guard,
    grounding,
    exchanges,
    storedPromptOf: (request, applicable) => storedPromptOf(request, storage.prompts.findVersion, applicable),
  });
  const promptServices = createPromptServices({ storage, providers, completions, log });
  const agents = createAgents({
    store: storage.agents,
    turns: storage.turns,
    providers,
    completions,
    grounding,
    findVersion: storage.prompts.findVersion,
  });
  const auditWork = await createAuditServices({
    dataDirectory,
    storage,
    completions,
    providers,
    version: packageFile.version,
    log,
  });

  return {
    storage,
    providers,
    onDevice,
    embeddings,
    moderation,
    guard,
    batches,
    completions,
    allowances,
    exchanges,
    knowledge,
    retrieval,
    ...promptServices,
    agents,
    auditWork,
    /** Stops every run so that it is recorded as cancelled, then closes everything. */
    async close(): Promise<void> {
      await auditWork.close();
      await promptServices.close();
      await completions.close();
      await exchanges.close();
      await batches.close();
      await moderation.close();
      await knowledgeServices.close();
      await embeddings.close();
      await providers.close();
      await onDevice.close();
      await storage.close();
    },
  };
}
