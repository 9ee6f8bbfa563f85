import {
  connectTeam,
  disconnectTeam,
  listTeamMembers,
  readTeam,
  removeTeamHost,
  retryTeam,
  testTeam,
} from '../../shared/contract/team.ts';
import type { Team } from '../team/create-team.ts';
import { type Handler, implement } from './api.ts';

export function teamHandlers(team: Team): Handler[] {
  return [
    implement(readTeam, team.state),
    implement(testTeam, ({ body }) => team.test(body)),
    implement(retryTeam, team.retry),
    implement(listTeamMembers, team.members),
    implement(removeTeamHost, ({ parameters }) => team.removeHost(parameters.id)),
    implement(connectTeam, ({ body }) => team.connect(body)),
    implement(disconnectTeam, team.disconnect),
  ];
}
