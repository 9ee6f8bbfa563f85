import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Settings } from '../../../shared/contract/settings.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { NewPattern } from '../../components/new-pattern.tsx';
import { Popover } from '../../components/popover.tsx';
import { RedactionChoices } from '../../components/redaction-choices.tsx';
import { Link } from 'wouter';
import { settingsAddress } from '../../shell/addresses.ts';
import { useRecorderState } from '../../queries/recorded-calls.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';

type Recorder = Settings['recorder'];
type Level = Recorder['levels']['openai-chat'];

const levelOptions = [
  { value: 'all', label: 'Everything' },
  { value: 'metadata', label: 'Metadata only' },
  { value: 'none', label: 'Nothing' },
] as const;

/** Embeddings are numbers, so that "Everything" keeps only their metadata. */
export function levelsOf(level: Level): Recorder['levels'] {
  return {
    'openai-chat': level,
    'openai-responses': level,
    'openai-embeddings': level === 'all' ? 'metadata' : level,
    'anthropic-messages': level,
    'gemini-content': level,
  };
}

/** Null if the APIs have levels that only Settings can set. */
function commonLevel(levels: Recorder['levels']): Level | null {
  const level = levelOptions.find(({ value }) =>
    Object.entries(levelsOf(value)).every(([api, expected]) => levels[api as keyof Recorder['levels']] === expected),
  );
  return level?.value ?? null;
}

function AddPattern({ recorder }: { recorder: Recorder }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      label="Add pattern"
      isOpen={isOpen}
      onOpenChange={setOpen}
      align="end"
      trigger={
        <Button size="small" variant="quiet" icon={Plus}>
          Add pattern
        </Button>
      }
    >
      <NewPattern recorder={recorder} className="filter-form" onAdded={() => setOpen(false)} />
    </Popover>
  );
}

/** What is stored of the calls, and what is replaced before it is stored. */
export function RecordingRules() {
  const recorder = useSettings().data?.recorder;
  const update = useUpdateSettings();
  const hidden = useRecorderState().data?.hidden;
  if (!recorder) return null;
  const level = commonLevel(recorder.levels);
  const change = (part: Partial<Recorder>): void => update.mutate({ recorder: { ...recorder, ...part } });
  return (
    <>
      <div className="header line-top">
        <h2>What is recorded</h2>
      </div>
      <div className="recorder__block">
        {level === null ? (
          <p>
            Different for each API.{' '}
            <Link href={settingsAddress('recording')} className="link">
              Change in Settings
            </Link>
          </p>
        ) : (
          <Segmented
            label="What is recorded"
            value={level}
            options={levelOptions}
            onValueChange={(next) => change({ levels: levelsOf(next) })}
          />
        )}
        <p className="caption tertiary">
          Stored on this computer. Metadata are the model, tokens, cost, times and errors. An API key can have less.
        </p>
      </div>
      <div className="header line-top">
        <h2>Redaction</h2>
        <span className="caption tertiary">before saving</span>
        <span className="grow" />
        <AddPattern recorder={recorder} />
      </div>
      <div className="recorder__block">
        <RedactionChoices rules={recorder.redaction} hidden={hidden} onChange={(redaction) => change({ redaction })} />
        <Link href={settingsAddress('recording')} className="link small">
          Redaction settings
        </Link>
      </div>
    </>
  );
}
