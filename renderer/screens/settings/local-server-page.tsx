import { useState } from 'react';
import { Link } from 'wouter';
import {
  type HostState,
  serviceModels,
  type Settings,
  settings as settingsSchema,
} from '../../../shared/contract/settings.ts';
import { Segmented, Switch } from '../../components/choices.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';
import { CopyButton } from '../../components/button.tsx';
import { Badge, Spinner, StateBadge } from '../../components/badges.tsx';
import { Failure, QueryView } from '../../components/state-panels.tsx';
import { useCapability } from '../../host/host-context.tsx';
import { serverState, useHostState } from '../../queries/host-state.ts';
import { settingsAddress } from '../../shell/addresses.ts';

type CurlTransport = 'sync' | 'sse' | 'stream';

const flags: Record<CurlTransport, readonly string[]> = {
  sync: [],
  sse: ['-N', "-H 'Accept: text/event-stream'"],
  stream: ['-N'],
};

/** A call that works once the key is filled in, one per response format. */
export function curlExample(address: string, transport: CurlTransport): string {
  const isTls = address.startsWith('https:');
  const protocol = transport === 'stream' ? [isTls ? '--http2' : '--http2-prior-knowledge'] : [];
  // The certificate is created on this machine, so other machines' curl doesn't know it.
  const certificate = isTls ? ['--insecure'] : [];
  const body = {
    promptText: 'Greet {{name}} in one sentence.',
    aiSystem: 'ServiceAi',
    model: serviceModels[1],
    replacements: { name: 'Mara' },
  };
  const parts = [
    `curl ${address}/api/completions/${transport}`,
    ...certificate,
    ...protocol,
    ...flags[transport],
    '-H "Authorization: Bearer $TOUCHSTONE_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ];
  return parts.join(' \\\n  ');
}

const portSchema = settingsSchema.shape.localServer.shape.port;

/** Saved on blur or Enter, so that the listener doesn't move with every digit. */
function PortField({ port, onChange }: { port: number; onChange: (port: number) => void }) {
  const [text, setText] = useState(String(port));
  const checked = portSchema.safeParse(text.trim() === '' ? undefined : Number(text));
  const keep = () => {
    if (checked.success && checked.data !== port) onChange(checked.data);
  };
  return (
    <div className="setting__number">
      <TextField
        label="Port"
        isLabelHidden
        inputMode="numeric"
        value={text}
        error={checked.success ? null : 'Must be 0 to 65535'}
        onValueChange={setText}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
      />
    </div>
  );
}

/** Whether and where the desktop app listens. */
function ServerSettings({ localServer }: { localServer: Settings['localServer'] }) {
  const update = useUpdateSettings();
  const change = (part: Partial<Settings['localServer']>) =>
    update.mutate({ localServer: { ...localServer, ...part } });
  return (
    <div className="card">
      <SettingRow label="Enable local server" detail="For programs on this machine (127.0.0.1) with an API key">
        <Switch
          label="Enable local server"
          isLabelHidden
          isChecked={localServer.isEnabled}
          onCheckedChange={(isEnabled) => change({ isEnabled })}
        />
      </SettingRow>
      <SettingRow label="Port" detail="0 = choose a free port at each start">
        <PortField key={localServer.port} port={localServer.port} onChange={(port) => change({ port })} />
      </SettingRow>
      <SettingRow label="TLS" detail="Uses a certificate created on this machine. Programs must trust it explicitly.">
        <Switch
          label="TLS"
          isLabelHidden
          isChecked={localServer.isTls}
          onCheckedChange={(isTls) => change({ isTls })}
        />
      </SettingRow>
    </div>
  );
}

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

/** The result of the switch: the address, or the error. */
function ServerView({ host, requested }: { host: HostState; requested: Settings['localServer'] | undefined }) {
  switch (serverState(host, requested)) {
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
          {requested?.isEnabled ? 'Starting' : 'Stopping'}
        </p>
      );
    case 'off':
      return <StateBadge tone="neutral">Off</StateBadge>;
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
          {(state) => <ServerView host={state} requested={settings.data?.localServer} />}
        </QueryView>
      </div>
      {host.data?.serverAddress && <Example address={host.data.serverAddress} />}
    </SettingsPage>
  );
}
