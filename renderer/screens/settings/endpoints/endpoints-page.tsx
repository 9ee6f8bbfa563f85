import { SettingsPage } from '../settings-page.tsx';
import { EndpointsSection } from './endpoints-section.tsx';

export function EndpointsPage() {
  return (
    <SettingsPage
      title="Compatible endpoints"
      lead={
        <>
          Servers that speak OpenAI&apos;s chat completions, on this machine or behind a gateway. Their models are
          chosen in the playground and over HTTP as <span className="mono--small">OpenAiCompatible</span>, written{' '}
          <span className="mono--small">endpoint/model</span>.
        </>
      }
    >
      <EndpointsSection title="Endpoints" />
    </SettingsPage>
  );
}
