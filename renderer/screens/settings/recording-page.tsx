import { X } from 'lucide-react';
import { type RecordLevel, recordLevels } from '../../../shared/contract/common.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { IconButton } from '../../components/button.tsx';
import { Segmented, Switch } from '../../components/choices.tsx';
import { formatCount } from '../../components/format.ts';
import { NewPattern } from '../../components/new-pattern.tsx';
import { patternRules, RedactionChoices } from '../../components/redaction-choices.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { useRecorderState } from '../../queries/recorded-calls.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';

type Recorder = Settings['recorder'];
type RecordedApi = keyof Recorder['levels'];

const apis: readonly { api: RecordedApi; title: string; path: string }[] = [
  { api: 'openai-chat', title: 'OpenAI chat completions', path: '/openai/v1/chat/completions' },
  { api: 'openai-responses', title: 'OpenAI responses', path: '/openai/v1/responses' },
  { api: 'openai-embeddings', title: 'OpenAI embeddings', path: '/openai/v1/embeddings' },
  { api: 'anthropic-messages', title: 'Anthropic messages', path: '/anthropic/v1/messages' },
  { api: 'gemini-content', title: 'Gemini content', path: '/gemini/v1beta/models' },
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

function Levels({ recorder: { isPaused, levels }, onChange }: PartProps) {
  return (
    <SettingsSection
      title="What is recorded"
      actions={isPaused && <span className="small caution">Paused in the Recorder</span>}
    >
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

function Redaction({ recorder, onChange }: PartProps) {
  const { redaction } = recorder;
  return (
    <SettingsSection title="Redaction">
      <div className="card">
        <SettingRow
          label="Replaced before a call is saved"
          detail="The program and the provider get the texts unchanged. While a rule is on, raw requests and files of calls aren't stored."
        >
          <div className="recording__kinds">
            <RedactionChoices
              rules={redaction.filter(({ kind }) => kind !== 'pattern')}
              onChange={(rules) => onChange({ redaction: [...rules, ...patternRules(redaction)] })}
            />
          </div>
        </SettingRow>
        {patternRules(redaction).map((rule) => (
          <SettingRow
            key={`${rule.name} ${rule.pattern}`}
            label={rule.name}
            detail={<code className="mono--small">{rule.pattern}</code>}
          >
            <IconButton
              icon={X}
              label={`Remove pattern ${rule.name}`}
              size="small"
              onClick={() => onChange({ redaction: redaction.filter((one) => one !== rule) })}
            />
          </SettingRow>
        ))}
        <NewPattern recorder={recorder} className="recording__pattern" />
      </div>
    </SettingsSection>
  );
}

function Failures({ recorder: { onFailure }, onChange }: PartProps) {
  const counts = useRecorderState();
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

/** The record of programs that call a provider's API through Touchstone. */
export function RecordingPage() {
  const settings = useSettings();
  const update = useUpdateSettings();
  return (
    <SettingsPage
      title="Recording"
      lead="Programs that use Touchstone's address as the base URL of OpenAI's, Anthropic's or Gemini's API are recorded in the audit. Their calls pass unchanged. The Recorder screen shows how to connect one."
    >
      <QueryView query={settings} subject="the settings">
        {({ recorder }) => {
          const onChange = (change: Partial<Recorder>) => update.mutate({ recorder: { ...recorder, ...change } });
          return (
            <div className="settings__stack">
              <Levels recorder={recorder} onChange={onChange} />
              <Redaction recorder={recorder} onChange={onChange} />
              <Failures recorder={recorder} onChange={onChange} />
            </div>
          );
        }}
      </QueryView>
    </SettingsPage>
  );
}
