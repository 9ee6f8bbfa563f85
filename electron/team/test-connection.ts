import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { AppError } from '../../shared/app-error.ts';
import type { TeamTest, TeamTestStep } from '../../shared/contract/team.ts';
import type { TeamAddress } from '../../shared/team-address.ts';
import { createPool, describeTeamFailure, inspectTables, type TeamDatabase } from './connection.ts';
import { tlsOptions } from './tls-options.ts';

/** Of each step. */
const stepMs = 10_000;

/** PostgreSQL's request to encrypt: its length, and a number that is no version of the protocol. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

interface Reached {
  readonly detail: string;
  /** The step does nothing for this address. */
  readonly isUnneeded?: boolean;
}

type Step = (signal: AbortSignal) => Promise<Reached>;

async function findHost({ host }: TeamAddress): Promise<Reached> {
  if (host.startsWith('/')) return { detail: 'a Unix socket', isUnneeded: true };
  if (isIP(host) > 0) return { detail: 'an IP address', isUnneeded: true };
  return { detail: (await lookup(host)).address };
}

async function openPort({ host, port }: TeamAddress, signal: AbortSignal): Promise<Socket> {
  const socket = host.startsWith('/')
    ? connectSocket({ path: `${host}/.s.PGSQL.${port}` })
    : connectSocket({ host, port });
  signal.addEventListener('abort', () => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect', { signal });
  return socket;
}

async function encrypt(address: TeamAddress, socket: Socket, signal: AbortSignal): Promise<Reached> {
  const options = tlsOptions(address);
  if (options === false) return { detail: 'not encrypted', isUnneeded: true };
  socket.write(tlsRequest);
  const [answer] = (await once(socket, 'data', { signal })) as [Buffer];
  if (answer.toString('latin1', 0, 1) !== 'S') throw new Error('The server does not support SSL connections');
  // An IP address is compared with the certificate, and isn't sent as a name.
  const { servername, ...given } = options;
  const isName = isIP(address.host) === 0;
  const encrypted = connectTls({ ...given, socket, host: address.host, ...(isName && servername && { servername }) });
  encrypted.on('error', () => undefined);
  await once(encrypted, 'secureConnect', { signal });
  return { detail: encrypted.getProtocol()?.replace('v', ' ') ?? 'encrypted' };
}

async function readTables(database: TeamDatabase, address: TeamAddress) {
  const { applied, expected, readOnlyReason, mayCreate } = await inspectTables(database, address);
  if (readOnlyReason !== null) return { detail: 'can only be read', readOnlyReason };
  if (applied === expected) return { detail: 'ready', readOnlyReason };
  if (!mayCreate) {
    const missing = applied === 0 ? 'CREATE on the database' : 'the owner of the tables updates them';
    throw describeTeamFailure({ code: '42501', message: missing }, address);
  }
  return { detail: `${applied === 0 ? 'created' : 'updated'} when you connect`, readOnlyReason };
}

/** What a failed step shows; its sentence with the remedy is below the steps. */
function briefly(failure: unknown): string {
  const { code = '' } = failure as { code?: string };
  const known: Readonly<Record<string, string>> = {
    ENOTFOUND: 'not found',
    EAI_AGAIN: 'no answer',
    ECONNREFUSED: 'connection refused',
    ENOENT: 'no socket',
    ETIMEDOUT: 'no answer',
    EHOSTUNREACH: 'unreachable',
    ENETUNREACH: 'unreachable',
    CERT_HAS_EXPIRED: 'certificate expired',
    CERT_NOT_YET_VALID: 'certificate not valid yet',
    ERR_TLS_CERT_ALTNAME_INVALID: 'another name',
    '28P01': 'password rejected',
    '28000': 'user rejected',
    '3D000': 'no such database',
    '42501': 'missing right',
  };
  return known[code] ?? 'failed';
}

/** Runs the steps in order until one fails. */
class Steps {
  readonly done: TeamTestStep[] = [];
  failure: AppError | null = null;
  readonly #address: TeamAddress;

  constructor(address: TeamAddress) {
    this.#address = address;
  }

  async run(name: TeamTestStep['name'], step: Step): Promise<void> {
    if (this.failure !== null) {
      this.done.push({ name, outcome: 'not-reached', detail: 'not reached', milliseconds: null });
      return;
    }
    const startedAt = performance.now();
    const limit = AbortSignal.timeout(stepMs);
    const expired = once(limit, 'abort').then(() => {
      throw Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
    });
    expired.catch(() => undefined);
    try {
      const { detail, isUnneeded = false } = await Promise.race([step(limit), expired]);
      const milliseconds = isUnneeded ? null : performance.now() - startedAt;
      this.done.push({ name, outcome: isUnneeded ? 'not-needed' : 'passed', detail, milliseconds });
    } catch (failure) {
      const thrown = limit.aborted ? { code: 'ETIMEDOUT' } : failure;
      this.failure = describeTeamFailure(thrown, this.#address);
      const detail = briefly((thrown as { cause?: unknown }).cause ?? thrown);
      this.done.push({ name, outcome: 'failed', detail, milliseconds: performance.now() - startedAt });
    }
  }
}

/** Connects once, step by step, and changes nothing in the database. Failures are part of the result. */
export async function testTeamConnection(
  address: TeamAddress,
  password: string | null,
): Promise<Omit<TeamTest, 'authority'>> {
  const steps = new Steps(address);
  let socket: Socket | null = null;
  let readOnlyReason: string | null = null;
  await steps.run('dns', () => findHost(address));
  await steps.run('port', async (signal) => {
    socket = await openPort(address, signal);
    return { detail: 'open' };
  });
  await steps.run('tls', (signal) => encrypt(address, socket!, signal));
  (socket as Socket | null)?.destroy();
  // Invalid certificates were reported by the step before.
  const pool = steps.failure === null ? createPool(address, password, { max: 1, queryMs: stepMs }) : null;
  const database: TeamDatabase | null = pool && new Kysely({ dialect: new PostgresDialect({ pool }) });
  await steps.run('sign-in', async () => {
    await sql`SELECT 1`.execute(database!);
    return { detail: address.user };
  });
  await steps.run('tables', async () => {
    const found = await readTables(database!, address);
    readOnlyReason = found.readOnlyReason;
    return found;
  });
  await database?.destroy().catch(() => undefined);
  const testedAt = new Date().toISOString();
  return { failure: steps.failure?.message ?? null, readOnlyReason, steps: steps.done, testedAt };
}
