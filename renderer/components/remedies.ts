import { aiSystem, type AiSystem } from '../../shared/contract/common.ts';
import { providerKeyAddress, settingsAddress } from '../shell/addresses.ts';
import { isKeyedProvider } from '../stores/playground-drafts.ts';

/** The fields of a run that identify the model behind it. */
export interface ServedRun {
  aiSystem: AiSystem;
  model: string;
  /** `<aiSystem>/<model>`, or `on-device/<file name>`; null until the host sends it. */
  servedBy: string | null;
}

/** The provider and model behind a built-in model; every other run unchanged. */
export function servingModel({ aiSystem: system, model, servedBy }: ServedRun): Pick<ServedRun, 'aiSystem' | 'model'> {
  if (system !== 'ServiceAi' || servedBy === null) return { aiSystem: system, model };
  const slash = servedBy.indexOf('/');
  const served = aiSystem.safeParse(servedBy.slice(0, slash));
  return served.success ? { aiSystem: served.data, model: servedBy.slice(slash + 1) } : { aiSystem: system, model };
}

/** Where access to a provider is set up: its key, its endpoint, or the route of a built-in model. */
export function accessAddress(system: AiSystem): string {
  if (isKeyedProvider(system)) return providerKeyAddress(system);
  return settingsAddress(system === 'OpenAiCompatible' ? 'endpoints' : 'service-models');
}

/** The settings page that fixes the cause of a failed run; null if none does. */
export function remedyAddress(code: string, run: ServedRun): string | null {
  switch (code) {
    case 'provider_key_refused':
    case 'provider_not_configured':
      return accessAddress(servingModel(run).aiSystem);
    case 'model_not_installed':
      return settingsAddress('on-device');
    case 'credits_exhausted':
      return settingsAddress('api-keys');
    default:
      return null;
  }
}
