import { SettingsPage } from '../settings-page.tsx';
import { ServiceModelsSection } from './service-models-section.tsx';

export function ServiceModelsPage() {
  return (
    <SettingsPage
      title="Service models"
      lead={
        <>
          <span className="mono--small">ServiceAi</span> has two models of its own. Each goes where you say: to the
          model on this device, or to any provider that has a key. Callers see the same names; the header{' '}
          <span className="mono--small">x-served-by</span> and the kept run say who answered.
        </>
      }
    >
      <ServiceModelsSection title="Routes" />
    </SettingsPage>
  );
}
