import { AppError } from '../../shared/app-error.ts';
import { type AiSystem, type KeyedProvider, keyedProviders } from '../../shared/contract/common.ts';
import { type EndpointPrice, serviceModels } from '../../shared/contract/settings.ts';
import type { ProviderCache, SettingsStore } from '../storage/storage.ts';
import type { Credentials } from './credentials.ts';
import { endpointId, type EndpointAddress, isKeyedProvider, type ProviderId } from './provider-addresses.ts';
import { catalogue, findEntry } from './catalogue.ts';
import { combineMetadata, type ModelMetadata } from './model-metadata.ts';
import { endpointPrices } from './model-prices.ts';
import type { ListedModel } from './provider.ts';
import { titleOf } from './registry.ts';

/** The number of single-letter changes and swaps of neighbours that turn one text into the other. */
export function editDistance(first: string, second: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: second.length + 1 }, (_, column) => column);
  for (let row = 1; row <= first.length; row++) {
    const current = [row];
    for (let column = 1; column <= second.length; column++) {
      const isSame = first[row - 1] === second[column - 1];
      let distance = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const isSwap =
        row > 1 && column > 1 && first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1];
      if (isSwap) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[second.length]!;
}

/** Only the first characters of longer names are compared, because a caller can send megabytes. */
const comparedLength = 100;

/** A gateway can list thousands of names, and comparing them all would keep other requests waiting. */
const maxCompared = 50;

function countCharacters(text: string): Uint8Array {
  const counts = new Uint8Array(256);
  for (let index = 0; index < text.length; index++) counts[text.charCodeAt(index) % 256]! += 1;
  return counts;
}

/** The edit distance is at least the number of characters that one text has and the other doesn't. */
function minDistance(counts: Uint8Array, length: number, text: string): number {
  const left = counts.slice();
  let shared = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index) % 256;
    if (left[code] === 0) continue;
    left[code]! -= 1;
    shared += 1;
  }
  return Math.max(length, text.length) - shared;
}

/** The most similar names, most similar first, ignoring case. */
export function nearestNames(name: string, candidates: Iterable<string>, max = 3): string[] {
  const comparedPart = (text: string) => text.slice(0, comparedLength).toLowerCase().slice(0, comparedLength);
  const target = comparedPart(name);
  const counts = countCharacters(target);
  const byDistance = (first: { candidate: string; distance: number }, second: typeof first) =>
    first.distance - second.distance || (first.candidate < second.candidate ? -1 : 1);
  return [...candidates]
    .map((candidate) => {
      const text = comparedPart(candidate);
      return { candidate, text, distance: minDistance(counts, target.length, text) };
    })
    .sort(byDistance)
    .slice(0, maxCompared)
    .map(({ candidate, text }) => ({ candidate, distance: editDistance(target, text) }))
    .sort(byDistance)
    .slice(0, max)
    .map(({ candidate }) => candidate);
}

export type ModelOrigin = 'catalogue' | 'provider' | 'user';

/** A model of a provider or an endpoint, and the source that it is known from. */
export interface KnownModel {
  readonly aiSystem: Exclude<AiSystem, 'ServiceAi'>;
  /** The name in requests. For endpoints it begins with the endpoint's name. */
  readonly name: string;
  /** The provider's name for it. */
  readonly providerName: string;
  readonly providerId: ProviderId;
  readonly origin: ModelOrigin;
  readonly metadata: ModelMetadata;
}

const directorySystems: readonly KnownModel['aiSystem'][] = [...keyedProviders, 'OpenAiCompatible'];

/** All models: those of the catalogue, of the providers' lists, and those that the user added. */
export interface ModelDirectory {
  /** Every model of every provider and endpoint. */
  all(): KnownModel[];
  /** The names of all models. */
  names(): string[];
  /** Throws `invalid_request` with the most similar valid names. */
  find(aiSystem: KnownModel['aiSystem'], name: string): KnownModel;
  has(aiSystem: KnownModel['aiSystem'], name: string): boolean;
  /** What is known about a model that need not be in any list: another program's call can use one that appeared today. */
  metadataOf(aiSystem: KnownModel['aiSystem'], name: string): ModelMetadata | null;
  /** A sentence that names the provider that has the model, if another one does. Otherwise empty. */
  ownerHint(aiSystem: AiSystem, name: string): string;
  /** Throws `invalid_request` for a name that doesn't begin with an endpoint's name. */
  requireEndpoint(name: string): EndpointAddress;
}

/** The names of all models, without their metadata, which takes long to gather for thousands of them. */
function createModelNames(cache: ProviderCache, credentials: Credentials) {
  const userModels = (aiSystem: AiSystem) => cache.userModels().filter((added) => added.aiSystem === aiSystem);

  /** The names of a provider's models. */
  function originsAtProvider(aiSystem: KeyedProvider): Map<string, ModelOrigin> {
    const origins = new Map<string, ModelOrigin>();
    for (const { model } of userModels(aiSystem)) origins.set(model, 'user');
    for (const { name } of cache.listedModels(aiSystem) ?? []) origins.set(name, 'provider');
    for (const name of catalogue[aiSystem].keys()) origins.set(name, 'catalogue');
    return origins;
  }

  /** The names that an endpoint has for its models. */
  function originsAtEndpoint(endpoint: EndpointAddress): Map<string, ModelOrigin> {
    const listed = cache.listedModels(endpointId(endpoint.name)) ?? [];
    const origins = new Map<string, ModelOrigin>(listed.map(({ name }) => [name, 'provider']));
    for (const { model } of userModels('OpenAiCompatible')) {
      const providerName = nameAtEndpoint(endpoint, model);
      if (providerName !== null && !origins.has(providerName)) origins.set(providerName, 'user');
    }
    return origins;
  }

  const namesAtEndpoint = (endpoint: EndpointAddress) =>
    Array.from(originsAtEndpoint(endpoint).keys(), (name) => `${endpoint.name}/${name}`);

  function namesOf(aiSystem: KnownModel['aiSystem']): string[] {
    return isKeyedProvider(aiSystem)
      ? [...originsAtProvider(aiSystem).keys()]
      : credentials.endpoints().flatMap(namesAtEndpoint);
  }

  return { userModels, originsAtProvider, originsAtEndpoint, namesAtEndpoint, namesOf };
}

export function createModelDirectory(
  cache: ProviderCache,
  credentials: Credentials,
  settings: SettingsStore,
): ModelDirectory {
  const { userModels, originsAtProvider, originsAtEndpoint, namesAtEndpoint, namesOf } = createModelNames(
    cache,
    credentials,
  );

  function modelsOfProvider(aiSystem: KeyedProvider): KnownModel[] {
    const listed = new Map(cache.listedModels(aiSystem)?.map((model) => [model.name, model]));
    return Array.from(originsAtProvider(aiSystem), ([name, origin]) =>
      knownModel(aiSystem, name, origin, listed.get(name) ?? null),
    );
  }

  function findAtProvider(aiSystem: KeyedProvider, name: string): KnownModel | null {
    const listed = cache.listedModels(aiSystem)?.find((model) => model.name === name) ?? null;
    if (catalogue[aiSystem].has(name)) return knownModel(aiSystem, name, 'catalogue', listed);
    if (listed) return knownModel(aiSystem, name, 'provider', listed);
    const isAdded = userModels(aiSystem).some(({ model }) => model === name);
    return isAdded ? knownModel(aiSystem, name, 'user', null) : null;
  }

  function modelsOfEndpoint(endpoint: EndpointAddress): KnownModel[] {
    const listed = new Map(cache.listedModels(endpointId(endpoint.name))?.map((model) => [model.name, model]));
    const prices = new Map(settings.read().endpointPrices.map((price) => [price.model, price]));
    return Array.from(originsAtEndpoint(endpoint), ([name, origin]) =>
      endpointModel(endpoint, name, origin, listed.get(name) ?? null, prices.get(`${endpoint.name}/${name}`) ?? null),
    );
  }

  function findAtEndpoint(name: string): KnownModel | null {
    const endpoint = credentials.findEndpoint(name.slice(0, Math.max(0, name.indexOf('/'))));
    const providerName = endpoint && nameAtEndpoint(endpoint, name);
    if (!endpoint || !providerName) return null;
    const listed = cache.listedModels(endpointId(endpoint.name));
    const model = listed?.find((candidate) => candidate.name === providerName) ?? null;
    const fullName = `${endpoint.name}/${providerName}`;
    const price = settings.read().endpointPrices.find((candidate) => candidate.model === fullName) ?? null;
    if (model) return endpointModel(endpoint, providerName, 'provider', model, price);
    const isAdded = userModels('OpenAiCompatible').some(
      (added) => nameAtEndpoint(endpoint, added.model) === providerName,
    );
    // Without a list, the endpoint has to decide whether it has the model.
    return isAdded || !listed?.length ? endpointModel(endpoint, providerName, 'user', null, price) : null;
  }

  const findModel = (aiSystem: KnownModel['aiSystem'], name: string) =>
    isKeyedProvider(aiSystem) ? findAtProvider(aiSystem, name) : findAtEndpoint(name);

  const all = (): KnownModel[] => [
    ...keyedProviders.flatMap(modelsOfProvider),
    ...credentials.endpoints().flatMap(modelsOfEndpoint),
  ];

  function ownerHint(aiSystem: AiSystem, name: string): string {
    const isService = (serviceModels as readonly string[]).includes(name);
    const others = directorySystems.filter((system) => system !== aiSystem);
    const owner = isService ? 'ServiceAi' : others.find((system) => namesOf(system).includes(name));
    return owner && owner !== aiSystem ? ` ${titleOf(owner)} has this model (aiSystem ${owner}).` : '';
  }

  function requireEndpoint(name: string): EndpointAddress {
    const slash = name.indexOf('/');
    const prefix = slash > 0 ? name.slice(0, slash) : '';
    const endpoint = credentials.findEndpoint(prefix);
    if (endpoint && slash < name.length - 1) return endpoint;
    throw missingEndpoint(prefix || name, credentials.endpoints(), ownerHint('OpenAiCompatible', name));
  }

  /** The error for an unknown name, which suggests names of the endpoint or provider. */
  function unknownModelOf(aiSystem: KnownModel['aiSystem'], name: string): AppError {
    const hint = ownerHint(aiSystem, name);
    if (isKeyedProvider(aiSystem)) return unknownModel(name, titleOf(aiSystem), namesOf(aiSystem), hint);
    const endpoint = requireEndpoint(name);
    return unknownModel(name, `the endpoint ${endpoint.name}`, namesAtEndpoint(endpoint), hint);
  }

  return {
    all,
    names: () => directorySystems.flatMap(namesOf),
    ownerHint,
    requireEndpoint,
    find(aiSystem, name) {
      const model = findModel(aiSystem, name);
      if (!model) throw unknownModelOf(aiSystem, name);
      return model;
    },
    has: (aiSystem, name) => findModel(aiSystem, name) !== null,
    metadataOf(aiSystem, name) {
      const known = findModel(aiSystem, name)?.metadata;
      if (known || !isKeyedProvider(aiSystem)) return known ?? null;
      return knownModel(aiSystem, name, 'provider', null).metadata;
    },
  };
}

function missingEndpoint(prefix: string, endpoints: readonly EndpointAddress[], hint: string): AppError {
  const names = endpoints.map(({ name }) => name);
  const remedy =
    names.length === 0
      ? 'no endpoints yet, add one in Settings, Compatible endpoints'
      : `endpoints: ${nearestNames(prefix, names, 5).join(', ')}`;
  const issue = `must be <endpoint>/<model>; ${remedy}`;
  return new AppError('invalid_request', `model ${issue}.${hint}`, { details: [{ field: 'model', issue }] });
}

/** The 400 for an unknown model name. */
export function unknownModel(name: string, whose: string, candidates: readonly string[], hint = ''): AppError {
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  const nearest = nearestNames(name, candidates);
  const issue = `is not a model of ${whose}${nearest.length > 0 ? `; did you mean: ${nearest.join(', ')}` : ''}`;
  return new AppError('invalid_request', `model: ${shown} ${issue}.${hint}`, { details: [{ field: 'model', issue }] });
}

function nameAtEndpoint(endpoint: EndpointAddress, name: string): string | null {
  const prefix = `${endpoint.name}/`;
  const isHere = name.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return isHere && name.length > prefix.length ? name.slice(prefix.length) : null;
}

function knownModel(
  aiSystem: KeyedProvider,
  name: string,
  origin: ModelOrigin,
  listed: ListedModel | null,
): KnownModel {
  const metadata = combineMetadata(aiSystem, name, findEntry(aiSystem, name), listed);
  return { aiSystem, name, providerName: name, providerId: aiSystem, origin, metadata };
}

function endpointModel(
  endpoint: EndpointAddress,
  providerName: string,
  origin: ModelOrigin,
  listed: ListedModel | null,
  price: EndpointPrice | null,
): KnownModel {
  const providerId = endpointId(endpoint.name);
  const metadata = combineMetadata('OpenAiCompatible', providerName, null, listed, price && endpointPrices(price));
  return {
    aiSystem: 'OpenAiCompatible',
    name: `${endpoint.name}/${providerName}`,
    providerName,
    providerId,
    origin,
    metadata,
  };
}
