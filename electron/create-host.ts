import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Capability, HostState } from '../shared/contract/settings.ts';
import { forkChild, type StartChild } from './child-process/child.ts';
import { agentHandlers } from './api/agents.ts';
import type { Api, Handler } from './api/api.ts';
import { auditHandlers } from './api/audit.ts';
import { blindVoteHandlers } from './api/blind-votes.ts';
import { comparisonHandlers } from './api/comparisons.ts';
import { completionHandlers } from './api/completions.ts';
import { conversationHandlers } from './api/conversations.ts';
import { createApi } from './api/create-api.ts';
import { datasetHandlers } from './api/datasets.ts';
import { fileHandlers } from './api/files.ts';
import { judgeHandlers } from './api/judges.ts';
import { knowledgeHandlers } from './api/knowledge.ts';
import { moderationHandlers } from './api/moderation.ts';
import { openApiHandlers } from './api/open-api.ts';
import { passThroughHandlers } from './api/passthrough.ts';
import { promptTransferHandlers } from './api/prompt-transfer.ts';
import { promptHandlers } from './api/prompts.ts';
import { providerHandlers } from './api/providers.ts';
import { logImportHandlers } from './api/log-imports.ts';
import { runHandlers } from './api/runs.ts';
import { reviewHandlers } from './api/reviews.ts';
import { schemaHandlers } from './api/schemas.ts';
import { toolHandlers } from './api/tools.ts';
import { apiKeyHandlers, privacyHandlers, settingsHandlers } from './api/settings.ts';
import { createAgents } from './agents/create-agents.ts';
import { createAuditServices } from './audit/create-audit-services.ts';
import { createCapabilityTests } from './capabilities/create-capability-tests.ts';
import { createCompletions } from './completions/create-completions.ts';
import { type OpenSource, PromptFileLoader } from './completions/load-files.ts';
import { createGuard } from './completions/guard.ts';
import { createCredits } from './credits/credits.ts';
import { createRateLimits } from './credits/rate-limits.ts';
import { warnAboutUnencrypted } from './outgoing-network.ts';
import { createKeyStore } from './key-store/create-key-store.ts';
import { createComparisonServices } from './comparisons/create-comparison-services.ts';
import { createFiles, type Files, type FilesOptions } from './files/create-files.ts';
import { createSourceReader } from './knowledge/parsing/source-reader.ts';
import { createSourceFiles } from './knowledge/source-files.ts';
import { createGrounding } from './knowledge/grounding/create-grounding.ts';
import { createModerationBatches } from './moderation/batches.ts';
import { createModeration, type Moderation } from './moderation/create-moderation.ts';
import { createOnDeviceLanguageModels, type OnDeviceLanguageModels } from './on-device/create-language-models.ts';
import { createEmbeddings, type Embeddings } from './on-device/embeddings.ts';
import { registryAddress } from './on-device/registry-address.ts';
import { storedPromptOf } from './prompts/stored-prompt.ts';
import { createReviewServices } from './reviews/create-review-services.ts';
import { createSchemaChecker } from './schemas/create-schema-checker.ts';
import { createProviderExchanges } from './provider-exchanges/create-provider-exchanges.ts';
import { createPassThrough } from './passthrough/create-passthrough.ts';
import type { OutgoingNetwork } from './outgoing-network.ts';
import { createProviders } from './providers/create-providers.ts';
import { createProviderPauses } from './providers/provider-pauses.ts';
import { openStorage } from './storage/open-storage.ts';
import type { Storage } from './storage/storage.ts';
import { hostPlatform } from './common/host-platform.ts';
import type { Log } from './log.ts';
import { createKnowledge } from './knowledge/create-knowledge.ts';
import { createTeam, type TeamOptions } from './team/create-team.ts';
import { teamHandlers } from './api/team.ts';
import { createTextEmbedders } from './knowledge/text-embedder.ts';
import { createPromptLibrary } from './prompts/create-prompt-library.ts';
import { createConversationThreads } from './agents/conversation-threads.ts';
import type { Completions } from './completions/completions.ts';
import type { KeyStore } from './key-store/key-store.ts';
import { describeStartFailure } from './storage/disk-failure.ts';
import packageFile from '../package.json' with { type: 'json' };

export interface HostOptions extends OutgoingNetwork, Pick<TeamOptions, 'team' | 'teamOfflineMinutes'> {
  readonly dataDirectory: string;
  /** Base addresses by provider name that override the settings, for people behind a gateway. */
  readonly providerBases: Readonly<Record<string, string>>;
  /** Compatible endpoints in addition to those in the settings. */
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
  readonly capabilities: readonly Capability[];
  /** Receives messages for the person who runs the host; never a secret. */
  readonly log: Log;
  /** The platform's keychain by default; tests pass their own. */
  readonly keyStore?: KeyStore;
  /** Starts child processes; Node's `fork` by default. */
  readonly startChild?: StartChild;
  /** Capabilities of this kind of host, such as native dialogs. */
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
  readonly files: Files;
  /** One engine for everything that needs embeddings. */
  readonly embeddings: Embeddings;
  setServer(state: ServerState): void;
  /** Stops every run, which is recorded as cancelled, then closes everything. */
  close(): Promise<void>;
}

function openFiles(
  { dataDirectory, log }: HostOptions,
  storage: Storage,
  inspector: FilesOptions['inspector'],
): Promise<Files> {
  const lastBackupAt = () => {
    const times = storage.listBackups().map(({ createdAt }) => Date.parse(createdAt));
    return times.length === 0 ? null : Math.max(...times);
  };
  return createFiles({
    directory: join(dataDirectory, 'files'),
    store: storage.files,
    inspector,
    windowCallerId: storage.windowCallerId,
    lastBackupAt,
    log,
  });
}

function createSourceOpener({ dataDirectory }: HostOptions, storage: Storage): OpenSource {
  const originals = createSourceFiles(join(dataDirectory, 'sources'));
  return (sourceId) => {
    const source = storage.sources.find(sourceId);
    return source && { ...source, content: createReadStream(originals.path(source.id)) };
  };
}

async function closeInOrder(...groups: readonly (readonly { close(): Promise<void> | void }[])[]): Promise<void> {
  for (const service of groups.flat()) await service.close();
}

type Services = Awaited<ReturnType<typeof createServices>>;

/** What the host does, without the endpoints that reach it. Each service makes its own parts. */
async function createServices(options: HostOptions) {
  const { dataDirectory, startChild = forkChild, log } = options;
  // Linux tests the keychain in a child process, which starts while the database opens.
  const openedKeyStore = options.keyStore ?? createKeyStore({ startChild });
  const storage = openStorage({ directory: dataDirectory });
  const onDevice = createOnDeviceLanguageModels({
    directory: join(dataDirectory, 'models'),
    settings: storage.settings,
    registryAddress,
    startChild,
    log,
  });
  const providers = createProviders({
    ...options,
    cache: storage.providerCache,
    keyStore: await openedKeyStore,
    baseOverrides: options.providerBases,
    endpointOverrides: options.endpoints,
    settings: storage.settings,
    onDevice,
  });
  const team = createTeam({ ...options, storage, keyStore: await openedKeyStore, log });
  const capabilityTests = createCapabilityTests({ store: storage.capabilityTests, providers, log });
  const embeddings = createEmbeddings();
  const moderation = createModeration({ settings: () => storage.settings.read().moderation, providers, embeddings });
  const pauses = createProviderPauses();
  const embedderSettings = () => storage.settings.read().embeddings;
  const embedder = createTextEmbedders({ settings: embedderSettings, embeddings, providers, pauses });
  const reader = createSourceReader({ startChild });
  const knowledge = await createKnowledge({ dataDirectory, storage, embedder, startChild, reader, log });
  const files = await openFiles(options, storage, reader);
  const guard = createGuard({ settings: () => storage.settings.read().guard, classifier: moderation });
  const batches = createModerationBatches({ storage, classifierOf: moderation.classifierOf, log });
  const grounding = createGrounding({ retrieval: knowledge.retrieval, findDataspace: storage.dataspaces.find });
  const exchanges = createProviderExchanges({ store: storage.exchanges, settings: storage.settings, log });
  const schemas = createSchemaChecker();
  const credits = createCredits(team.keys?.leases);
  const allowances = { credits, rateLimits: createRateLimits(), apiKeys: storage.apiKeys };
  const openSource = createSourceOpener(options, storage);
  const completions = createCompletions({
    runs: storage.runs,
    providers,
    ...allowances,
    guard,
    grounding,
    exchanges,
    pauses,
    schemas,
    files: new PromptFileLoader({ files, openSource, windowCallerId: storage.windowCallerId }),
    findElsewhere: team.findConversation,
    storedPromptOf: (request, applicable) => storedPromptOf(request, storage.prompts.findVersion, applicable),
  });
  const passThrough = createPassThrough({ storage, providers, pauses, ...allowances, guard, exchanges, files, log });
  const services = { dataDirectory, storage, providers, grounding, completions, schemas, embeddings, moderation, log };
  const comparing = createComparisonServices({ ...services, ...allowances, team, pauses, files });
  const library = createPromptLibrary({ storage, providers, completions, log });
  const agents = createAgents({
    store: storage.agents,
    turns: storage.turns,
    ...services,
    runs: storage.runs,
    findVersion: storage.prompts.findVersion,
  });
  const audited = { team, keyStore: await openedKeyStore, version: packageFile.version };
  const auditServices = await createAuditServices({ ...options, ...services, ...audited });
  const reviewing = createReviewServices({ ...comparing, storage, team, log });
  return {
    storage,
    team,
    providers,
    reviewing,
    onDevice,
    capabilityTests,
    embeddings,
    moderation,
    guard,
    batches,
    completions,
    passThrough,
    allowances,
    exchanges,
    schemas,
    knowledge,
    files,
    openSource,
    ...comparing,
    ...library,
    agents,
    threads: createConversationThreads({ turns: storage.turns, audit: storage.audit }),
    auditServices,
    /** Stops every run so that it is recorded as cancelled, then closes everything. */
    close: () =>
      closeInOrder(
        [guard, auditServices, library, reviewing, comparing.comparisons, passThrough],
        [completions, schemas, exchanges, batches, moderation],
        [comparing.datasets, files, capabilityTests, knowledge, embeddings, providers, onDevice, team, storage],
      ),
  };
}

/** The endpoints of all services. */
function handlersOf(options: HostOptions, services: Services, hostState: () => HostState): Handler[] {
  const { storage, providers, completions, knowledge, onDevice, allowances } = services;
  const { log } = options;
  const isEmbeddingPaid = () => storage.settings.read().embeddings.kind === 'provider';
  return [
    ...completionHandlers(completions, log),
    ...passThroughHandlers({ ...services, onDeviceFile: onDevice.selectedFileName, reportFailure: log }),
    ...auditHandlers({ audit: storage.audit, team: services.team, services: services.auditServices, log }),
    ...teamHandlers(services.team),
    ...logImportHandlers(services.auditServices.logImports, storage.apiKeys, log),
    ...moderationHandlers({ ...services, ...allowances, log }),
    ...conversationHandlers({ ...storage, team: services.team, reviewers: services.reviewing.reviewers }),
    ...promptTransferHandlers({ ...services, systemOf: providers.systemOf }),
    ...promptHandlers({ ...services, models: providers, log }),
    ...toolHandlers({ ...services, tools: storage.tools }),
    ...agentHandlers({ ...services, models: providers, log }),
    ...fileHandlers(services.files, services.openSource),
    ...datasetHandlers(services.datasets, services.datasetImport, services.runDatasets, services.team),
    ...comparisonHandlers(services.comparisons, log),
    ...blindVoteHandlers(services.comparisons.blindVotes),
    ...judgeHandlers(services.judges, services.comparisons),
    ...reviewHandlers(services.reviewing, storage.rubrics, services.team),
    ...knowledgeHandlers({ knowledge, ...allowances, isEmbeddingPaid, log }),
    ...openApiHandlers(packageFile.version),
    ...providerHandlers(providers, onDevice, services.capabilityTests, log),
    ...runHandlers({ ...services, runs: storage.runs, team: services.team.records, log }),
    ...schemaHandlers({ ...services, runs: storage.runs }),
    ...apiKeyHandlers(storage.apiKeys, allowances.credits),
    ...settingsHandlers(storage, hostState, services.auditServices.traceExport),
    ...privacyHandlers({
      ...options,
      providers,
      isDesktop: options.capabilities.includes('window-controls'),
      collector: services.auditServices.traceExport.collector,
      team: services.team.contactedAddress,
      linkedFolders: () => storage.promptFolders.list().map(({ path }) => path),
    }),
    ...(options.handlers ?? []),
  ];
}

/** Creates the host. The desktop shell and the headless entry point both start here. */
export async function createHost(options: HostOptions): Promise<Host> {
  warnAboutUnencrypted(options);
  const services = await createServices(options).catch((failure: unknown) => {
    throw describeStartFailure(failure) ?? failure;
  });
  const { storage, completions, moderation, onDevice, allowances } = services;

  let server: ServerState = { serverAddress: null, serverFailure: null, protocols: [] };
  const hostState = (): HostState => ({
    ...server,
    version: packageFile.version,
    platform: hostPlatform,
    capabilities: [...options.capabilities],
    dataDirectory: options.dataDirectory,
    databaseBytes: storage.databaseBytes(),
    runs: storage.runs.count(),
  });

  const api = createApi({
    ...storage,
    rateLimits: allowances.rateLimits,
    requireKnownKeys: (key) => services.team.keys?.requireKnown(key),
    noteRejection: services.passThrough.noteRejection,
    reportFailure: options.log,
    handlers: handlersOf(options, services, hostState),
  });

  return {
    api,
    storage,
    onDevice,
    completions,
    moderation,
    files: services.files,
    embeddings: services.embeddings,
    setServer: (state) => {
      server = state;
    },
    close: services.close,
  };
}
