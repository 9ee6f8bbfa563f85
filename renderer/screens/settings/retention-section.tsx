import { useState } from 'react';
import type { Retention } from '../../../shared/contract/audit-data.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { formatBytes, formatPlural, formatTime } from '../../components/format.ts';
import { ErrorFailure, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useRenewalAfterJob } from '../../queries/audit-jobs.ts';
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

function DaysField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <div className="setting__number">
      <TextField
        label="After (days)"
        inputMode="numeric"
        value={text}
        onValueChange={onChange}
        error={readDays(text) === null ? 'Must be 1 to 36,500' : null}
      />
    </div>
  );
}

interface RequestedRetention {
  mode: 'delete' | 'anonymise';
  days: number;
}

/** What applying the retention now would affect. */
function Consequence({ requested }: { requested: RequestedRetention }) {
  const { mode } = requested;
  const preview = useRetentionPreview(requested);
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

interface ConfirmRetentionProps {
  requested: RequestedRetention;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
}

function ConfirmRetention({ requested, isOpen, onClose, onConfirm }: ConfirmRetentionProps) {
  const verb = requested.mode === 'delete' ? 'Delete' : 'Anonymise';
  return (
    <ConfirmDialog
      title={`${verb} runs after ${requested.days} days?`}
      isOpen={isOpen}
      onClose={onClose}
      action={verb}
      onConfirm={onConfirm}
    >
      <Consequence requested={requested} />
      Applies immediately, and then once a day. This can&apos;t be undone. To keep a copy, create a backup first.
    </ConfirmDialog>
  );
}

function RetentionForm({ saved }: { saved: Retention }) {
  const [mode, setMode] = useState(saved.mode);
  const [text, setText] = useState(String(saved.days));
  const [isConfirming, setConfirming] = useState(false);
  const { change, error, isPending } = useChangeRetention();
  const days = readDays(text);
  const isChanged = mode !== saved.mode || (mode !== 'off' && days !== saved.days);
  const requested = mode !== 'off' && days !== null ? { mode, days } : null;
  const apply = () => {
    setConfirming(false);
    if (days !== null || mode === 'off') change({ mode, days: days ?? saved.days });
  };
  return (
    <div className="settings__form">
      <div>
        <Segmented label="Old runs" value={mode} onValueChange={setMode} options={modes} />
      </div>
      <p className="small tertiary">{meanings[mode]}</p>
      {mode !== 'off' && <DaysField text={text} onChange={setText} />}
      {requested && <Consequence requested={requested} />}
      {error && <ErrorFailure title="Couldn't change the retention" error={error} />}
      {isChanged && (
        <div className="row">
          <Button
            variant={mode === 'off' ? 'primary' : 'negative'}
            isBusy={isPending}
            aria-disabled={(mode !== 'off' && days === null) || undefined}
            onClick={() => (mode === 'off' ? apply() : setConfirming(true))}
          >
            {mode === 'off' ? 'Keep everything' : 'Apply'}
          </Button>
          <Button
            variant="quiet"
            onClick={() => {
              setMode(saved.mode);
              setText(String(saved.days));
            }}
          >
            Cancel
          </Button>
        </div>
      )}
      {requested && (
        <ConfirmRetention
          requested={requested}
          isOpen={isConfirming}
          onClose={() => setConfirming(false)}
          onConfirm={apply}
        />
      )}
    </div>
  );
}

/** The audit's list never refetches itself: it would go on showing runs that are deleted. */
function useRenewalAfterRetention(data: ReturnType<typeof useRetention>['data']): void {
  useRenewalAfterJob({
    state: data && `${data.last?.endedAt} ${data.last?.runs}`,
    isActive: data?.isRunning ?? false,
  });
}

/** How long runs are stored. A change shows what it would delete or anonymise before it applies. */
export function RetentionSection() {
  const retention = useRetention();
  useRenewalAfterRetention(retention.data);
  return (
    <SettingsSection title="Retention">
      <div className="card">
        <QueryView query={retention} subject="the retention" rows={2}>
          {({ mode, days, last }) => (
            <>
              <RetentionForm key={`${mode} ${days}`} saved={{ mode, days }} />
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
