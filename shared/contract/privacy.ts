import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

/** The data that Touchstone stores, by location. */
export const storedLocation = z.object({
  kind: z.enum([
    'database',
    'audit-index',
    'files',
    'sources',
    'incoming-datasets',
    'incoming-logs',
    'knowledge-index',
    'models',
    'evidence-packs',
    'backups',
    'certificate',
    'window',
    'linked-folder',
    'temporary',
  ]),
  /** Null for data in a browser's own profile. */
  path: z.string().nullable(),
});
export type StoredLocation = z.infer<typeof storedLocation>;

/** A host that Touchstone contacts, or could contact. */
export const contactedHost = z.object({
  use: z.enum([
    'provider',
    'endpoint',
    'local-servers',
    'npm-registry',
    'hugging-face',
    'proxy',
    'trace-collector',
    'team-database',
  ]),
  /** The provider (`OpenAi`) or endpoint; null for others. */
  name: z.string().nullable(),
  /** Scheme, host and port of each. `*.` matches any host of that domain. */
  addresses: z.array(z.string()),
  /** Whether it can be contacted now: a provider without a key and an address that isn't confirmed can't. */
  isReady: z.boolean(),
  isConfirmed: z.boolean(),
});
export type ContactedHost = z.infer<typeof contactedHost>;

export const readPrivacy = defineEndpoint({
  id: 'readPrivacy',
  method: 'get',
  path: '/window/privacy',
  access: 'window',
  tag: 'Window: settings and host',
  summary: 'Every location where data is stored and every host that is contacted',
  response: z.object({
    locations: z.array(storedLocation),
    /** Display name of the keychain; null if keys are only in memory. */
    keychain: z.string().nullable(),
    hosts: z.array(contactedHost),
  }),
});
