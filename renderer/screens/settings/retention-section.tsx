import { useState } from 'react';
import type { Retention } from '../../../shared/contract/audit-data.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { formatBytes, formatPlural, formatTime } from '../../components/format.ts';
import { ErrorFailure, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useChangeRetention, useRetention, useRetentionPreview } from '../../queries/audit.ts';
import { SettingsSection } from './settings-page.tsx';

const modes = [
  { value: 'off', label: 'Keep everything' },
  { value: 'anonymise', label: 'Anonymise' },
  { value: 'delete', label: 'Delete' },
] as const;

const meanings: Record<Retention['mode'], string> = {
  off: 'Runs are kept until you delete them.',
  anonymise: 'Removes texts, headers, metadata and comments of older runs. Counts, usage, cost and timing stay.',
  delete: 'Deletes older runs with their texts and feedback. Credits, API keys and saved views stay.',
};

function readDays(text: string): number | null {
  const days = Number(text);
  return /^\d{1,5}$/.test(text.trim()) && days >= 1 && days <= 36_500 ? days : null;
}

/** What applying the retention now would affect. */
function Consequence({ asked }: { asked: { mode: 'delete' | 'anonymise'; days: number } }) {
  const { mode } = asked;
  const preview = useRetentionPreview(asked);
  return (
    <QueryView query={preview} subject="the affected runs" rows={1}>
      {({ runs, conversations, before, bytes, oldest }) => (
        <p className="small secondary" role="status">
          {runs === 0 ? (
            mode === 'delete' ? (
              `No runs before ${formatTime(before)}: nothing would be deleted now.`
            ) : (
              `No runs before ${formatTime(before)}: nothing would be anonymised now.`
            )
          ) : (
            <>
              <strong className="strong">
                {formatPlural(runs, 'run')} in {formatPlural(conversations, 'conversation')}
              </strong>{' '}
              before {formatTime(before)}, about {formatBytes(bytes)} of text
              {oldest && `, the oldest from ${formatTime(oldest)}`}.
            </>
          )}
        </p>
      )}
    </QueryView>
  );
}

function Applied({ last }: { last: NonNullable<ReturnType<typeof useRetention>['data']>['last'] }) {
  if (!last) return null;
  const verb = last.mode === 'delete' ? 'deleted' : 'anonymised';
  return (
    <p className="small tertiary">
      Last applied {formatTime(last.startedAt)}: {formatPlural(last.runs, 'run')} {verb}
      {last.endedAt === null && ', in progress'}.
    </p>
  );
}

function RetentionForm({ kept }: { kept: Retention }) {
  const [mode, setMode] = useState(kept.mode);
  const [text, setText] = useState(String(kept.days));
  const [isConfirming, setAsked] = useState(false);
  const { change, error, isPending } = useChangeRetention();
  const days = readDays(text);
  const isChanged = mode !== kept.mode || (mode !== 'off' && days !== kept.days);
  const requested = mode !== 'off' && days !== null ? { mode, days } : null;
  const apply = () => {
    setAsked(false);
    if (days !== null || mode === 'off') change({ mode, days: days ?? kept.days });
  };
  return (
    <div className="settings__form">
      <div>
        <Segmented label="Old runs" value={mode} onValueChange={setMode} options={modes} />
      </div>
      <p className="small tertiary">{meanings[mode]}</p>
      {mode !== 'off' && (
        <div className="setting__number">
          <TextField
            label="After (days)"
            inputMode="numeric"
            value={text}
            onValueChange={setText}
            error={days === null ? 'Must be 1 to 36,500' : null}
          />
        </div>
      )}
      {requested && <Consequence asked={requested} />}
      {error && <ErrorFailure title="Couldn't change the retention" error={error} />}
      {isChanged && (
        <div className="row">
          <Button
            variant={mode === 'off' ? 'primary' : 'negative'}
            isBusy={isPending}
            aria-disabled={(mode !== 'off' && days === null) || undefined}
            onClick={() => (mode === 'off' ? apply() : setAsked(true))}
          >
            {mode === 'off' ? 'Keep everything' : 'Apply'}
          </Button>
          <Button
            variant="quiet"
            onClick={() => {
              setMode(kept.mode);
              setText(String(kept.days));
            }}
          >
            Cancel
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={`${mode === 'delete' ? 'Delete' : 'Anonymise'} runs after ${days} days?`}
        isOpen={isConfirming}
        onClose={() => setAsked(false)}
        action={mode === 'delete' ? 'Delete' : 'Anonymise'}
        onConfirm={apply}
      >
        {requested && <Consequence asked={requested} />}
        Applies immediately, and then once a day. This can&apos;t be undone. To keep a copy, create a backup first.
      </ConfirmDialog>
    </div>
  );
}

/** How long runs are kept: forever, unless the person says otherwise and has seen what would go. */
export function RetentionSection() {
  const retention = useRetention();
  return (
    <SettingsSection title="Retention">
      <div className="card">
        <QueryView query={retention} subject="the retention" rows={2}>
          {({ mode, days, last }) => (
            <>
              <RetentionForm key={`${mode} ${days}`} kept={{ mode, days }} />
              {last && (
                <div className="setting-panel">
                  <Applied last={last} />
                </div>
              )}
            </>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}
