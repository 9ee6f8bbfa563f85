import { Segmented } from '../../components/choices.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { applyTheme, type Theme } from '../../stores/window.ts';
import { SettingRow, SettingsPage } from './settings-page.tsx';

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export function AppearancePage() {
  const settings = useSettings();
  const update = useUpdateSettings();
  const choose = (theme: Theme) => {
    applyTheme(theme);
    update.mutate({ appearance: { theme } });
  };
  return (
    <SettingsPage title="Appearance">
      <div className="card settings__first">
        <QueryView query={settings} subject="the settings" rows={2}>
          {({ appearance }) => (
            <>
              <SettingRow label="Theme" detail="System follows your system setting">
                <Segmented label="Theme" value={appearance.theme} onValueChange={choose} options={themes} />
              </SettingRow>
              <SettingRow label="Motion" detail="Respects the system's reduced-motion setting" />
            </>
          )}
        </QueryView>
      </div>
    </SettingsPage>
  );
}
