import { newestExchangeRuns, type ProviderExchangeSettings } from '../../../../shared/contract/provider-exchanges.ts';
import { Segmented } from '../../../components/choices.tsx';
import { formatWhole } from '../../../components/format.ts';
import { QueryView } from '../../../components/query-view.tsx';
import { useSettings, useUpdateSettings } from '../../../queries/settings.ts';
import { SettingRow, SettingsSection } from '../settings-page.tsx';

const runs = formatWhole(newestExchangeRuns);

const choices = [
  { value: 'none', label: 'Off' },
  { value: 'newest', label: `Last ${runs} runs` },
  { value: 'all', label: 'All runs' },
] as const;

const meanings: Record<ProviderExchangeSettings['keep'], string> = {
  none: 'Nothing is stored, and what was stored is deleted.',
  newest: `Stored for the last ${runs} runs, at most 1 MB per body. Older ones are deleted.`,
  all: 'Stored for every run, at most 1 MB per body, until the run is deleted.',
};

/** Whether the wire and the audit can show what was sent to the provider. */
export function ProviderExchangesSection() {
  const settings = useSettings();
  const update = useUpdateSettings();
  return (
    <SettingsSection title="Provider requests">
      <div className="card">
        <QueryView query={settings} subject="the settings" rows={1}>
          {({ providerExchanges: { keep } }) => (
            <SettingRow label="Store requests and raw responses" detail={`${meanings[keep]} Keys are never stored.`}>
              <Segmented
                label="Store provider requests and raw responses"
                value={keep}
                onValueChange={(next) => update.mutate({ providerExchanges: { keep: next } })}
                options={choices}
              />
            </SettingRow>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}
