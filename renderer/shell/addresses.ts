import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';

/** Addresses inside the window, as they stand behind `#`. Every object that the palette finds has one. */

export type SettingsPageId =
  'providers' | 'endpoints' | 'service-models' | 'on-device' | 'api-keys' | 'local-server' | 'data' | 'appearance';

export function settingsAddress(page: SettingsPageId): string {
  return `/settings/${page}`;
}

/** The providers page with the key field of one provider open. */
export function providerKeyAddress(aiSystem: KeyedProvider): string {
  return `${settingsAddress('providers')}/${aiSystem}`;
}

/** The playground with a kept run put back as it was. */
export function runAddress(runId: string): string {
  return `/playground/runs/${runId}`;
}

/** The playground with a model chosen. */
export function modelAddress(aiSystem: AiSystem, model: string): string {
  return `/playground/models/${aiSystem}/${encodeURIComponent(model)}`;
}
