import type { AuditFacets } from '../../../shared/contract/audit.ts';
import type { SampleTopic } from './sample-data.ts';

type Team = SampleTopic['team'];

/** The caller ID of each team, the same each time the data is loaded. None has an API key. */
export const callerOf: Readonly<Record<Team, string>> = {
  support: '5a3b1e00-0000-4000-8000-000000000001',
  engineering: '5a3b1e00-0000-4000-8000-000000000002',
  legal: '5a3b1e00-0000-4000-8000-000000000003',
  research: '5a3b1e00-0000-4000-8000-000000000004',
  localisation: '5a3b1e00-0000-4000-8000-000000000005',
  sales: '5a3b1e00-0000-4000-8000-000000000006',
};

const names = new Map(
  Object.entries(callerOf).map(([team, callerId]) => [callerId, `${team[0]!.toUpperCase()}${team.slice(1)} team`]),
);

/** The name of a team of the sample data; null for any other caller. */
export function sampleCallerName(callerId: string): string | null {
  return names.get(callerId) ?? null;
}

/** The facets with the names of the sample callers, who have no API keys with names. */
export function nameSampleCallers(facets: AuditFacets): AuditFacets {
  const callers = facets.callers.map((caller) => ({
    ...caller,
    name: caller.name ?? sampleCallerName(caller.callerId),
  }));
  return { ...facets, callers };
}
