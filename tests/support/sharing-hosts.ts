import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, type Host } from '../../electron/create-host.ts';
import { createMemoryKeyStore } from '../../electron/key-store/key-store.ts';
import type { ReviewQueue } from '../../shared/contract/review-queues.ts';
import type { Rubric } from '../../shared/contract/rubrics.ts';
import { recordRun } from './audit-runs.ts';

export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

/** A host with a team database. */
export interface SharingHost {
  readonly host: Host;
  readonly directory: string;
  readonly log: string[];
  /** Without a key it calls as the window does. */
  call<Body>(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer<Body>>;
  close(): Promise<void>;
}

export async function startSharingHost(options: {
  readonly team: string;
  readonly providerAddress?: string;
  readonly offlineMinutes?: number;
  /** A new temporary one unless given. */
  readonly directory?: string;
}): Promise<SharingHost> {
  const { team, providerAddress, offlineMinutes } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'touchstone-sharing-')));
  const log: string[] = [];
  const host = await createHost({
    dataDirectory: directory,
    providerBases: {},
    endpoints: providerAddress === undefined ? [] : [{ name: 'scripted', baseAddress: providerAddress }],
    capabilities: [],
    environment: {},
    keyStore: createMemoryKeyStore(),
    team,
    ...(offlineMinutes !== undefined && { teamOfflineMinutes: offlineMinutes }),
    log: (message, failure) => void log.push(`${message} ${failure instanceof Error ? failure.stack : ''}`),
  });
  let closing: Promise<void> | null = null;
  return {
    host,
    directory,
    log,
    async call(method, path, body, key = null) {
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await host.api.fetch(request, { access: key === null ? 'window' : 'network' });
      const text = await response.text();
      return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as never };
    },
    close: () => (closing ??= host.close().then(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))),
  };
}

/** Asks a host to share a queue of so many new runs. */
export async function createSharedQueue(
  { host, call }: SharingHost,
  runs: number,
  input: object = {},
): Promise<Answer<ReviewQueue>> {
  const workspaceId = randomUUID();
  for (let index = 0; index < runs; index += 1)
    await recordRun(host, { workspaceId, renderedPrompt: `Question ${index}` });
  const { body: rubric } = await call<Rubric>('POST', '/rubrics', {
    name: 'Refunds',
    items: [{ kind: 'yesNo', question: 'Is it right?' }],
  });
  return call<ReviewQueue>('POST', '/review-queues', {
    name: 'All',
    filter: { workspaceId },
    itemType: 'run',
    plan: { kind: 'all' },
    rubricId: rubric.id,
    isShared: true,
    ...input,
  });
}
