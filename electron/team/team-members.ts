import { sql } from 'kysely';
import type { TeamMembers } from '../../shared/contract/team.ts';
import type { TeamDatabase } from './connection.ts';

const time = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

/** Who reviews, and which hosts copy. Null for a part that this user may not read. */
export async function readMembers(database: TeamDatabase, hostId: string): Promise<TeamMembers> {
  const { rows: rights } = await sql<{ hosts: boolean; reviewers: boolean }>`
    SELECT has_table_privilege('touchstone.hosts', 'SELECT') AS hosts,
      has_table_privilege('touchstone.reviewers', 'SELECT') AND has_table_privilege('touchstone.reviews', 'SELECT') AS reviewers
  `.execute(database);
  const { hosts, reviewers } = rights[0]!;
  return {
    reviewers: reviewers ? await readReviewers(database) : null,
    hosts: hosts ? await readHosts(database, hostId) : null,
  };
}

async function readReviewers(database: TeamDatabase): Promise<NonNullable<TeamMembers['reviewers']>> {
  const { rows } = await sql<{
    id: string;
    name: string;
    key: boolean;
    pin: boolean;
    reviewed: number;
    last: number | null;
  }>`
    SELECT reviewers.id, name, caller_id IS NOT NULL AS key, pin_hash IS NOT NULL AS pin,
      coalesce(reviewed, 0) AS reviewed, last
    FROM touchstone.reviewers LEFT JOIN (
      SELECT reviewer_id, count(*) FILTER (WHERE kind = 'review' AND is_current) AS reviewed,
        (extract(epoch FROM max(created_at)) * 1000)::bigint AS last
      FROM touchstone.reviews GROUP BY reviewer_id) AS done ON reviewer_id = reviewers.id
    WHERE NOT is_removed ORDER BY reviewed DESC, name LIMIT 1000`.execute(database);
  return rows.map(({ id, name, key, pin, reviewed, last }) => ({
    id,
    name,
    kind: key ? 'api-key' : 'person',
    hasPin: pin,
    reviewed,
    lastReviewAt: time(last),
  }));
}

async function readHosts(database: TeamDatabase, hostId: string): Promise<NonNullable<TeamMembers['hosts']>> {
  const { rows } = await sql<{ id: string; name: string; seen: number; rejected: number }>`
    SELECT id, name, (extract(epoch FROM seen_at) * 1000)::bigint AS seen, rejected FROM touchstone.hosts
    ORDER BY seen_at DESC LIMIT 1000`.execute(database);
  return rows.map(({ id, name, seen, rejected }) => ({
    id,
    name,
    isThisHost: id === hostId,
    copiedAt: time(seen)!,
    rejected,
  }));
}
