import { useState } from 'react';
import { traceExportSettings } from '../../../shared/contract/trace-export.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { isUnencrypted } from '../../../shared/address-safety.ts';
import { Button } from '../../components/button.tsx';
import { Switch } from '../../components/choices.tsx';
import { formatPlural, formatWhole } from '../../components/format.ts';
import { Notice, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useConfirmTraceCollector, useSettings, useTraceExport, useUpdateSettings } from '../../queries/settings.ts';
import { AddressRequest } from './address-confirmation.tsx';
import { SettingRow, SettingsSection } from './settings-page.tsx';

function Sent() {
  const { data } = useTraceExport();
  const confirm = useConfirmTraceCollector();
  if (!data) return null;
  if (data.confirmation)
    return (
      <div className="setting-panel">
        <AddressRequest confirmation={data.confirmation} confirm={confirm} />
      </div>
    );
  const dropped = data.dropped === 0 ? '' : `, ${formatWhole(data.dropped)} dropped`;
  return (
    <SettingRow
      label={<span role="status">{`Sent ${formatPlural(data.sent, 'run')}${dropped}`}</span>}
      detail={
        <span className={data.failure === null ? undefined : 'negative'}>
          {data.failure ?? `Since the last start. ${formatPlural(data.waiting, 'run')} waiting.`}
        </span>
      }
    />
  );
}

/** Saved on request, because each run is sent from then on. */
function CollectorForm({ traceExport }: Pick<Settings, 'traceExport'>) {
  const update = useUpdateSettings();
  const [address, setAddress] = useState(traceExport.address ?? '');
  const next = { ...traceExport, address: address.trim() || null };
  const checked = traceExportSettings.safeParse(next);
  const isSaved = next.address === traceExport.address;
  const save = (): void => {
    if (checked.success && !isSaved) update.mutate({ traceExport: next });
  };
  return (
    <>
      <SettingRow
        label="Collector"
        detail="The address with its path, such as http://localhost:4318/v1/traces. Empty sends nothing. Headers for it are read from OTEL_EXPORTER_OTLP_HEADERS."
      >
        <TextField
          label="Collector address"
          isLabelHidden
          isMono
          placeholder="Off"
          value={address}
          error={checked.success ? null : 'Must start with http:// or https://'}
          onValueChange={setAddress}
          onKeyDown={(event) => event.key === 'Enter' && save()}
        />
        <Button isBusy={update.isPending} aria-disabled={isSaved || !checked.success || undefined} onClick={save}>
          {next.address === null ? 'Turn off' : 'Save'}
        </Button>
      </SettingRow>
      {next.address !== null && isUnencrypted(next.address) && (
        <Notice tone="caution">
          The connection isn&apos;t encrypted: others on the network can read what is sent.
        </Notice>
      )}
      {traceExport.address !== null && (
        <>
          <SettingRow
            label="Send prompts and answers"
            detail="Off sends models, tokens, cost, times and errors of each run, but none of its texts."
          >
            <Switch
              label="Send prompts and answers"
              isLabelHidden
              isChecked={traceExport.hasContent}
              onCheckedChange={(hasContent) => update.mutate({ traceExport: { ...traceExport, hasContent } })}
            />
          </SettingRow>
          <Sent />
        </>
      )}
    </>
  );
}

/** Traces of runs for a collector of OpenTelemetry. */
export function TraceExportSection() {
  const settings = useSettings();
  return (
    <SettingsSection title="OpenTelemetry export">
      <div className="card">
        <QueryView query={settings} subject="the settings" rows={1}>
          {({ traceExport }) => <CollectorForm traceExport={traceExport} />}
        </QueryView>
      </div>
    </SettingsSection>
  );
}
