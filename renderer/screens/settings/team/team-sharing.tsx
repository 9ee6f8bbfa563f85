import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { TeamMembers, TeamState } from '../../../../shared/contract/team.ts';
import { AuditSourceSwitch } from '../../../components/audit-source-switch.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatCount, formatPlural, formatTime } from '../../../components/format.ts';
import { NewReviewerDialog } from '../../../components/new-reviewer.tsx';
import { QueryView } from '../../../components/state-panels.tsx';
import { useRemoveTeamHost, useTeamMembers } from '../../../queries/team.ts';
import { SettingsSection } from '../settings-page.tsx';

const shared: readonly (readonly [what: string, how: string])[] = [
  ['Runs and answers', 'Copied when they end, with prompts as sent. Sample data stays here.'],
  ['Feedback', 'Copied with its history and the name of its reviewer.'],
  ['Review queues', 'Only those made with “Share with the team”. They need the database.'],
  ['Reviewers', 'Names, and PINs as hashes. A review tells who gave it.'],
  ['Prompts, agents, datasets', 'Stay on this device.'],
  ['Files and images', 'Stay on this device.'],
  ['Provider keys and passwords', 'Never leave this device.'],
];

/** Nothing of this can be switched: what is copied is the same for every host, so that an audit of the team is complete. */
export function SharedThings({ state: { isFixed } }: { state: TeamState }) {
  const keys = isFixed
    ? 'Shared with hosts that have --team. The database has only hashes.'
    : 'Stay here; only their names are copied.';
  return (
    <SettingsSection title="What is shared">
      <ul className="card team__shared">
        {[...shared, ['API keys', keys] as const].map(([what, how]) => (
          <li key={what}>
            <p className="medium">{what}</p>
            <p className="caption tertiary">{how}</p>
          </li>
        ))}
      </ul>
    </SettingsSection>
  );
}

function Reviewers({ reviewers }: { reviewers: TeamMembers['reviewers'] }) {
  if (reviewers === null)
    return <p className="setting-panel small secondary">This user may not read the reviewers of the team.</p>;
  if (reviewers.length === 0) return <p className="setting-panel small secondary">Nobody yet.</p>;
  return (
    <table className="table" aria-label="Reviewers">
      <thead>
        <tr>
          <th scope="col">Reviewer</th>
          <th scope="col">Role</th>
          <th scope="col" className="right">
            Reviewed
          </th>
          <th scope="col" className="right">
            Last review
          </th>
        </tr>
      </thead>
      <tbody>
        {reviewers.map(({ id, name, kind, hasPin, reviewed, lastReviewAt }) => (
          <tr key={id}>
            <td className="medium breakable">{name}</td>
            <td className="nowrap">{kind === 'api-key' ? 'API key' : hasPin ? 'Person, PIN' : 'Person'}</td>
            <td className="right">{formatCount(reviewed)}</td>
            <td className="right nowrap">{lastReviewAt === null ? 'Never' : formatTime(lastReviewAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Host = NonNullable<TeamMembers['hosts']>[number];

function HostRow({ host }: { host: Host }) {
  const [isRemoving, setRemoving] = useState(false);
  const remove = useRemoveTeamHost();
  const { id, name, isThisHost, copiedAt, rejected, reserved, isRemovable } = host;
  const held = isRemovable && reserved !== null && reserved > 0 ? formatPlural(reserved, 'credit') : null;
  return (
    <tr>
      <td className="medium breakable">
        {name} {isThisHost && <span className="tertiary">(this one)</span>}
        {rejected > 0 && <p className="caption caution">{formatPlural(rejected, 'run')} not storable</p>}
        {held !== null && <p className="caption caution">Not connected, holds {held} in reserve</p>}
      </td>
      <td className="right nowrap">{copiedAt === null ? 'Never' : formatTime(copiedAt)}</td>
      <td className="right">
        {isRemovable && (
          <IconButton size="small" icon={Trash2} label={`Remove ${name}`} onClick={() => setRemoving(true)} />
        )}
        <ConfirmDialog
          title={`Remove ${name}?`}
          isOpen={isRemoving}
          onClose={() => setRemoving(false)}
          action="Remove host"
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(id, { onSettled: () => setRemoving(false) })}
        >
          For a host that never comes back. Its runs stay.{' '}
          {held !== null && `Other hosts can use the ${held} that it holds. `}
          If it comes back, it’s listed again, and credits that it has used are counted.
        </ConfirmDialog>
      </td>
    </tr>
  );
}

function Hosts({ hosts }: { hosts: TeamMembers['hosts'] }) {
  if (hosts === null) return null;
  return (
    <table className="table" aria-label="Hosts">
      <thead>
        <tr>
          <th scope="col">Host</th>
          <th scope="col" className="right">
            Last copied
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {hosts.map((host) => (
          <HostRow key={host.id} host={host} />
        ))}
      </tbody>
    </table>
  );
}

function MemberTables() {
  const members = useTeamMembers();
  return (
    <QueryView query={members} subject="the members" rows={3}>
      {({ reviewers, hosts }) => (
        <>
          <div className="card">
            <Reviewers reviewers={reviewers} />
          </div>
          {hosts !== null && (
            <div className="card team__hosts">
              <Hosts hosts={hosts} />
            </div>
          )}
        </>
      )}
    </QueryView>
  );
}

/** Who reviews, and which hosts copy. */
export function Members({ state: { status } }: { state: TeamState }) {
  const isConnected = status !== 'connecting' && status !== 'offline';
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button size="small" icon={Plus} onClick={() => setAdding(true)}>
      Add reviewer
    </Button>
  );
  return (
    <>
      <SettingsSection title="Members" actions={add}>
        {isConnected ? (
          <MemberTables />
        ) : (
          <p className="small secondary">They are shown while the database can be reached.</p>
        )}
        {isAdding && <NewReviewerDialog onClose={() => setAdding(false)} />}
      </SettingsSection>
      <SettingsSection title="Audit shows" actions={<AuditSourceSwitch label="Audit shows" />}>
        <p className="small secondary">The audit has the same switch. The team’s runs need a connection.</p>
      </SettingsSection>
    </>
  );
}
