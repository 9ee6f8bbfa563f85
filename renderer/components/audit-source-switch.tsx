import { useAuditSource, useTeam } from '../queries/team.ts';
import { clearSelection, useAuditViewState } from '../stores/audit.ts';
import { Segmented } from './choices.tsx';

/** Chooses between the runs of this device and those of all hosts, if there is a team database. */
export function AuditSourceSwitch({ label = 'Runs of' }: { label?: string }) {
  const hasTeam = (useTeam().data?.address ?? null) !== null;
  const source = useAuditSource();
  if (!hasTeam) return null;
  return (
    <Segmented
      label={label}
      value={source}
      onValueChange={(next) => {
        // Conversations of the other source may not be in this one.
        clearSelection();
        useAuditViewState.setState({ source: next });
      }}
      options={[
        { value: 'device', label: 'This device' },
        { value: 'team', label: 'Team' },
      ]}
    />
  );
}
