import { Search } from 'lucide-react';
import { type ComponentType, useState } from 'react';
import { Link, Redirect, useLocation } from 'wouter';
import { classNames } from '../../components/class-names.ts';
import { ErrorBoundary } from '../../components/error-boundary.tsx';
import { matchScore } from '../../components/match-score.ts';
import { TextField } from '../../components/text-field.tsx';
import { settingsAddress, type SettingsPageId } from '../../shell/addresses.ts';
import { applyTheme, type Theme, useShowPageTitle } from '../../stores/window.ts';
import { ApiKeysPage } from './api-keys-page.tsx';
import { DataPage } from './data-page.tsx';
import { EmbeddingsPage } from './embeddings-page.tsx';
import { EndpointsPage } from './endpoints-page.tsx';
import { LocalServerPage } from './local-server-page.tsx';
import { OnDevicePage } from './on-device-page.tsx';
import { PrivacyPage } from './privacy-page.tsx';
import { ProvidersPage } from './providers-page.tsx';
import { RecordingPage } from './recording-page.tsx';
import { ServiceModelsPage } from './service-models-page.tsx';
import { type SettingsPageEntry, settingsPages } from './settings-pages.ts';
import { TeamPage } from './team/team-page.tsx';
import { UpdatesPage } from './updates-page.tsx';
import { Segmented } from '../../components/choices.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { SettingRow, SettingsPage } from './settings-page.tsx';
import './settings.css';

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

function AppearancePage() {
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

const components: Record<SettingsPageId, ComponentType> = {
  providers: ProvidersPage,
  endpoints: EndpointsPage,
  'service-models': ServiceModelsPage,
  'on-device': OnDevicePage,
  embeddings: EmbeddingsPage,
  'api-keys': ApiKeysPage,
  'local-server': LocalServerPage,
  recording: RecordingPage,
  team: TeamPage,
  data: DataPage,
  privacy: PrivacyPage,
  appearance: AppearancePage,
  updates: UpdatesPage,
};

function Navigation({ current }: { current: SettingsPageEntry }) {
  const [find, setFind] = useState('');
  const [, navigate] = useLocation();
  const matches = settingsPages.filter(({ title, keywords }) => matchScore(find, [title, ...keywords]) > 0);
  return (
    <nav className="panel panel--inset line-right settings__nav" aria-label="Settings">
      <form
        className="settings__find"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (matches[0]) navigate(settingsAddress(matches[0].id));
        }}
      >
        <TextField
          label="Search settings"
          isLabelHidden
          placeholder="Search settings"
          size="small"
          icon={Search}
          value={find}
          onValueChange={setFind}
        />
      </form>
      {matches.map((page) => (
        <Link
          key={page.id}
          href={settingsAddress(page.id)}
          className={classNames('view', page === current && 'is-selected')}
          aria-current={page === current ? 'page' : undefined}
        >
          {page.title}
        </Link>
      ))}
      {matches.length === 0 && <p className="settings__none small tertiary">No settings found</p>}
    </nav>
  );
}

/** The list of pages and the page; every page has its own address, `#/settings/providers`. */
export function SettingsScreen() {
  const [location, navigate] = useLocation();
  const id = location.split('/')[2];
  const page = settingsPages.find((entry) => entry.id === id);
  useShowPageTitle(page?.title ?? null);
  if (!page) return <Redirect to={settingsAddress(settingsPages[0].id)} replace />;
  const Page = components[page.id];
  return (
    <div className="settings">
      <Navigation current={page} />
      {/* Focusable, so that the keyboard can scroll a page without controls. */}
      <div key={page.id} className="scroll settings__page" tabIndex={0} role="region" aria-label={page.title}>
        <ErrorBoundary name={page.title} resetKey={location} onReload={() => navigate(settingsAddress(page.id))}>
          <Page />
        </ErrorBoundary>
      </div>
    </div>
  );
}
