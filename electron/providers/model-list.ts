import { AppError, invalidField } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { aiSystems, keyedProviders } from '../../shared/contract/common.ts';
import type { Model } from '../../shared/contract/providers.ts';
import { serviceModels, type ServiceModel } from '../../shared/contract/settings.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import { endpointAccount, isKeyedProvider, type Account, type Accounts } from './accounts.ts';
import { detailsOf } from './catalogue.ts';
import type { KnownModel, ModelDirectory } from './model-directory.ts';
import { factsOf, hasEnded, type ModelFacts } from './model-facts.ts';
import { testAccount } from './provider-tests.ts';

export interface ModelListOptions {
  readonly memory: ProviderCache;
  readonly settings: SettingsStore;
  readonly onDevice: OnDeviceLanguageModels;
  readonly accounts: Accounts;
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

/** The list of models that the window shows. */
export function createModelList(options: ModelListOptions): ModelList {
  const { memory, accounts, directory, onChange } = options;
  const asked = new Map<Account, { readonly at: number; readonly answered: Promise<void> }>();

  function ask(account: Account): Promise<void> {
    // A failure is ignored here. Testing the key in the settings shows it.
    const answered = testAccount(account, accounts, memory, { signal: options.signal }).then(onChange, () => {});
    asked.set(account, { at: performance.now(), answered });
    return answered;
  }

  function askForLists(): void {
    const endpoints = accounts.endpoints().map(({ name }) => endpointAccount(name));
    for (const account of [...keyedProviders, ...endpoints]) {
      if (!asked.has(account) && accounts.isReady(account)) void ask(account);
    }
  }

  function askAgain(account: Account): Promise<void> {
    const before = asked.get(account);
    return before && performance.now() - before.at < listLifetimeMilliseconds ? before.answered : ask(account);
  }

  function isKnown(aiSystem: AiSystem, model: string): boolean {
    if (aiSystem !== 'ServiceAi') return directory.has(aiSystem, model);
    return (serviceModels as readonly string[]).includes(model);
  }

  function accountOf(aiSystem: AiSystem, model: string): Account | null {
    if (aiSystem !== 'OpenAiCompatible') return aiSystem === 'ServiceAi' ? null : aiSystem;
    const [, endpointName] = /^([^/]+)\/./.exec(model) ?? [];
    const endpoint = endpointName === undefined ? null : accounts.findEndpoint(endpointName);
    return endpoint ? endpointAccount(endpoint.name) : null;
  }

  function toModel(known: KnownModel, isReady = accounts.isReady(known.account)): Model {
    return { ...describe(known.facts, known), isReady, servedBy: null };
  }

  /** Checks each provider once, because one can have hundreds of models. */
  function toModels(known: readonly KnownModel[]): Model[] {
    const accountsOfModels = [...new Set(known.map(({ account }) => account))];
    const readiness = new Map(accountsOfModels.map((account) => [account, accounts.isReady(account)]));
    return known.map((model) => toModel(model, readiness.get(model.account)));
  }

  return {
    models() {
      askForLists();
      return [...serviceModels.map((name) => serviceModel(name, options)), ...toModels(directory.all())];
    },

    learnModel(aiSystem, model) {
      const systems = aiSystem === null ? aiSystems : [aiSystem];
      if (systems.some((system) => isKnown(system, model))) return null;
      const accountsToAsk = systems
        .flatMap((system) => accountOf(system, model) ?? [])
        .filter((account) => accounts.isReady(account));
      if (accountsToAsk.length === 0) return null;
      return Promise.all(accountsToAsk.map(askAgain)).then(() => {});
    },

    addModel(aiSystem, model) {
      if (aiSystem === 'ServiceAi') throw invalidField('aiSystem', 'the service has its own models only');
      if (isListed(directory, aiSystem, model)) throw new AppError('conflict', `${model} is already in the list.`);
      if (aiSystem === 'OpenAiCompatible') directory.requireEndpoint(model);
      memory.addUserModel(aiSystem, model);
      onChange();
      return toModel(directory.find(aiSystem, model));
    },

    removeModel(aiSystem, model) {
      const isAdded = memory.userModels().some((added) => added.aiSystem === aiSystem && added.model === model);
      if (!isAdded) throw new AppError('not_found', `${model} wasn't added by hand.`);
      memory.removeUserModel(aiSystem, model);
      onChange();
    },
  };
}

function isListed(directory: ModelDirectory, aiSystem: AiSystem, name: string): boolean {
  return directory.all().some((model) => model.aiSystem === aiSystem && model.name === name);
}

function longPromptPrices({ prices }: ModelFacts): Model['longPrompt'] {
  if (!prices?.longPrompt) return null;
  const { aboveTokens, inputPrice, outputPrice, cachedInputPrice } = prices.longPrompt;
  return { aboveTokens, inputPrice, outputPrice, cachedInputPrice };
}

type Described = Omit<Model, 'isReady' | 'servedBy'>;

function describe(facts: ModelFacts, known: Pick<Model, 'aiSystem' | 'name' | 'origin'>): Described {
  const entry = facts.catalogueEntry;
  return {
    aiSystem: known.aiSystem,
    name: known.name,
    title: facts.title,
    origin: known.origin,
    contextTokens: facts.contextTokens,
    outputTokens: facts.outputTokens,
    inputPrice: facts.prices?.inputPrice ?? entry?.inputPrice ?? null,
    outputPrice: facts.prices?.outputPrice ?? entry?.outputPrice ?? null,
    cachedInputPrice: facts.prices?.cachedInputPrice ?? null,
    longPrompt: longPromptPrices(facts),
    canCountTokens: isKeyedProvider(known.aiSystem) && detailsOf[known.aiSystem].countsTokens,
    capabilities: entry?.capabilities ?? [],
    parameters: [...facts.parameters],
    shutdownDate: facts.shutdownDate,
    hasEnded: hasEnded(facts),
    replacement: entry?.replacement ?? null,
  };
}

/** A service model has the metadata of the model that it is routed to. */
function serviceModel(name: ServiceModel, options: ModelListOptions): Model {
  const { settings, onDevice, directory, accounts } = options;
  const own = { aiSystem: 'ServiceAi', name, origin: 'service' } as const;
  const route = settings.read().serviceRoutes[name];
  if (route.kind === 'on-device') {
    const fileName = onDevice.selectedFileName();
    const isInstalled = onDevice
      .state()
      .models.some((model) => model.fileName === fileName && model.state === 'installed');
    const contextTokens = onDevice.selectedContextTokens() ?? undefined;
    const facts = factsOf('on-device', name, null, { name, ...(contextTokens && { contextTokens }) });
    return { ...describe(facts, own), isReady: isInstalled, servedBy: `on-device/${fileName}` };
  }
  const target = directory.all().find((model) => model.aiSystem === route.aiSystem && model.name === route.model);
  const facts = target?.facts ?? factsOf(route.aiSystem, route.model, null, null);
  const isReady = target !== undefined && accounts.isReady(target.account);
  return {
    ...describe(facts, { ...own, aiSystem: route.aiSystem }),
    aiSystem: 'ServiceAi',
    title: name,
    isReady,
    servedBy: `${route.aiSystem}/${route.model}`,
  };
}
