import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AuditSource } from '../../shared/contract/audit.ts';
import {
  connectTeam,
  disconnectTeam,
  listTeamMembers,
  readTeam,
  removeTeamHost,
  retryTeam,
  type TeamInput,
  type TeamState,
  testTeam,
} from '../../shared/contract/team.ts';
import { useHost } from '../host/host-context.tsx';
import { useAuditViewState } from '../stores/audit.ts';

const teamKey = ['team'] as const;

/** How often the progress is read while there is a team database, in milliseconds. */
const progressMilliseconds = 2000;

/** The team database and the progress of copying to it. */
export function useTeam() {
  const { client } = useHost();
  return useQuery({
    queryKey: teamKey,
    queryFn: ({ signal }) => client.call(readTeam, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.address === null ? false : progressMilliseconds,
  });
}

/** The runs that the audit shows: those of this device without a team database. */
export function useAuditSource(): AuditSource {
  const chosen = useAuditViewState(({ source }) => source);
  const address = useTeam().data?.address ?? null;
  return address === null ? 'device' : chosen;
}

export function useTestTeam() {
  const { client } = useHost();
  return useMutation({ gcTime: 0, mutationFn: (body: TeamInput) => client.call(testTeam, { body }) });
}

/** Connects to a team database; null disconnects. */
export function useChangeTeam() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    gcTime: 0,
    mutationFn: (input: TeamInput | null): Promise<TeamState> =>
      input === null ? client.call(disconnectTeam) : client.call(connectTeam, { body: input }),
    onSuccess: (state) => queryClient.setQueryData(teamKey, state),
  });
}

/** Connects now instead of after the waiting time. */
export function useRetryTeam() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => client.call(retryTeam),
    onSuccess: (state) => queryClient.setQueryData(teamKey, state),
  });
}

/** A reviewer who was added here is in the database a second later. */
const membersMilliseconds = 10_000;

/** The reviewers and hosts of a connected team database. */
export function useTeamMembers() {
  const { client } = useHost();
  return useQuery({
    queryKey: [...teamKey, 'members'],
    queryFn: ({ signal }) => client.call(listTeamMembers, { signal }),
    refetchInterval: membersMilliseconds,
  });
}

/** Removes a host that never comes back. */
export function useRemoveTeamHost() {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.call(removeTeamHost, { parameters: { id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [...teamKey, 'members'] }),
  });
}
