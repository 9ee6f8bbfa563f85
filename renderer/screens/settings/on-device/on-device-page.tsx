import { Link } from 'wouter';
import { QueryView } from '../../../components/query-view.tsx';
import { useOnDevice } from '../../../queries/on-device.ts';
import { settingsAddress } from '../../../shell/addresses.ts';
import { SettingsPage, SettingsSection } from '../settings-page.tsx';
import { AddModelForm } from './add-model-form.tsx';
import { ModelCard } from './model-card.tsx';

/** Models that answer on this machine, their downloads, and the way to bring another one. */
export function OnDevicePage() {
  const onDevice = useOnDevice();
  return (
    <SettingsPage
      title="On-device models"
      lead={
        <>
          On-device models run locally. They need no key, and no network after the download. The default one answers for
          the{' '}
          <Link href={settingsAddress('service-models')} className="link">
            built-in models
          </Link>{' '}
          that are routed to this device.
        </>
      }
    >
      <div className="card">
        <QueryView query={onDevice} subject="the on-device models" rows={4}>
          {({ models, engine }) => models.map((model) => <ModelCard key={model.id} model={model} engine={engine} />)}
        </QueryView>
      </div>
      <SettingsSection title="Add your own model">
        <div className="card">
          <AddModelForm />
        </div>
      </SettingsSection>
    </SettingsPage>
  );
}
