import { isUnencrypted } from '../shared/address-safety.ts';
import type { Capability, HostState } from '../shared/contract/settings.ts';
import type { StartChild } from './child-process/child.ts';
import { createConversationThreads } from './agents/conversation-threads.ts';
import { agentHandlers, agentThreadHandlers } from './api/agents.ts';
import type { Api, Handler } from './api/api.ts';
import { apiKeyHandlers, privacyHandlers, settingsHandlers } from './api/settings.ts';
import {
  auditExportHandlers,
  auditHandlers,
  auditReplayHandlers,
  auditRetentionHandlers,
  auditSampleHandlers,
} from './api/audit.ts';
import { completionHandlers, groundingHandlers } from './api/completions.ts';
import { conversationHandlers } from './api/conversations.ts';
import { createApi } from './api/create-api.ts';
import { dataspaceHandlers, knowledgeWindowHandlers, sourceHandlers } from './api/knowledge.ts';
import { onDeviceHandlers, providerHandlers } from './api/providers.ts';
import { moderationHandlers, moderationWindowHandlers } from './api/moderation.ts';
import { openApiHandlers } from './api/open-api.ts';
import { promptFolderHandlers, promptHandlers } from './api/prompts.ts';
import { promptTransferHandlers } from './api/prompt-transfer.ts';
import { runHandlers } from './api/runs.ts';
import type { Completions } from './completions/completions.ts';
import { createServices } from './services.ts';
import type { KeyStore } from './key-store/key-store.ts';
import type { Log } from './log.ts';
import type { Moderation } from './moderation/create-moderation.ts';
import type { Embeddings } from './on-device/embeddings.ts';
import type { OnDeviceLanguageModels } from './on-device/create-language-models.ts';
import { describeStartFailure } from './storage/disk-failure.ts';
import type { Storage } from './storage/storage.ts';
import packageFile from '../package.json' with { type: 'json' };

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
  readonly log: Log;
  /** The keychain unless told; tests bring their own. */
  readonly keyStore?: KeyStore;
  /** Starts child processes; Node's `fork` by default. */
  readonly startChild?: StartChild;
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

/** Says so for addresses of the command line; the settings say it for the others. */
function warnAboutUnencrypted({ providerBases, endpoints, log }: HostOptions): void {
  const bases = Object.entries(providerBases).map(([name, baseAddress]) => ({ name, baseAddress }));
  for (const { name, baseAddress } of [...bases, ...endpoints].filter((entry) => isUnencrypted(entry.baseAddress))) {
    log(
      `The connection to ${name} at ${new URL(baseAddress).host} isn't encrypted: others on the network can read prompts, ` +
        'answers and keys. Use https:// if the server supports it.',
    );
  }
}

/** Puts the service together. The desktop shell and the headless entry point both start here. */
export async function createHost(options: HostOptions): Promise<Host> {
  warnAboutUnencrypted(options);
  const work = await createServices(options).catch((failure: unknown) => {
    throw describeStartFailure(failure) ?? failure;
  });
  const { storage, providers, completions, moderation, folders, knowledge, auditWork, onDevice, allowances } = work;
  const { log } = options;
  const isEmbeddingPaid = () => storage.settings.read().embeddings.kind === 'provider';

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
    rateLimits: allowances.rateLimits,
    windowCallerId: storage.windowCallerId,
    reportFailure: log,
    handlers: [
      ...completionHandlers(completions, log),
      ...groundingHandlers(completions, log),
      ...auditHandlers(storage.audit),
      ...auditExportHandlers(auditWork.exports, log),
      ...auditSampleHandlers(auditWork.samples),
      ...auditRetentionHandlers(auditWork.retention),
      ...auditReplayHandlers(auditWork.replays, log),
      ...moderationHandlers({ moderation, ...allowances }),
      ...moderationWindowHandlers({ ...work, log }),
      ...conversationHandlers(storage.audit),
      ...promptFolderHandlers(folders, log),
      ...promptTransferHandlers({ ...work, systemOf: providers.systemOf }),
      ...promptHandlers(work, providers, log),
      ...agentHandlers(work.agents, providers, log),
      ...agentThreadHandlers(createConversationThreads({ turns: storage.turns, audit: storage.audit })),
      ...dataspaceHandlers({ ...knowledge, ...allowances, retrieval: work.retrieval, isEmbeddingPaid }),
      ...sourceHandlers({ ...knowledge, ...allowances, isEmbeddingPaid }),
      ...knowledgeWindowHandlers(knowledge, log),
      ...openApiHandlers(packageFile.version),
      ...providerHandlers(providers),
      ...runHandlers({ runs: storage.runs, completions, exchanges: work.exchanges, log }),
      ...onDeviceHandlers(onDevice, log),
      ...apiKeyHandlers(storage.apiKeys, allowances.credits),
      ...settingsHandlers(storage, hostState),
      ...privacyHandlers({
        ...options,
        providers,
        isDesktop: options.capabilities.includes('window-controls'),
        linkedFolders: () => storage.promptFolders.list().map(({ path }) => path),
      }),
      ...(options.handlers ?? []),
    ],
  });

  return {
    api,
    storage,
    onDevice,
    completions,
    moderation,
    embeddings: work.embeddings,
    setServer: (state) => {
      server = state;
    },
    close: work.close,
  };
}
