import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { originOf } from '../shared/address-safety.ts';
import type { ContactedHost, StoredLocation } from '../shared/contract/privacy.ts';
import { exportsDirectory } from './audit/evidence/pack-store.ts';
import { indexFile as knowledgeIndexFile } from './knowledge/index/passage-store.ts';
import { proxyOrigins } from './outgoing-network.ts';
import type { Providers } from './providers/create-providers.ts';
import { wellKnownEndpoints } from './providers/endpoints.ts';
import { indexFile as auditIndexFile } from './audit/index/index-database.ts';
import { backupDirectory } from './storage/backups.ts';
import { databaseFile } from './storage/database.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface LocationOptions {
  readonly dataDirectory: string;
  /** Whether the window is ours, and keeps its data in the data folder. */
  readonly isDesktop: boolean;
  readonly linkedFolders: readonly string[];
}

/** Every location where this host stores data. */
export function storedLocations({ dataDirectory, isDesktop, linkedFolders }: LocationOptions): StoredLocation[] {
  const within = (name: string) => join(dataDirectory, name);
  return [
    { kind: 'database', path: databaseFile(dataDirectory) },
    { kind: 'audit-index', path: auditIndexFile(dataDirectory) },
    { kind: 'files', path: within('files') },
    { kind: 'sources', path: within('sources') },
    { kind: 'incoming-datasets', path: within('incoming-datasets') },
    { kind: 'incoming-logs', path: within('incoming-logs') },
    { kind: 'knowledge-index', path: knowledgeIndexFile(dataDirectory) },
    { kind: 'models', path: within('models') },
    { kind: 'evidence-packs', path: exportsDirectory(dataDirectory) },
    { kind: 'backups', path: backupDirectory(dataDirectory) },
    { kind: 'certificate', path: within('tls') },
    { kind: 'window', path: isDesktop ? within('window') : null },
    ...linkedFolders.map((path) => ({ kind: 'linked-folder', path }) as const),
    { kind: 'temporary', path: tmpdir() },
  ];
}

/** As node-llama-cpp chooses it. Files are served from other hosts of Hugging Face. */
function huggingFaceAddresses(environment: Environment): string[] {
  const chosen = environment['MODEL_ENDPOINT'] || environment['HF_ENDPOINT'];
  return chosen ? [originOf(chosen)] : ['https://huggingface.co', 'https://*.hf.co'];
}

/** Every host that is contacted regardless of the settings. */
export function fixedHosts(environment: Environment, registryAddress: string | null): ContactedHost[] {
  const host = (use: ContactedHost['use'], addresses: string[]): ContactedHost => ({
    use,
    name: null,
    addresses: [...new Set(addresses)],
    isReady: true,
    isConfirmed: true,
  });
  const proxies = proxyOrigins(environment);
  return [
    host(
      'local-servers',
      wellKnownEndpoints.map(({ baseAddress }) => originOf(baseAddress)),
    ),
    host('npm-registry', registryAddress === null ? [] : [originOf(registryAddress)]),
    host('hugging-face', huggingFaceAddresses(environment)),
    ...(proxies.length > 0 ? [host('proxy', proxies)] : []),
  ];
}

/** Every host that this configuration contacts or could contact. */
export function contactedHosts(
  providers: Pick<Providers, 'providerStates' | 'endpoints'>,
  environment: Environment,
  registryAddress: string | null,
  {
    collector,
    team,
  }: {
    readonly collector: { readonly address: string; readonly isConfirmed: boolean } | null;
    readonly team: string | null;
  },
): ContactedHost[] {
  const chosen = (use: ContactedHost['use'], address: string, isConfirmed = true): ContactedHost => ({
    use,
    name: null,
    addresses: [address],
    isReady: isConfirmed,
    isConfirmed,
  });
  return [
    ...(team === null ? [] : [chosen('team-database', team)]),
    ...(collector === null ? [] : [chosen('trace-collector', originOf(collector.address), collector.isConfirmed)]),
    ...providers.providerStates().map(({ aiSystem, baseAddress, keySource, confirmation }): ContactedHost => ({
      use: 'provider',
      name: aiSystem,
      addresses: [originOf(baseAddress)],
      isReady: keySource !== null,
      isConfirmed: confirmation === null,
    })),
    ...providers.endpoints().map(({ name, baseAddress, confirmation }): ContactedHost => ({
      use: 'endpoint',
      name,
      addresses: [originOf(baseAddress)],
      isReady: confirmation === null,
      isConfirmed: confirmation === null,
    })),
    ...fixedHosts(environment, registryAddress),
  ];
}
