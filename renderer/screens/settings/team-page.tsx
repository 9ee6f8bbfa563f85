import { useState } from 'react';
import type { TeamState } from '../../../shared/contract/team.ts';
import { Button } from '../../components/button.tsx';
import { formatPlural } from '../../components/format.ts';
import { ErrorFailure, Notice, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useChangeTeam, useTeam, useTestTeam } from '../../queries/team.ts';
import { SettingRow, SettingsPage, SettingsSection } from './settings-page.tsx';

const statuses: Readonly<Record<TeamState['status'], string>> = {
  off: 'Not connected',
  connecting: 'Connecting',
  copying: 'Copying',
  'up-to-date': 'Up to date',
  offline: 'Offline',
  'read-only': 'Reads only',
};

function progressText({ status, waiting, copied, rejected }: TeamState): string {
  const parts = [
    status === 'offline'
      ? 'Runs are saved on this device and copied later'
      : `${formatPlural(waiting, 'change')} waiting`,
    `${formatPlural(copied, 'change')} copied since the last start`,
    ...(rejected > 0 ? [`${formatPlural(rejected, 'run')} not storable there`] : []),
  ];
  return parts.join(', ');
}

function Connection({ state }: { state: TeamState }) {
  const change = useChangeTeam();
  return (
    <div className="card settings__first">
      <SettingRow
        label={<span role="status">{statuses[state.status]}</span>}
        detail={<span className="mono--small">{state.address}</span>}
      >
        {!state.isFixed && (
          <Button isBusy={change.isPending} onClick={() => change.mutate(null)}>
            Disconnect
          </Button>
        )}
      </SettingRow>
      <SettingRow label="Runs and feedback of this device" detail={progressText(state)} />
      {state.message !== null && (
        <Notice tone={state.status === 'offline' ? 'negative' : 'caution'}>{state.message}</Notice>
      )}
      {change.error && <ErrorFailure title="Couldn't disconnect" error={change.error} />}
    </div>
  );
}

function TestResult({ test }: { test: ReturnType<typeof useTestTeam> }) {
  if (test.error) return <ErrorFailure title="Couldn't test the connection" error={test.error} />;
  if (!test.data) return null;
  const { failure, readOnlyReason } = test.data;
  if (failure !== null) return <Notice tone="negative">{failure}</Notice>;
  return (
    <Notice tone={readOnlyReason === null ? 'neutral' : 'caution'}>
      {readOnlyReason ?? 'The connection works, and this user can copy runs.'}
    </Notice>
  );
}

function passwordHint({ keychain }: TeamState): string {
  return keychain === null
    ? 'No keychain was found, so you enter it again after each start. To keep it, start a keychain service, or start Touchstone with --team and set PGPASSWORD.'
    : `Stored in the ${keychain}`;
}

/** Saved on request, because every run is copied from then on. */
function ConnectForm({ state }: { state: TeamState }) {
  const [address, setAddress] = useState(state.address ?? '');
  const [password, setPassword] = useState('');
  const test = useTestTeam();
  const change = useChangeTeam();
  const isEmpty = address.trim() === '';
  const input = { address: address.trim(), password: password === '' ? null : password };
  const connect = () => !isEmpty && change.mutate(input, { onSuccess: () => setPassword('') });
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        connect();
      }}
    >
      <div className="setting">
        <div className="grow">
          <TextField
            label="Address"
            isMono
            placeholder="postgres://user@host:5432/database"
            hint="PostgreSQL 14 or later. The connection is encrypted and the certificate is checked."
            value={address}
            onValueChange={setAddress}
          />
        </div>
      </div>
      <SettingRow label="Password" detail={passwordHint(state)}>
        <TextField
          label="Password of the team database"
          isLabelHidden
          type="password"
          autoComplete="new-password"
          placeholder={state.hasPassword ? 'Unchanged' : ''}
          value={password}
          onValueChange={setPassword}
        />
      </SettingRow>
      <SettingRow
        label=""
        detail="Prompts, answers and feedback of every run are copied. Sample data and files stay here."
      >
        <Button
          isBusy={test.isPending}
          aria-disabled={isEmpty || undefined}
          onClick={() => !isEmpty && test.mutate(input)}
        >
          Test
        </Button>
        <Button type="submit" variant="primary" isBusy={change.isPending} aria-disabled={isEmpty || undefined}>
          {state.address === null ? 'Connect' : 'Save'}
        </Button>
      </SettingRow>
      <TestResult test={test} />
      {change.error && <ErrorFailure title="Couldn't connect" error={change.error} />}
    </form>
  );
}

/** The team's PostgreSQL, to which the runs of this device are copied. */
export function TeamPage() {
  const team = useTeam();
  return (
    <SettingsPage
      title="Team database"
      lead="Runs and feedback are saved on this device first, then copied to your team’s PostgreSQL database. You can keep working while it’s offline."
    >
      <QueryView query={team} subject="the team database" rows={2}>
        {(state) => (
          <>
            {state.address !== null && <Connection state={state} />}
            {state.isFixed ? (
              <p className="small tertiary">Set on the command line with --team.</p>
            ) : (
              <SettingsSection title={state.address === null ? 'Connect' : 'Change the connection'}>
                <ConnectForm key={state.address} state={state} />
              </SettingsSection>
            )}
          </>
        )}
      </QueryView>
    </SettingsPage>
  );
}
