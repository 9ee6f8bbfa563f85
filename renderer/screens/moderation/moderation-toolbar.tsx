import { Download, FileSearch, FileUp, ListPlus, Play } from 'lucide-react';
import { useState, type RefObject } from 'react';
import type { Batch, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import type { ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Menu } from '../../components/menu.tsx';
import { useAuditViews } from '../../queries/audit-list.ts';
import { useExportBatch } from '../../queries/moderation.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { ClassifierSelect, GuardPopover, PolicyButton } from './classifier-controls.tsx';
import { saveFile } from '../../components/save-file.ts';
import type { LoadTexts } from './use-texts.ts';

function PasteLines({ isOpen, onClose, load }: { isOpen: boolean; onClose: () => void; load: LoadTexts }) {
  const [lines, setLines] = useState('');
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        variant="primary"
        disabled={lines.trim() === ''}
        onClick={() => {
          load.fromText('Pasted lines', lines);
          setLines('');
          onClose();
        }}
      >
        Check lines
      </Button>
    </>
  );
  return (
    <Dialog title="Paste lines" isOpen={isOpen} onClose={onClose} isWide footer={footer}>
      <label className="small secondary" htmlFor="moderation-lines">
        One text per line. Empty lines are skipped.
      </label>
      <div className="field field--area">
        <textarea
          id="moderation-lines"
          rows={12}
          value={lines}
          onChange={(event) => setLines(event.target.value)}
          spellCheck={false}
        />
      </div>
    </Dialog>
  );
}

function AuditMenu({ load }: { load: LoadTexts }) {
  const views = useAuditViews().data?.data ?? [];
  const all = { name: 'All runs', filter: {} };
  const groups = (['prompts', 'answers'] as const).map((side) =>
    [all, ...views].map(({ name, filter }) => ({
      label: `${side === 'prompts' ? 'Prompts' : 'Answers'}: ${name}`,
      onSelect: () => load.fromAudit(`${side === 'prompts' ? 'Prompts' : 'Answers'} of ${name}`, { side, filter }),
    })),
  );
  return (
    <Menu groups={groups}>
      <Button size="small" icon={FileSearch}>
        <span className="wide-only">Import from audit</span>
        <span className="narrow-only">Audit</span>
      </Button>
    </Menu>
  );
}

function ExportMenu({ batch, thresholds }: { batch: Batch; thresholds: CategoryScores }) {
  const write = useExportBatch();
  const item = (format: 'csv' | 'jsonl') => ({
    label: format === 'csv' ? 'CSV, for spreadsheets' : 'JSONL, for programs',
    onSelect: () =>
      write.mutate(
        { id: batch.id, format, thresholds },
        { onSuccess: ({ fileName, content }) => saveFile(fileName, content) },
      ),
  });
  return (
    <Menu groups={[[item('csv'), item('jsonl')]]}>
      <Button size="small" icon={Download} isBusy={write.isPending}>
        Export
      </Button>
    </Menu>
  );
}

interface ClassifierChoicesProps {
  first: ModerationClassifier | null;
  second: ModerationClassifier | null;
}

/** Classifier A, and classifier B to compare it with. */
function ClassifierChoices({ first, second }: ClassifierChoicesProps) {
  return (
    <>
      <span className="small secondary nowrap" aria-hidden="true">
        <span className="wide-only">Classifier </span>A
      </span>
      <ClassifierSelect
        label="Classifier A"
        value={first}
        onValueChange={(next) => useModerationStore.setState({ first: next, thresholds: null })}
      />
      {first?.kind === 'model' && (
        <PolicyButton
          letter="A"
          classifier={first}
          onValueChange={(next) => useModerationStore.setState({ first: next })}
        />
      )}
      <span className="small secondary nowrap" aria-hidden="true">
        B
      </span>
      <ClassifierSelect
        label="Classifier B"
        value={second}
        isOptional
        onValueChange={(next) => useModerationStore.setState({ second: next })}
      />
      {second?.kind === 'model' && (
        <PolicyButton
          letter="B"
          classifier={second}
          onValueChange={(next) => useModerationStore.setState({ second: next })}
        />
      )}
    </>
  );
}

export interface ModerationToolbarProps extends ClassifierChoicesProps {
  load: LoadTexts;
  file: RefObject<HTMLInputElement | null>;
  onFile: (file: File) => Promise<void>;
  onChooseFile: () => void;
  batch: Batch | undefined;
  thresholds: CategoryScores;
  isPasting: boolean;
  onPasting: (isPasting: boolean) => void;
  isGuardOpen: boolean;
  onGuardOpen: (isOpen: boolean) => void;
  isBusy: boolean;
  onCheck: () => void;
}

export function ModerationToolbar(props: ModerationToolbarProps) {
  const { load, file, batch, thresholds, first, second, isBusy, onCheck } = props;
  return (
    <div className="toolbar moderation__toolbar">
      <input
        ref={file}
        type="file"
        hidden
        aria-label="Import file"
        accept=".txt,.csv,.jsonl,.ndjson"
        onChange={(event) => {
          const chosen = event.target.files?.[0];
          // The same file can be chosen again after a change.
          if (chosen) void props.onFile(chosen).finally(() => (event.target.value = ''));
        }}
      />
      <Button size="small" icon={FileUp} isBusy={load.isBusy} onClick={props.onChooseFile}>
        <span className="wide-only">Import file</span>
        <span className="narrow-only">File</span>
      </Button>
      <IconButton
        icon={ListPlus}
        label="Paste lines"
        size="small"
        variant="default"
        onClick={() => props.onPasting(true)}
      />
      <AuditMenu load={load} />
      <span className="divider" />
      <ClassifierChoices first={first} second={second} />
      <span className="grow" />
      {batch && <ExportMenu batch={batch} thresholds={thresholds} />}
      <GuardPopover isOpen={props.isGuardOpen} onOpenChange={props.onGuardOpen} />
      <Button variant="primary" icon={Play} keys="Mod+Enter" isBusy={isBusy} onClick={onCheck}>
        Check
      </Button>
      <PasteLines isOpen={props.isPasting} onClose={() => props.onPasting(false)} load={load} />
    </div>
  );
}
