import { nativeTheme } from 'electron';
import type { SettingsStore } from '../storage/storage.ts';

/** Gives the whole window, the system's parts of it included, the theme of the settings. */
export function followThemeSetting(settings: SettingsStore): void {
  nativeTheme.themeSource = settings.read().appearance.theme;
  settings.subscribe(({ appearance }) => {
    nativeTheme.themeSource = appearance.theme;
  });
}
