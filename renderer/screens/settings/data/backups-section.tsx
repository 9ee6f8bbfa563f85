import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatBytes, formatTime } from '../../../components/format.ts';
import { QueryView } from '../../../components/query-view.tsx';
import { ErrorFailure, Notice } from '../../../components/state-panels.tsx';
import { useBackups, useCreateBackup, useRestoreBackup } from '../../../queries/host-state.ts';
import { SettingsSection } from '../settings-page.tsx';

interface Backup {
  fileName: string;
  bytes: number;
  createdAt: string;
}

function BackupTable({ backups, onRestore }: { backups: readonly Backup[]; onRestore: (fileName: string) => void }) {
  if (backups.length === 0)
    return <p className="setting-panel small secondary">No backups. You can keep working while a backup is created.</p>;
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Backup</th>
          <th scope="col">Created</th>
          <th scope="col" className="right">
            Size
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {backups.map(({ fileName, bytes, createdAt }) => (
          <tr key={fileName}>
            <td className="mono--small">{fileName}</td>
            <td className="nowrap">{formatTime(createdAt)}</td>
            <td className="right nowrap">{formatBytes(bytes)}</td>
            <td className="right">
              <Button size="small" aria-label={`Restore ${fileName}`} onClick={() => onRestore(fileName)}>
                Restore
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Copies of the database: made now, listed, put back at the next start. */
export function BackupsSection() {
  const backups = useBackups();
  const create = useCreateBackup();
  const restore = useRestoreBackup();
  const [asked, setAsked] = useState<string | null>(null);
  const backupButton = (
    <Button size="small" isBusy={create.isPending} onClick={() => create.mutate()}>
      Back up now
    </Button>
  );
  return (
    <SettingsSection title="Backups" actions={backupButton}>
      <div className="settings__stack">
        {create.error && <ErrorFailure title="Couldn't create the backup" error={create.error} />}
        {restore.error && <ErrorFailure title="Couldn't restore the backup" error={restore.error} />}
        {restore.data && (
          <Notice tone="caution">
            <strong>{restore.data.fileName} will be restored at the next start.</strong> Quit Touchstone and start it
            again. The current data is kept as a backup.
          </Notice>
        )}
        <div className="card">
          <QueryView query={backups} subject="the backups" rows={2}>
            {({ data }) => <BackupTable backups={data} onRestore={setAsked} />}
          </QueryView>
        </div>
      </div>
      <ConfirmDialog
        title={`Restore ${asked ?? ''}?`}
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        action="Restore at next start"
        isBusy={restore.isPending}
        onConfirm={() => asked !== null && restore.mutate(asked, { onSettled: () => setAsked(null) })}
      >
        The next start uses this backup. Newer runs and settings are kept as a backup of their own, which you can
        restore the same way.
      </ConfirmDialog>
    </SettingsSection>
  );
}
