import { AppError } from '../../shared/app-error.ts';
import { aiSystems, type AiSystem } from '../../shared/contract/common.ts';
import { serviceModels, type ServiceModel } from '../../shared/contract/settings.ts';
import type { OnDeviceLanguageModels } from '../on-device/create-language-models.ts';
import type { SettingsStore } from '../storage/storage.ts';
import type { Credentials } from './credentials.ts';
import type { CatalogueEntry } from './provider-details.ts';
import { unknownModel, type ModelDirectory } from './model-directory.ts';
import { combineMetadata, type ModelMetadata } from './model-metadata.ts';
import type { Provider } from './provider.ts';

/** The provider and model that a run is sent to. */
export interface ResolvedModel {
  readonly provider: Provider;
  /** The provider's name for the model. */
  readonly model: string;
  /** `<aiSystem>/<model>`, or `on-device/<file name>`. */
  readonly servedBy: string;
  /** Null for models outside the bundled catalogue. */
  readonly catalogueEntry: CatalogueEntry | null;
  readonly metadata: ModelMetadata;
}

/** An endpoint without a list accepts any name, so the number of names has no other limit. */
const maxResolved = 1000;

/** The context of the smallest model in the catalogue. Used for a file that was never loaded. */
const assumedOnDeviceContextTokens = 2048;

function onDeviceMetadata(contextTokens: number | null): ModelMetadata {
  const name = 'the on-device model';
  const listed = { name, title: name, contextTokens: contextTokens ?? assumedOnDeviceContextTokens };
  return combineMetadata('on-device', name, null, listed);
}

function isServiceModel(name: string): name is ServiceModel {
  return (serviceModels as readonly string[]).includes(name);
}

export interface ModelResolverOptions {
  readonly settings: SettingsStore;
  readonly onDevice: OnDeviceLanguageModels;
  readonly credentials: Credentials;
  readonly directory: ModelDirectory;
}

export interface ModelResolver {
  resolve(aiSystem: AiSystem, model: string): ResolvedModel;
  systemOf(aiSystem: AiSystem | null, model: string): AiSystem;
  /** Clears the cache. Call it after keys, addresses, lists or settings changed. */
  forget(): void;
}

function requireServiceModel(name: string, directory: ModelDirectory): ServiceModel {
  if (isServiceModel(name)) return name;
  throw unknownModel(name, "the service's own", serviceModels, directory.ownerHint('ServiceAi', name));
}

/** Finds the provider of a model. `Providers` documents the methods. */
export function createModelResolver({
  settings,
  onDevice,
  credentials,
  directory,
}: ModelResolverOptions): ModelResolver {
  const resolved = new Map<string, ResolvedModel>();
  const forget = () => resolved.clear();

  function resolveAtProvider(aiSystem: Exclude<AiSystem, 'ServiceAi'>, name: string): ResolvedModel {
    const { providerId, providerName, metadata, name: model } = directory.find(aiSystem, name);
    return {
      provider: credentials.provider(providerId),
      model: providerName,
      servedBy: `${aiSystem}/${model}`,
      catalogueEntry: metadata.catalogueEntry,
      metadata,
    };
  }

  function resolveServiceModel(name: string): ResolvedModel {
    const route = settings.read().serviceRoutes[requireServiceModel(name, directory)];
    if (route.kind === 'on-device') {
      const servedBy = `on-device/${onDevice.selectedFileName()}`;
      const metadata = onDeviceMetadata(onDevice.selectedContextTokens());
      return { provider: onDevice.provider, model: name, servedBy, catalogueEntry: null, metadata };
    }
    try {
      return resolveAtProvider(route.aiSystem, route.model);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const message = `${name} is routed to ${route.aiSystem}/${route.model}, which isn't available. ${error.message} Change the route in Settings, Built-in models.`;
      throw new AppError('provider_not_configured', message, { cause: error });
    }
  }

  function resolve(aiSystem: AiSystem, model: string): ResolvedModel {
    const known = resolved.get(`${aiSystem}/${model}`);
    if (known) return known;
    const target = aiSystem === 'ServiceAi' ? resolveServiceModel(model) : resolveAtProvider(aiSystem, model);
    if (resolved.size >= maxResolved) forget();
    // The on-device file can change without a call of `forget`.
    if (target.provider !== onDevice.provider) resolved.set(`${aiSystem}/${model}`, target);
    return target;
  }

  function systemOf(aiSystem: AiSystem | null, model: string): AiSystem {
    const has = (system: AiSystem) => (system === 'ServiceAi' ? isServiceModel(model) : directory.has(system, model));
    if (aiSystem === 'ServiceAi') requireServiceModel(model, directory);
    else if (aiSystem !== null) directory.find(aiSystem, model);
    const match = aiSystem ?? aiSystems.find(has);
    if (match !== undefined) return match;
    const names = [...serviceModels, ...directory.names()];
    throw unknownModel(model, 'any provider', names);
  }

  return { resolve, systemOf, forget };
}
