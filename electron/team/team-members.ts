import { type RawBuilder, sql } from 'kysely';
import { AppError } from '../../shared/app-error.ts';
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

/** Held by the session of a host that shares keys. */
const lockOf = (id: RawBuilder<unknown>) => sql`hashtextextended(${id}, 7420515120)`;

const connectedHosts = sql`
  SELECT (classid::bigint << 32) | objid::bigint AS lock FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

async function readHosts(database: TeamDatabase, hostId: string): Promise<NonNullable<TeamMembers['hosts']>> {
  const rights = await sql<{ leases: boolean }>`
    SELECT has_table_privilege('touchstone.credit_leases', 'SELECT') AS leases`.execute(database);
  const { leases } = rights.rows[0]!;
  const held = leases
    ? sql`SELECT host_id, sum(ceiling - spent) AS reserved, bool_or(expires_at > now()) AS in_use
        FROM touchstone.credit_leases WHERE ceiling > spent GROUP BY host_id`
    : sql`SELECT NULL::uuid AS host_id, NULL::bigint AS reserved, NULL::boolean AS in_use WHERE false`;
  const { rows } = await sql<{
    id: string;
    name: string | null;
    seen: number | null;
    rejected: number;
    reserved: number;
    removable: boolean;
  }>`
    SELECT id, name, (extract(epoch FROM seen_at) * 1000)::bigint AS seen, coalesce(rejected, 0) AS rejected,
      coalesce(reserved, 0) AS reserved,
      NOT coalesce(in_use, false) AND ${lockOf(sql`id::text`)} NOT IN (${connectedHosts}) AS removable
    FROM (SELECT coalesce(hosts.id, host_id) AS id, hosts.name, seen_at, removed_at, rejected, reserved, in_use
      FROM touchstone.hosts FULL JOIN (${held}) AS held ON host_id = hosts.id) AS known
    WHERE removed_at IS NULL OR seen_at > removed_at OR reserved > 0
    ORDER BY coalesce(reserved, 0) > 0 AND NOT in_use DESC, seen_at DESC NULLS LAST LIMIT 1000`.execute(database);
  return rows.map(({ id, name, seen, rejected, reserved, removable }) => ({
    id,
    name: name ?? `Host ${id.slice(0, 8)}`,
    isThisHost: id === hostId,
    copiedAt: time(seen),
    rejected,
    reserved: leases ? reserved : null,
    isRemovable: removable && id !== hostId,
  }));
}

/** The lock keeps the host from connecting meanwhile. What it has used so far stays counted. */
export async function removeHost(database: TeamDatabase, id: string, hostId: string): Promise<void> {
  if (id === hostId) throw new AppError('conflict', 'This is the host that answers. Remove it on another one.');
  await database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ isFree: boolean; until: number | null; isKnown: boolean }>`
      SELECT pg_try_advisory_xact_lock(${lockOf(sql`${id}::text`)}) AS "isFree",
        (SELECT (extract(epoch FROM max(expires_at)) * 1000)::bigint FROM touchstone.credit_leases
          WHERE host_id = ${id}::uuid AND ceiling > spent AND expires_at > clock_timestamp()) AS until,
        EXISTS (SELECT 1 FROM touchstone.hosts WHERE id = ${id}::uuid)
          OR EXISTS (SELECT 1 FROM touchstone.credit_leases WHERE host_id = ${id}::uuid) AS "isKnown"`.execute(
      transaction,
    );
    const { isFree, until, isKnown } = rows[0]!;
    if (!isKnown) throw new AppError('not_found', 'The team database has no such host.');
    if (!isFree) throw new AppError('conflict', 'This host is connected to the team database. Stop it first.');
    if (until !== null)
      throw new AppError(
        'conflict',
        `This host may use its reserve of credits until ${time(until)} without the database. Remove it after that.`,
      );
    await sql`UPDATE touchstone.credit_leases SET ceiling = spent WHERE host_id = ${id}::uuid AND ceiling > spent`.execute(
      transaction,
    );
    await sql`UPDATE touchstone.hosts SET removed_at = clock_timestamp() WHERE id = ${id}::uuid`.execute(transaction);
  });
}
