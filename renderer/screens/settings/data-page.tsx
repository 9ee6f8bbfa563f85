import { useState } from 'react';
import { FolderOpen } from 'lucide-react';
import { useMutation } from '@tanstack/react-query';
import { Button, CopyButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { formatBytes, formatPlural, formatTime, formatWhole } from '../../components/format.ts';
import { ErrorFailure, Notice, QueryView } from '../../components/state-panels.tsx';
import { useBackups, useCreateBackup, useHostState, useRestoreBackup } from '../../queries/host-state.ts';
import { TraceExportSection } from './trace-export-section.tsx';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';
import { newestExchangeRuns, type ProviderExchangeSettings } from '../../../shared/contract/provider-exchanges.ts';
import { Segmented } from '../../components/choices.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { openDataFolder } from '../../../shared/contract/host-specific.ts';
import { useCapability, useHost } from '../../host/host-context.tsx';
import { useAuditSamples, useChangeAuditSamples } from '../../queries/audit.ts';
import { RetentionSection } from './retention-section.tsx';

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

/** Backups of the database: create one, list them, restore one at the next start. */
function BackupsSection() {
  const backups = useBackups();
  const create = useCreateBackup();
  const restore = useRestoreBackup();
  const [chosen, setChosen] = useState<string | null>(null);
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
            {({ data }) => <BackupTable backups={data} onRestore={setChosen} />}
          </QueryView>
        </div>
      </div>
      <ConfirmDialog
        title={`Restore ${chosen ?? ''}?`}
        isOpen={chosen !== null}
        onClose={() => setChosen(null)}
        action="Restore at next start"
        isBusy={restore.isPending}
        onConfirm={() => chosen !== null && restore.mutate(chosen, { onSettled: () => setChosen(null) })}
      >
        The next start uses this backup. Newer runs and settings are kept as a separate backup, which you can restore
        the same way.
      </ConfirmDialog>
    </SettingsSection>
  );
}

const recentRuns = formatWhole(newestExchangeRuns);

const choices = [
  { value: 'none', label: 'Off' },
  { value: 'newest', label: `Last ${recentRuns} runs` },
  { value: 'all', label: 'All runs' },
] as const;

const meanings: Record<ProviderExchangeSettings['keep'], string> = {
  none: 'Nothing is stored, and what was stored is deleted.',
  newest: `Stored for the last ${recentRuns} runs, at most 1 MB per body. Older ones are deleted.`,
  all: 'Stored for every run, at most 1 MB per body, until the run is deleted.',
};

/** Whether the wire and the audit can show the raw requests to providers. */
function ProviderExchangesSection() {
  const settings = useSettings();
  const update = useUpdateSettings();
  return (
    <SettingsSection title="Provider requests">
      <div className="card">
        <QueryView query={settings} subject="the settings" rows={1}>
          {({ providerExchanges: { keep } }) => (
            <SettingRow label="Store requests and raw responses" detail={`${meanings[keep]} Keys are never stored.`}>
              <Segmented
                label="Store provider requests and raw responses"
                value={keep}
                onValueChange={(next) => update.mutate({ providerExchanges: { keep: next } })}
                options={choices}
              />
            </SettingRow>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}

function OpenFolderButton() {
  const { client } = useHost();
  const open = useMutation({ mutationFn: () => client.call(openDataFolder) });
  return (
    <Button size="small" icon={FolderOpen} isBusy={open.isPending} onClick={() => open.mutate()}>
      Open folder
    </Button>
  );
}

/** Fictional conversations for trying the audit, at any time. */
function SampleDataSection() {
  const samples = useAuditSamples();
  const change = useChangeAuditSamples();
  return (
    <SettingsSection title="Sample data">
      <div className="card">
        <QueryView query={samples} subject="the sample data" rows={1}>
          {({ isLoaded, conversations }) => (
            <SettingRow
              label={
                isLoaded
                  ? `Sample data is loaded (${formatPlural(conversations, 'fictional conversation')})`
                  : 'Not loaded'
              }
              detail="Fictional conversations to try the audit with. They are marked as samples and don't change your own data."
            >
              <Button
                size="small"
                isBusy={change.isPending}
                onClick={() => change.mutate(isLoaded ? 'remove' : 'load')}
              >
                {isLoaded ? 'Remove sample data' : 'Load sample data'}
              </Button>
            </SettingRow>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}

/** The location and the size of all data, and its backups. */
export function DataPage() {
  const host = useHostState();
  const canOpen = useCapability('open-folder');
  return (
    <SettingsPage
      title="Data and backup"
      lead="One folder on this machine holds runs, prompts, sources, settings and on-device models. Provider keys are stored separately."
    >
      <div className="card">
        <QueryView query={host} subject="the host" rows={2}>
          {({ dataDirectory, databaseBytes, runs }) => (
            <>
              <SettingRow label="Data folder" detail={<span className="mono--small breakable">{dataDirectory}</span>}>
                <CopyButton label="Copy path" text={dataDirectory} size="small" />
                {canOpen && <OpenFolderButton />}
              </SettingRow>
              <SettingRow
                label="Database"
                detail={`${formatPlural(runs, 'run')}, each with its full request and response`}
              >
                <span className="numbers medium">{formatBytes(databaseBytes)}</span>
              </SettingRow>
            </>
          )}
        </QueryView>
      </div>
      <SampleDataSection />
      <BackupsSection />
      <RetentionSection />
      <ProviderExchangesSection />
      <TraceExportSection />
    </SettingsPage>
  );
}
