import { z } from 'zod';
import { timestamp } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: settings and host';

/** The team database and the progress of copying to it. */
export const teamState = z.object({
  /** Without its password; null without a team database. */
  address: z.string().nullable(),
  /** Whether the address comes from the command line, so that it can't be changed here. */
  isFixed: z.boolean(),
  hasPassword: z.boolean(),
  /** Display name of the keychain; null if the password is only in memory. */
  keychain: z.string().nullable(),
  status: z.enum(['off', 'connecting', 'copying', 'up-to-date', 'offline', 'read-only']),
  /** What is wrong, with the remedy. */
  message: z.string().nullable(),
  /** Runs and changes of this device that aren't copied yet. */
  waiting: z.int(),
  /** Runs and changes since the start of the host. */
  copied: z.int(),
  /** Runs that the database can't store. */
  rejected: z.int(),
  /** Since when the status is as it is. */
  since: timestamp.nullable(),
});
export type TeamState = z.infer<typeof teamState>;

/** `postgres://user@host:5432/database`. A password in it is stored in the keychain. */
export const teamInput = z.strictObject({
  address: z.string().trim().min(1, 'must not be empty').max(2000),
  /** Absent keeps the stored one. */
  password: z.string().max(1000).nullish(),
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

export const testTeam = defineEndpoint({
  id: 'testTeam',
  method: 'post',
  path: '/window/team/test',
  access: 'window',
  tag,
  summary: 'Connect to a team database once, without copying',
  body: teamInput,
  response: z.object({
    /** Null if it works, otherwise one sentence with the remedy. */
    failure: z.string().nullable(),
    /** Why runs can't be copied, although the database can be read. */
    readOnlyReason: z.string().nullable(),
  }),
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
