import { useState } from 'react';
import { settings as settingsSchema, type Settings } from '../../../../shared/contract/settings.ts';
import { Switch } from '../../../components/choices.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useUpdateSettings } from '../../../queries/settings.ts';
import { SettingRow } from '../settings-page.tsx';

const portSchema = settingsSchema.shape.localServer.shape.port;

/** Kept when the field is left or Enter is pressed, so that the listener does not move with every digit. */
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

/** Whether and where the desktop listens. */
export function ServerSettings({ localServer }: { localServer: Settings['localServer'] }) {
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
