import { AppError, invalidField } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { aiSystems, keyedProviders } from '../../shared/contract/common.ts';
import type { Model } from '../../shared/contract/providers.ts';
import { serviceModels, type ServiceModel } from '../../shared/contract/settings.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import type { Credentials } from './credentials.ts';
import { endpointId, isKeyedProvider, type ProviderId } from './provider-addresses.ts';
import { detailsOf } from './catalogue.ts';
import { supportedFileKinds } from './message-rules.ts';
import type { KnownModel, ModelDirectory } from './model-directory.ts';
import { combineMetadata, hasEnded, type ModelMetadata } from './model-metadata.ts';
import { toolsReason } from './parameter-rules.ts';
import { testProvider } from './provider-tests.ts';

export interface ModelListOptions {
  readonly cache: ProviderCache;
  readonly settings: SettingsStore;
  readonly onDevice: OnDeviceLanguageModels;
  readonly credentials: Credentials;
  readonly directory: ModelDirectory;
  readonly onChange: () => void;
  /** Aborts background requests for lists. */
  readonly signal: AbortSignal;
}

/** An unknown name makes the host fetch a list again if it is older than this. */
const listLifetimeMilliseconds = 60_000;

export interface ModelList {
  /**
   * Every model, and whether it is ready. The first call after a start also fetches the lists of all providers that have a key, without
   * waiting for them. Later calls include the results.
   */
  models(): Model[];
  /**
   * Fetches the list that may have an unknown model, or all lists if `aiSystem` is null, each at most once a minute. Null if there is
   * nothing to fetch. Resolves within 15 seconds and never rejects. Call `resolve` or `systemOf` again to see whether the model is known.
   */
  learnModel(aiSystem: AiSystem | null, model: string): Promise<void> | null;
  /** Throws `conflict` for a name that is valid already. */
  addModel(aiSystem: AiSystem, model: string): Model;
  /** Throws `not_found` for a name that the user didn't add. */
  removeModel(aiSystem: AiSystem, model: string): void;
}

/** Asks the providers for their current lists. */
function createListRefresh({ cache, credentials, onChange, signal }: ModelListOptions) {
  const requests = new Map<ProviderId, { readonly at: number; readonly finished: Promise<void> }>();

  function refreshList(providerId: ProviderId): Promise<void> {
    // A failure is ignored here. Testing the key in the settings shows it.
    const finished = testProvider(providerId, credentials, cache, { signal }).then(onChange, () => {});
    requests.set(providerId, { at: performance.now(), finished });
    return finished;
  }

  return {
    /** Each list once. */
    refreshLists(): void {
      const endpoints = credentials.endpoints().map(({ name }) => endpointId(name));
      for (const providerId of [...keyedProviders, ...endpoints]) {
        if (!requests.has(providerId) && credentials.isReady(providerId)) void refreshList(providerId);
      }
    },
    refreshOldList(providerId: ProviderId): Promise<void> {
      const before = requests.get(providerId);
      return before && performance.now() - before.at < listLifetimeMilliseconds
        ? before.finished
        : refreshList(providerId);
    },
  };
}

/** The list of models that the window shows. */
export function createModelList(options: ModelListOptions): ModelList {
  const { cache, credentials, directory, onChange } = options;
  const { refreshLists, refreshOldList } = createListRefresh(options);

  function isKnown(aiSystem: AiSystem, model: string): boolean {
    if (aiSystem !== 'ServiceAi') return directory.has(aiSystem, model);
    return (serviceModels as readonly string[]).includes(model);
  }

  function providerIdOf(aiSystem: AiSystem, model: string): ProviderId | null {
    if (aiSystem !== 'OpenAiCompatible') return aiSystem === 'ServiceAi' ? null : aiSystem;
    const [, endpointName] = /^([^/]+)\/./.exec(model) ?? [];
    const endpoint = endpointName === undefined ? null : credentials.findEndpoint(endpointName);
    return endpoint ? endpointId(endpoint.name) : null;
  }

  function toModel(known: KnownModel, isReady = credentials.isReady(known.providerId)): Model {
    return { ...describe(known.metadata, known), isReady, servedBy: null };
  }

  /** Checks each provider once, because one can have hundreds of models. */
  function toModels(known: readonly KnownModel[]): Model[] {
    const providerIds = [...new Set(known.map(({ providerId }) => providerId))];
    const readiness = new Map(providerIds.map((providerId) => [providerId, credentials.isReady(providerId)]));
    return known.map((model) => toModel(model, readiness.get(model.providerId)));
  }

  return {
    models() {
      refreshLists();
      return [...serviceModels.map((name) => serviceModel(name, options)), ...toModels(directory.all())];
    },

    learnModel(aiSystem, model) {
      const systems = aiSystem === null ? aiSystems : [aiSystem];
      if (systems.some((system) => isKnown(system, model))) return null;
      const outdated = systems
        .flatMap((system) => providerIdOf(system, model) ?? [])
        .filter((providerId) => credentials.isReady(providerId));
      if (outdated.length === 0) return null;
      return Promise.all(outdated.map(refreshOldList)).then(() => {});
    },

    addModel(aiSystem, model) {
      if (aiSystem === 'ServiceAi') throw invalidField('aiSystem', 'the service has its own models only');
      if (isListed(directory, aiSystem, model)) throw new AppError('conflict', `${model} is already in the list.`);
      if (aiSystem === 'OpenAiCompatible') directory.requireEndpoint(model);
      cache.addUserModel(aiSystem, model);
      onChange();
      return toModel(directory.find(aiSystem, model));
    },

    removeModel(aiSystem, model) {
      const isAdded = cache.userModels().some((added) => added.aiSystem === aiSystem && added.model === model);
      if (!isAdded) throw new AppError('not_found', `${model} wasn't added by hand.`);
      cache.removeUserModel(aiSystem, model);
      onChange();
    },
  };
}

function isListed(directory: ModelDirectory, aiSystem: AiSystem, name: string): boolean {
  return directory.all().some((model) => model.aiSystem === aiSystem && model.name === name);
}

function longPromptPrices({ prices }: ModelMetadata): Model['longPrompt'] {
  if (!prices?.longPrompt) return null;
  const { aboveTokens, inputPrice, outputPrice, cachedInputPrice } = prices.longPrompt;
  return { aboveTokens, inputPrice, outputPrice, cachedInputPrice };
}

type Described = Omit<Model, 'isReady' | 'servedBy'>;

function describe(metadata: ModelMetadata, known: Pick<Model, 'aiSystem' | 'name' | 'origin'>): Described {
  const entry = metadata.catalogueEntry;
  return {
    aiSystem: known.aiSystem,
    name: known.name,
    title: metadata.title,
    origin: known.origin,
    contextTokens: metadata.contextTokens,
    outputTokens: metadata.outputTokens,
    inputPrice: metadata.prices?.inputPrice ?? entry?.inputPrice ?? null,
    outputPrice: metadata.prices?.outputPrice ?? entry?.outputPrice ?? null,
    cachedInputPrice: metadata.prices?.cachedInputPrice ?? null,
    audioInputPrice: metadata.prices?.audioInputPrice ?? null,
    longPrompt: longPromptPrices(metadata),
    canCountTokens: isKeyedProvider(known.aiSystem) && detailsOf[known.aiSystem].countsTokens,
    capabilities: entry?.capabilities ?? [],
    fileKinds: supportedFileKinds(metadata),
    callsTools: toolsReason(metadata.ruleSet, entry) === null,
    parameters: [...metadata.parameters],
    shutdownDate: metadata.shutdownDate,
    hasEnded: hasEnded(metadata),
    replacement: entry?.replacement ?? null,
  };
}

/** A service model has the metadata of the model that it is routed to. */
function serviceModel(name: ServiceModel, options: ModelListOptions): Model {
  const { settings, onDevice, directory, credentials } = options;
  const own = { aiSystem: 'ServiceAi', name, origin: 'service' } as const;
  const route = settings.read().serviceRoutes[name];
  if (route.kind === 'on-device') {
    const fileName = onDevice.selectedFileName();
    const isInstalled = onDevice
      .state()
      .models.some((model) => model.fileName === fileName && model.state === 'installed');
    const contextTokens = onDevice.selectedContextTokens() ?? undefined;
    const metadata = combineMetadata('on-device', name, null, { name, ...(contextTokens && { contextTokens }) });
    return { ...describe(metadata, own), isReady: isInstalled, servedBy: `on-device/${fileName}` };
  }
  const target = directory.all().find((model) => model.aiSystem === route.aiSystem && model.name === route.model);
  const metadata = target?.metadata ?? combineMetadata(route.aiSystem, route.model, null, null);
  const isReady = target !== undefined && credentials.isReady(target.providerId);
  return {
    ...describe(metadata, { ...own, aiSystem: route.aiSystem }),
    aiSystem: 'ServiceAi',
    title: name,
    isReady,
    servedBy: `${route.aiSystem}/${route.model}`,
  };
}
