import { useState } from 'react';
import { settings as settingsSchema, type Settings } from '../../../../shared/contract/settings.ts';
import { QueryView } from '../../../components/query-view.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useSettings, useUpdateSettings } from '../../../queries/settings.ts';
import { SettingRow, SettingsSection } from '../settings-page.tsx';

type TimeLimits = Settings['timeLimits'];
const schema = settingsSchema.shape.timeLimits;

interface SecondsFieldProps {
  label: string;
  name: keyof TimeLimits;
  limits: TimeLimits;
}

/** Kept when the field is left or Enter is pressed, if it is a number of seconds that the service takes. */
function SecondsField({ label, name, limits }: SecondsFieldProps) {
  const update = useUpdateSettings();
  const [text, setText] = useState(String(limits[name]));
  const checked = schema.shape[name].safeParse(text.trim() === '' ? undefined : Number(text));
  const keep = () => {
    if (checked.success && checked.data !== limits[name])
      update.mutate({ timeLimits: { ...limits, [name]: checked.data } });
  };
  return (
    <div className="setting__number">
      <TextField
        label={label}
        isLabelHidden
        inputMode="decimal"
        className="numbers"
        value={text}
        error={checked.success ? null : 'Must be 1 to 3600 seconds'}
        end={<span className="small tertiary">s</span>}
        onValueChange={setText}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
      />
    </div>
  );
}

/** How long a run waits for a provider before it ends with 504. */
export function TimeLimitsSection() {
  const settings = useSettings();
  return (
    <SettingsSection title="Time limits">
      <div className="card">
        <QueryView query={settings} subject="the settings" rows={2}>
          {({ timeLimits }) => (
            <>
              <SettingRow label="First byte" detail="Maximum time until a provider starts to respond">
                <SecondsField label="Seconds until the first byte" name="firstByteSeconds" limits={timeLimits} />
              </SettingRow>
              <SettingRow label="Between bytes" detail="Maximum pause in the middle of a response">
                <SecondsField label="Seconds between bytes" name="betweenBytesSeconds" limits={timeLimits} />
              </SettingRow>
            </>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}
