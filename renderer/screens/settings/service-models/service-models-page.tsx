import { SettingsPage } from '../settings-page.tsx';
import { ServiceModelsSection } from './service-models-section.tsx';

export function ServiceModelsPage() {
  return (
    <SettingsPage
      title="Built-in models"
      lead={
        <>
          Route each service model to the on-device model or to a provider. The{' '}
          <span className="mono--small">x-served-by</span> header and the audit show which model answered.
        </>
      }
    >
      <ServiceModelsSection title="Routes" />
    </SettingsPage>
  );
}
