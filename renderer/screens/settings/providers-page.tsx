import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { providerName } from '../../../shared/provider-names.ts';
import { IconButton } from '../../components/button.tsx';
import type { ProviderState } from '../../../shared/contract/providers.ts';
import { useModels, useProviders, useRemoveModel } from '../../queries/providers.ts';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';
import { type Settings, settings as settingsSchema } from '../../../shared/contract/settings.ts';
import { Notice, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { Message } from './connection-test.tsx';
import { EndpointsSection } from './endpoints-page.tsx';
import { ServiceModelsSection } from './service-models-page.tsx';
import { ProviderRow } from './provider-row.tsx';

/** Model names that a person added in the picker, although neither the catalogue nor the provider lists them. */
function AddedModelsSection() {
  const models = useModels().data?.data ?? [];
  const remove = useRemoveModel();
  const added = models.filter(({ origin }) => origin === 'user');
  if (added.length === 0) return null;
  return (
    <SettingsSection title="Models you added">
      <div className="card">
        {added.map(({ aiSystem, name }) => (
          <SettingRow
            key={`${aiSystem}/${name}`}
            label={<span className="mono">{name}</span>}
            detail={providerName(aiSystem)}
          >
            <IconButton
              size="small"
              icon={Trash2}
              label={`Remove ${name} of ${providerName(aiSystem)}`}
              onClick={() => remove.mutate({ aiSystem, model: name })}
            />
          </SettingRow>
        ))}
      </div>
    </SettingsSection>
  );
}

type TimeLimits = Settings['timeLimits'];
const schema = settingsSchema.shape.timeLimits;

interface SecondsFieldProps {
  label: string;
  name: keyof TimeLimits;
  limits: TimeLimits;
}

/** Saved on blur or Enter, if it is a valid number of seconds. */
function SecondsField({ label, name, limits }: SecondsFieldProps) {
  const update = useUpdateSettings();
  const [text, setText] = useState(String(limits[name]));
  const checked = schema.shape[name].safeParse(text.trim() === '' ? undefined : Number(text));
  const keep = () => {
    if (checked.success && checked.data !== limits[name])
      update.mutate({ timeLimits: { ...limits, [name]: checked.data } });
  };
  return (
    <div className="setting__number">
      <TextField
        label={label}
        isLabelHidden
        inputMode="decimal"
        className="numbers"
        value={text}
        error={checked.success ? null : 'Must be 1 to 3600 seconds'}
        end={<span className="small tertiary">s</span>}
        onValueChange={setText}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
      />
    </div>
  );
}

/** How long a run waits for a provider before it ends with 504. */
function TimeLimitsSection() {
  const settings = useSettings();
  return (
    <SettingsSection title="Time limits">
      <div className="card">
        <QueryView query={settings} subject="the settings" rows={2}>
          {({ timeLimits }) => (
            <>
              <SettingRow label="First byte" detail="Maximum time until a provider starts to respond">
                <SecondsField label="Seconds until the first byte" name="firstByteSeconds" limits={timeLimits} />
              </SettingRow>
              <SettingRow label="Between bytes" detail="Maximum pause in the middle of a response">
                <SecondsField label="Seconds between bytes" name="betweenBytesSeconds" limits={timeLimits} />
              </SettingRow>
            </>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}

function Lead({ keychain }: { keychain: string | null | undefined }) {
  return (
    <>
      {keychain ? `Keys are stored in the ${keychain}. They` : 'Keys'} are never shown again, but you can replace or
      remove them. You can start without a key: the{' '}
      <Link href={settingsAddress('on-device')} className="link">
        on-device model
      </Link>{' '}
      needs none.
    </>
  );
}

/** Why no key can be read, if the reason is the same for all of them: a locked keychain. */
function commonKeyFailure(providers: readonly ProviderState[]): string | null {
  const failure = providers[0]?.keyFailure ?? null;
  return providers.length > 1 && providers.every(({ keyFailure }) => keyFailure === failure) ? failure : null;
}

/** Keys and addresses of the providers, followed by the endpoints, routes and limits. */
export function ProvidersPage() {
  const providers = useProviders();
  const [location] = useLocation();
  const requestedId = location.split('/')[3];
  const keychain = providers.data?.keychain;
  const keyFailure = commonKeyFailure(providers.data?.data ?? []);
  return (
    <SettingsPage title="Providers and keys" lead={<Lead keychain={keychain} />}>
      <div className="settings__stack">
        {keychain === null && (
          <Notice tone="caution">
            <strong>No keychain found. Keys are kept in memory until Touchstone quits.</strong> To keep keys after a
            restart, start a keychain service, or set variables such as OPENAI_API_KEY before you start Touchstone.
          </Notice>
        )}
        {keyFailure !== null && (
          <Notice tone="caution">
            <Message text={keyFailure} />
          </Notice>
        )}
        <div className="card">
          <QueryView query={providers} subject="the providers" rows={5}>
            {({ data }) =>
              data.map((provider) => (
                <ProviderRow
                  key={provider.aiSystem}
                  provider={provider}
                  isKeyRequested={provider.aiSystem === requestedId}
                  isFailureShown={keyFailure === null}
                />
              ))
            }
          </QueryView>
        </div>
      </div>
      <EndpointsSection />
      <ServiceModelsSection />
      <AddedModelsSection />
      <TimeLimitsSection />
    </SettingsPage>
  );
}
