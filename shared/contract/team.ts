import { z } from 'zod';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: settings and host';

/** Certificates of authorities other than those that Node trusts; null for those. */
const teamAuthority = z
  .object({
    /** Of the file. */
    name: z.string(),
    /** When the first of its certificates expires. */
    expiresAt: timestamp,
    /** Whether it was given here, and not as `sslrootcert` in the address. */
    isGiven: z.boolean(),
  })
  .nullable();

/** Characters of PEM. Bundles of large clouds have about 170,000. */
const maximumCertificates = 500_000;

/** The team database and the progress of copying to it. */
export const teamState = z.object({
  /** Without its password; null without a team database. */
  address: z.string().nullable(),
  /** Whether the address comes from the command line, so that it can't be changed here. */
  isFixed: z.boolean(),
  hasPassword: z.boolean(),
  /** Display name of the keychain; null if the password is only in memory. */
  keychain: z.string().nullable(),
  authority: teamAuthority,
  status: z.enum(['off', 'connecting', 'copying', 'up-to-date', 'offline', 'read-only']),
  /** What is wrong, with the remedy. */
  message: z.string().nullable(),
  /** Runs and changes of this device that aren't copied yet, about. While offline, those since the last copy. */
  waiting: z.int(),
  /** Those of them that are runs. */
  waitingRuns: z.int(),
  /** Those of them that are feedback, deletions and other changes of copied runs. */
  waitingChanges: z.int(),
  /** Runs and changes since the start of the host. */
  copied: z.int(),
  /** Runs that the database can't store. */
  rejected: z.int(),
  /** Since when the status is as it is. */
  since: timestamp.nullable(),
  /** When the host tries to connect again; null unless it waits for that. */
  retryAt: timestamp.nullable(),
});
export type TeamState = z.infer<typeof teamState>;

/** `postgres://user@host:5432/database`. A password in it is stored in the keychain. */
export const teamInput = z.strictObject({
  address: z.string().trim().min(1, 'must not be empty').max(2000),
  /** Absent keeps the stored one. */
  password: z.string().max(1000).nullish(),
  /** Certificates of authorities (PEM), such as a company's own. Null removes them, absent keeps the stored ones. */
  authority: z
    .strictObject({
      name: z.string().trim().min(1, 'must not be empty').max(255),
      certificates: z.string().max(maximumCertificates, `must have at most ${maximumCertificates} characters`),
    })
    .nullish(),
});
export type TeamInput = z.infer<typeof teamInput>;

export const readTeam = defineEndpoint({
  id: 'readTeam',
  method: 'get',
  path: '/window/team',
  access: 'window',
  tag,
  summary: 'The team database, and how much of this device is copied to it',
  response: teamState,
});

export const teamTestStep = z.object({
  name: z.enum(['dns', 'port', 'tls', 'sign-in', 'tables']),
  outcome: z.enum(['passed', 'failed', 'not-needed', 'not-reached']),
  /** A few words: the IP address, what failed. */
  detail: z.string(),
  /** Null if it didn't run. */
  milliseconds: z.number().nullable(),
});
export type TeamTestStep = z.infer<typeof teamTestStep>;

export const teamTest = z.object({
  /** Null if it works, otherwise one sentence with the remedy. */
  failure: z.string().nullable(),
  /** Why runs can't be copied, although the database can be read. */
  readOnlyReason: z.string().nullable(),
  /** All of them, in order. Those after a failed one weren't reached. */
  steps: z.array(teamTestStep),
  /** The certificates that were used, for an encrypted connection. */
  authority: teamAuthority,
  testedAt: timestamp,
});
export type TeamTest = z.infer<typeof teamTest>;

export const testTeam = defineEndpoint({
  id: 'testTeam',
  method: 'post',
  path: '/window/team/test',
  access: 'window',
  tag,
  summary: 'Connect to a team database once, step by step, without changing anything there',
  body: teamInput,
  response: teamTest,
});

export const retryTeam = defineEndpoint({
  id: 'retryTeam',
  method: 'post',
  path: '/window/team/retry',
  access: 'window',
  tag,
  summary: 'Connect to the team database now instead of after the waiting time',
  response: teamState,
});

const reviewerOfTeam = z
  .object({
    id: uuid,
    name: z.string(),
    kind: z.enum(['person', 'api-key']),
    hasPin: z.boolean(),
    reviewed: z.int().describe('Items of shared queues'),
    lastReviewAt: timestamp.nullable(),
  })
  .meta({ id: 'TeamReviewer' });

const hostOfTeam = z
  .object({
    id: uuid,
    name: z.string(),
    isThisHost: z.boolean(),
    copiedAt: timestamp.nullable().describe('Null if it never copied'),
    rejected: z.int().describe('Its runs that the database can’t store'),
    reserved: z
      .int()
      .nullable()
      .describe(
        'Credits that it has in reserve or in active runs. Others can’t use them. Null without the right to see them',
      ),
    isRemovable: z
      .boolean()
      .describe('Whether it isn’t connected and its offline time is over, so that it can’t use its reserve any more'),
  })
  .meta({ id: 'TeamHost' });

/** At most 1,000 each. Null for a part that this host's user of the database may not read. */
export const teamMembers = z
  .object({
    reviewers: z.array(reviewerOfTeam).nullable().describe('Who has reviewed most is first'),
    hosts: z
      .array(hostOfTeam)
      .nullable()
      .describe('Those that hold a reserve without being connected are first, then those that copied last'),
  })
  .meta({ id: 'TeamMembers' });
export type TeamMembers = z.infer<typeof teamMembers>;

export const listTeamMembers = defineEndpoint({
  id: 'listTeamMembers',
  method: 'get',
  path: '/team/members',
  access: 'manage',
  tag: 'Team database',
  summary: 'The reviewers and hosts of the team database',
  description: 'At most 1,000 each. Null for a part that this host may not read.',
  response: teamMembers,
  errors: [409],
});

export const removeTeamHost = defineEndpoint({
  id: 'removeTeamHost',
  method: 'delete',
  path: '/team/hosts/{id}',
  access: 'manage',
  tag: 'Team database',
  summary: 'Remove a host that never comes back',
  description:
    'Other hosts may then use the credits that it has in reserve. 409 while it is connected or may still use them. If it comes back, it is listed again and what it used is counted.',
  parameters: z.object({ id: uuid }),
  status: 204,
  kinds: ['empty'],
  errors: [404, 409],
});

export const connectTeam = defineEndpoint({
  id: 'connectTeam',
  method: 'put',
  path: '/window/team',
  access: 'window',
  tag,
  summary: 'Copy the runs of this device to a team database from now on',
  body: teamInput,
  response: teamState,
});

export const disconnectTeam = defineEndpoint({
  id: 'disconnectTeam',
  method: 'delete',
  path: '/window/team',
  access: 'window',
  tag,
  summary: 'Stop copying, and remove the address and the password from this device',
  response: teamState,
});
