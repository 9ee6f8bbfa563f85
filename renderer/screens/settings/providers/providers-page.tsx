import { Link, useLocation } from 'wouter';
import { QueryView } from '../../../components/query-view.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { useProviders } from '../../../queries/providers.ts';
import { settingsAddress } from '../../../shell/addresses.ts';
import { EndpointsSection } from '../endpoints/endpoints-section.tsx';
import { ServiceModelsSection } from '../service-models/service-models-section.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { AddedModelsSection } from './added-models.tsx';
import { ProviderRow } from './provider-row.tsx';
import { TimeLimitsSection } from './time-limits.tsx';

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

/** Keys and addresses of the providers; below them the endpoints, the routes and the limits that belong to the same question. */
export function ProvidersPage() {
  const providers = useProviders();
  const [location] = useLocation();
  const askedFor = location.split('/')[3];
  const keychain = providers.data?.keychain;
  return (
    <SettingsPage title="Providers and keys" lead={<Lead keychain={keychain} />}>
      <div className="settings__stack">
        {keychain === null && (
          <Notice tone="caution">
            <strong>No keychain found. Keys are kept in memory until Touchstone quits.</strong> To keep keys after a
            restart, start a keychain service, or set variables such as OPENAI_API_KEY before you start Touchstone.
          </Notice>
        )}
        <div className="card">
          <QueryView query={providers} subject="the providers" rows={5}>
            {({ data }) =>
              data.map((provider) => (
                <ProviderRow key={provider.aiSystem} provider={provider} isAskedFor={provider.aiSystem === askedFor} />
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
