import { SettingsPage } from '../settings-page.tsx';
import { EndpointsSection } from './endpoints-section.tsx';

export function EndpointsPage() {
  return (
    <SettingsPage
      title="Compatible endpoints"
      lead={
        <>
          OpenAI-compatible servers on this machine or behind a gateway. In API calls, use the aiSystem{' '}
          <span className="mono--small">OpenAiCompatible</span> and the model{' '}
          <span className="mono--small">endpoint/model</span>.
        </>
      }
    >
      <EndpointsSection title="Endpoints" />
    </SettingsPage>
  );
}
