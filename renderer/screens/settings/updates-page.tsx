import type { UpdateState } from '../../../shared/contract/host-specific.ts';
import { Button } from '../../components/button.tsx';
import { Switch } from '../../components/choices.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { useCapability } from '../../host/host-context.tsx';
import { useInstallUpdate, useSettings, useUpdates, useUpdateSettings, useUpdateStep } from '../../queries/settings.ts';
import { SettingRow, SettingsPage } from './settings-page.tsx';

const titles: Record<UpdateState['status'], (version: string | null) => string> = {
  off: () => 'Starting the check',
  checking: () => 'Checking for updates',
  current: () => 'Touchstone is up to date',
  available: (version) => `Version ${version} is available`,
  downloading: (version) => `Downloading version ${version}`,
  ready: (version) => `Version ${version} is ready to install`,
  failed: () => 'The update failed',
};

function detailOf({ status, percent, failure }: UpdateState): string | null {
  switch (status) {
    case 'available':
      return 'Downloads only when you ask. You decide later when to install it.';
    case 'downloading':
      return `${percent} %`;
    case 'ready':
      return 'Touchstone closes, which ends active runs, and installs it. Your system may ask for your password.';
    default:
      return failure;
  }
}

/** The result of the check and the next step, which the person always starts. */
function UpdateProgress({ state }: { state: UpdateState }) {
  const step = useUpdateStep();
  const install = useInstallUpdate();
  const { status, version } = state;
  return (
    <SettingRow
      label={<span role="status">{titles[status](version)}</span>}
      detail={<span className={status === 'failed' ? 'negative' : undefined}>{detailOf(state)}</span>}
    >
      {(status === 'current' || status === 'failed') && (
        <Button isBusy={step.isPending} onClick={() => step.mutate('check')}>
          {status === 'failed' ? 'Try again' : 'Check now'}
        </Button>
      )}
      {status === 'available' && (
        <Button variant="primary" isBusy={step.isPending} onClick={() => step.mutate('download')}>
          Download
        </Button>
      )}
      {status === 'ready' && (
        <Button variant="primary" isBusy={install.isPending} onClick={() => install.mutate()}>
          Install and restart
        </Button>
      )}
    </SettingRow>
  );
}

function UpdateSettings({ state }: { state: UpdateState & { host: string } }) {
  const settings = useSettings();
  const update = useUpdateSettings();
  return (
    <div className="card settings__first">
      <QueryView query={settings} subject="the settings">
        {({ updates: { isEnabled } }) => (
          <>
            <SettingRow
              label="Check for updates"
              detail={`At each start and once a day. Contacts only ${state.host}, which sees your IP address but none of your data. Nothing is downloaded or installed unless you ask for it.`}
            >
              <Switch
                label="Check for updates"
                isLabelHidden
                isChecked={isEnabled}
                onCheckedChange={(next) => update.mutate({ updates: { isEnabled: next } })}
              />
            </SettingRow>
            {isEnabled && <UpdateProgress state={state} />}
          </>
        )}
      </QueryView>
    </div>
  );
}

function NoUpdateServer() {
  return (
    <p className="secondary settings__first">
      This copy of Touchstone was built without an update server, so it can&apos;t check for updates and contacts nobody
      for them. To update, install a newer version over this one, or update the folder you start it from.
    </p>
  );
}

/** Off until the person turns it on; no switch if updates are impossible. */
export function UpdatesPage() {
  const canUpdate = useCapability('updates');
  const updates = useUpdates();
  return (
    <SettingsPage title="Updates">
      {canUpdate ? (
        <QueryView query={updates} subject="the updates">
          {({ host, ...state }) => (host === null ? <NoUpdateServer /> : <UpdateSettings state={{ ...state, host }} />)}
        </QueryView>
      ) : (
        <NoUpdateServer />
      )}
    </SettingsPage>
  );
}
