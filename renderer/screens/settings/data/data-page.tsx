import { FolderOpen } from 'lucide-react';
import { useMutation } from '@tanstack/react-query';
import { openDataFolder } from '../../../../shared/contract/desktop.ts';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { formatBytes, formatPlural } from '../../../components/format.ts';
import { QueryView } from '../../../components/query-view.tsx';
import { useCapability, useHost } from '../../../host/host-context.tsx';
import { useAuditSamples, useChangeAuditSamples } from '../../../queries/audit-samples.ts';
import { useHostState } from '../../../queries/host-state.ts';
import { SettingRow, SettingsPage, SettingsSection } from '../settings-page.tsx';
import { BackupsSection } from './backups-section.tsx';
import { ProviderExchangesSection } from './provider-exchanges-section.tsx';
import { RetentionSection } from './retention-section.tsx';

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

/** Where all data is stored, how much it is, and its backups. */
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
    </SettingsPage>
  );
}
