import { useState } from 'react';
import { Link } from 'wouter';
import type { HostState, Settings } from '../../../../shared/contract/settings.ts';
import { Segmented } from '../../../components/choices.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Badge, Spinner, StateMark } from '../../../components/marks.tsx';
import { QueryView } from '../../../components/query-view.tsx';
import { Failure } from '../../../components/state-panels.tsx';
import { useCapability } from '../../../host/host-context.tsx';
import { useHostState } from '../../../queries/host-state.ts';
import { serverState } from '../../../queries/server-state.ts';
import { useSettings } from '../../../queries/settings.ts';
import { settingsAddress } from '../../../shell/addresses.ts';
import { SettingRow, SettingsPage, SettingsSection } from '../settings-page.tsx';
import { curlExample, type CurlTransport } from './curl-example.ts';
import { ServerSettings } from './server-settings.tsx';

const transports = [
  { value: 'sync', label: 'Sync' },
  { value: 'sse', label: 'SSE' },
  { value: 'stream', label: 'JSON array' },
] as const;

function Address({ address, protocols }: { address: string; protocols: readonly string[] }) {
  return (
    <div className="card">
      <SettingRow
        label={<span className="mono">{address}</span>}
        detail={
          <a href={`${address}/openapi.json`} target="_blank" rel="noreferrer">
            OpenAPI document
          </a>
        }
      >
        {protocols.map((protocol) => (
          <Badge key={protocol}>{protocol}</Badge>
        ))}
        <CopyButton label="Copy address" text={address} size="small" />
      </SettingRow>
    </div>
  );
}

function Example({ address }: { address: string }) {
  const [transport, setTransport] = useState<CurlTransport>('sync');
  const text = curlExample(address, transport);
  return (
    <SettingsSection
      title="Try it"
      actions={
        <Segmented label="Response format" value={transport} onValueChange={setTransport} options={transports} />
      }
    >
      <div className="code">
        <pre className="mono">{text}</pre>
        <CopyButton label="Copy" text={text} size="small" />
      </div>
      <p className="caption tertiary settings__below">
        First set TOUCHSTONE_KEY to a key from{' '}
        <Link href={settingsAddress('api-keys')} className="link">
          API keys
        </Link>
        .
      </p>
    </SettingsSection>
  );
}

/** What became of the switch: the address, or why there is none. */
function ServerView({ host, wanted }: { host: HostState; wanted: Settings['localServer'] | undefined }) {
  switch (serverState(host, wanted)) {
    case 'failed':
      return (
        <Failure title="Couldn't start the local server" reason={host.serverFailure}>
          <span className="small secondary">Choose another port, or close the program that uses this one.</span>
        </Failure>
      );
    case 'changing':
      return (
        <p className="row small accent" role="status">
          <Spinner />
          {wanted?.isEnabled ? 'Starting' : 'Stopping'}
        </p>
      );
    case 'off':
      return <StateMark tone="neutral">Off</StateMark>;
    case 'on':
      return host.serverAddress && <Address address={host.serverAddress} protocols={host.protocols} />;
  }
}

/** The network listener for other programs on this machine. */
export function LocalServerPage() {
  const host = useHostState();
  const settings = useSettings();
  const canSwitch = useCapability('local-server-switch');
  return (
    <SettingsPage
      title="Local server"
      lead={
        canSwitch
          ? 'Lets other programs on this machine use the same service as this window. Off by default.'
          : 'Always on, because this window uses it too. To change the port or use TLS, start Touchstone with --port or --tls.'
      }
    >
      <div className="settings__stack">
        {canSwitch && (
          <QueryView query={settings} subject="the settings">
            {({ localServer }) => <ServerSettings localServer={localServer} />}
          </QueryView>
        )}
        <QueryView query={host} subject="the host" rows={2}>
          {(state) => <ServerView host={state} wanted={settings.data?.localServer} />}
        </QueryView>
      </div>
      {host.data?.serverAddress && <Example address={host.data.serverAddress} />}
    </SettingsPage>
  );
}
