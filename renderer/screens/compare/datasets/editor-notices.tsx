import { X } from 'lucide-react';
import { useLocation } from 'wouter';
import { useStore } from 'zustand';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import { Progress } from '../../../components/badges.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { datasetAddress } from '../../../shell/addresses.ts';
import type { Editor } from './grid/editor.ts';
import { useRestoreVersion } from './versions-menu.tsx';

/** Work on many rows, and what failed. */
export function EditorStatus({ editor }: { editor: Editor }) {
  const activity = useStore(editor, (state) => state.activity);
  const problem = useStore(editor, (state) => state.problem);
  const isStored = useStore(editor, (state) => state.isStored);
  return (
    <>
      {activity && (
        <div className="dataset-editor__activity line-bottom">
          <span className="small" role="status">
            {activity.label}
          </span>
          <Progress label={activity.label} fraction={activity.fraction ?? 0} />
          <Button size="small" onClick={activity.cancel}>
            Cancel
          </Button>
        </div>
      )}
      {problem !== null && (
        <div className="dataset-editor__notice">
          <Notice tone="negative">
            <div className="row">
              <span className="grow">{problem}</span>
              <IconButton icon={X} size="small" label="Dismiss" onClick={() => editor.showProblem(null)} />
            </div>
          </Notice>
        </div>
      )}
      {!isStored && (
        <div className="dataset-editor__notice">
          <Notice tone="caution">
            This dataset is open in another window. Edits that you don't save here are lost when this window reloads.
          </Notice>
        </div>
      )}
    </>
  );
}

/** Says that an older version is open. */
export function OldVersion({ dataset, latest }: { dataset: Dataset; latest: Dataset }) {
  const [, navigate] = useLocation();
  const restore = useRestoreVersion();
  return (
    <div className="dataset-editor__notice">
      <Notice>
        <div className="row">
          <span className="grow">
            Version {dataset.version} is read-only. Version {latest.latestVersion} is the latest.
          </span>
          <Button size="small" onClick={() => navigate(datasetAddress(dataset.id))}>
            Open latest
          </Button>
          <Button
            size="small"
            isBusy={restore.isPending}
            onClick={() => restore.mutate({ dataset, latestVersion: latest.latestVersion })}
          >
            Restore version {dataset.version}
          </Button>
        </div>
      </Notice>
    </div>
  );
}

/** Says that there is a newer version than the one that is edited. */
export function NewerVersion({ base, latest, onResolve }: { base: number; latest: number; onResolve: () => void }) {
  return (
    <div className="dataset-editor__notice">
      <Notice tone="caution">
        <div className="row">
          <span className="grow">
            Version {latest} was saved elsewhere. Your edits are based on version {base}.
          </span>
          <Button size="small" onClick={onResolve}>
            Resolve
          </Button>
        </div>
      </Notice>
    </div>
  );
}

interface ConflictProps {
  latest: number;
  base: number;
  onClose: () => void;
  onOverwrite: () => void;
  onDiscard: () => void;
}

/** The choice between one's own edits and a version that was saved meanwhile. */
export function Conflict({ latest, base, onClose, onOverwrite, onDiscard }: ConflictProps) {
  const footer = (
    <>
      <Button onClick={onClose}>Continue editing</Button>
      <Button variant="negative" onClick={onDiscard}>
        Discard mine, open version {latest}
      </Button>
      <Button variant="primary" onClick={onOverwrite}>
        Save mine as version {latest + 1}
      </Button>
    </>
  );
  return (
    <Dialog title={`Version ${latest} was saved elsewhere`} isOpen onClose={onClose} role="alertdialog" footer={footer}>
      <p className="secondary">
        Your edits are based on version {base}. If you save them, version {latest + 1} has your rows and not the changes
        of version {latest}, which stays in the list of versions.
      </p>
    </Dialog>
  );
}
