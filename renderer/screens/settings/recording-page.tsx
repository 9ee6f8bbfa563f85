import { useQuery } from '@tanstack/react-query';
import { type RecordLevel, recordLevels } from '../../../shared/contract/common.ts';
import { readRecorder } from '../../../shared/contract/passthrough.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { Segmented, Switch } from '../../components/choices.tsx';
import { formatCount } from '../../components/format.ts';
import { QueryView } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';

type Recorder = Settings['recorder'];
type RecordedApi = keyof Recorder['levels'];

const apis: readonly { api: RecordedApi; title: string; path: string }[] = [
  { api: 'openai-chat', title: 'OpenAI chat completions', path: '/openai/v1/chat/completions' },
  { api: 'openai-responses', title: 'OpenAI responses', path: '/openai/v1/responses' },
  { api: 'openai-embeddings', title: 'OpenAI embeddings', path: '/openai/v1/embeddings' },
  { api: 'anthropic-messages', title: 'Anthropic messages', path: '/anthropic/v1/messages' },
];

const levelNames: Record<RecordLevel, string> = { all: 'Everything', metadata: 'Metadata', none: 'Nothing' };

/** How much of some calls is recorded. */
export function LevelChoice({
  label,
  level,
  onChange,
}: {
  label: string;
  level: RecordLevel;
  onChange: (level: RecordLevel) => void;
}) {
  const options = recordLevels.map((value) => ({ value, label: levelNames[value] }));
  return <Segmented label={label} value={level} options={options} onValueChange={onChange} />;
}

interface PartProps {
  recorder: Recorder;
  onChange: (change: Partial<Recorder>) => void;
}

function Levels({ recorder: { levels }, onChange }: PartProps) {
  return (
    <SettingsSection title="What is recorded">
      <div className="card">
        {apis.map(({ api, title, path }) => (
          <SettingRow key={api} label={title} detail={<code className="mono--small">{path}</code>}>
            <LevelChoice
              label={`Recorded of ${title}`}
              level={levels[api]}
              onChange={(level) => onChange({ levels: { ...levels, [api]: level } })}
            />
          </SettingRow>
        ))}
      </div>
    </SettingsSection>
  );
}

function Failures({ recorder: { onFailure }, onChange }: PartProps) {
  const { client } = useHost();
  const counts = useQuery({
    queryKey: ['recorder'],
    queryFn: ({ signal }) => client.call(readRecorder, { signal }),
  });
  return (
    <SettingsSection title="If recording fails">
      <div className="card">
        <SettingRow
          label="Block calls that can't be recorded"
          detail="Otherwise they go through, with the header x-touchstone-recorded: failed."
        >
          <Switch
            label="Block calls that can't be recorded"
            isLabelHidden
            isChecked={onFailure === 'block'}
            onCheckedChange={(isChecked) => onChange({ onFailure: isChecked ? 'block' : 'pass' })}
          />
        </SettingRow>
        <QueryView query={counts} subject="the recorded calls">
          {({ calls, recorded, failed }) => (
            <SettingRow
              label="Since the start"
              detail={`${formatCount(calls)} calls, ${formatCount(recorded)} recorded, ${formatCount(failed)} failed to record`}
            />
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}

/** The record of programs that call OpenAI's or Anthropic's API through Touchstone. */
export function RecordingPage() {
  const settings = useSettings();
  const update = useUpdateSettings();
  return (
    <SettingsPage
      title="Recording"
      lead="Programs that use Touchstone's address as the base URL of OpenAI's or Anthropic's API are recorded in the audit. Their calls pass unchanged. The Recorder screen shows how to connect one, and what is redacted."
    >
      <QueryView query={settings} subject="the settings">
        {({ recorder }) => {
          const onChange = (change: Partial<Recorder>) => update.mutate({ recorder: { ...recorder, ...change } });
          return (
            <div className="settings__stack">
              <Levels recorder={recorder} onChange={onChange} />
              <Failures recorder={recorder} onChange={onChange} />
            </div>
          );
        }}
      </QueryView>
    </SettingsPage>
  );
}
