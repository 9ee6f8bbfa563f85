import { FileSearch, Play, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { LogImport } from '../../../../shared/contract/log-imports.ts';
import { Badge, Progress } from '../../../components/badges.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatPlural, formatTime } from '../../../components/format.ts';
import { Notice } from '../../../components/state-panels.tsx';
import { useChangeLogImport } from '../../../queries/log-imports.ts';
import { formatNames, ReportEntries } from './preview-report.tsx';

const states = {
  Running: { word: 'In progress', tone: 'accent' },
  Stopped: { word: 'Stopped', tone: 'neutral' },
  Completed: { word: 'Complete', tone: 'positive' },
  Failed: { word: 'Failed', tone: 'negative' },
  Removing: { word: 'Removing', tone: 'neutral' },
} as const;

function ImportActions({ each, onShow }: { each: LogImport; onShow: (importId: string) => void }) {
  const { mutate } = useChangeLogImport();
  const [isAsking, setAsking] = useState(false);
  const { id, state, imported } = each;
  return (
    <>
      {state === 'Running' && (
        <Button size="small" icon={Square} onClick={() => mutate({ id, change: 'stop' })}>
          Stop
        </Button>
      )}
      {(state === 'Stopped' || state === 'Failed') && (
        <Button size="small" icon={Play} onClick={() => mutate({ id, change: 'resume' })}>
          Resume
        </Button>
      )}
      {imported > 0 && state !== 'Removing' && (
        <Button size="small" icon={FileSearch} onClick={() => onShow(id)}>
          Show runs
        </Button>
      )}
      {state !== 'Removing' && (
        <IconButton size="small" icon={Trash2} label={`Delete ${each.name}`} onClick={() => setAsking(true)} />
      )}
      {isAsking && (
        <ConfirmDialog
          isOpen
          title={`Delete "${each.name}"?`}
          action="Delete import"
          onConfirm={() => {
            setAsking(false);
            mutate({ id, change: 'delete' });
          }}
          onClose={() => setAsking(false)}
        >
          Deletes its {formatPlural(imported, 'run')} with their feedback. Other runs stay. This can&apos;t be undone.
        </ConfirmDialog>
      )}
    </>
  );
}

interface ImportListProps {
  imports: readonly LogImport[];
  onShow: (importId: string) => void;
}

/** The imports with their progress, newest first. */
export function ImportList({ imports, onShow }: ImportListProps) {
  if (imports.length === 0) return null;
  return (
    <section className="import-log__list" aria-label="Imports">
      <h3 className="small medium">Imports</h3>
      {imports.map((each) => (
        <article key={each.id} className="import-log__card card" aria-label={each.name}>
          <div className="row">
            <h4 className="medium truncate">{each.name}</h4>
            <Badge tone={states[each.state].tone}>{states[each.state].word}</Badge>
            <span className="caption tertiary nowrap">{formatTime(each.createdAt)}</span>
            <span className="grow" />
            <ImportActions each={each} onShow={onShow} />
          </div>
          {each.state === 'Running' && <Progress label={`Progress of ${each.name}`} fraction={each.progress} />}
          <p className="caption tertiary numbers">
            {formatNames[each.format]}, {formatPlural(each.imported, 'stored call')}
          </p>
          {each.failure !== null && <Notice tone="negative">{each.failure}</Notice>}
          {(each.report.leftOut.length > 0 || each.report.duplicates > 0) && (
            <details>
              <summary className="small">Report</summary>
              <ReportEntries report={each.report} />
            </details>
          )}
        </article>
      ))}
    </section>
  );
}
