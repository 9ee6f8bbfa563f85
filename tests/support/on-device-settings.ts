import { defaultSettings, type Settings } from '../../shared/contract/settings.ts';
import type { SettingsStore } from '../../electron/storage/storage.ts';

/** Settings in memory, for suites that are not about where settings are kept. */
export function createMemorySettings(start: Partial<Settings> = {}): SettingsStore {
  let settings: Settings = { ...defaultSettings, ...start };
  const listeners = new Set<(settings: Settings) => void>();
  return {
    read: () => settings,
    update(change) {
      settings = { ...settings, ...change };
      for (const listener of listeners) listener(settings);
      return settings;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
