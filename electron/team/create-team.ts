import { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import type { TeamInput, TeamState } from '../../shared/contract/team.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { WorkerClient } from '../common/worker-client.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret, type Log } from '../log.ts';
import type { CallTeamReviews, TeamReviewMethods } from './team-reviews.ts';
import type { Storage } from '../storage/storage.ts';
import { defaultTeamOfflineMinutes, formatTeamAddress, parseTeamAddress, type TeamAddress } from './address.ts';
import { createTeamAudit, type TeamAudit } from './team-audit.ts';
import { createKeySharing, type KeySharing } from './key-sharing.ts';
import { type CopyEvent, createTeamClient, type TeamMethods } from './team-client.ts';
import type { TeamRecords } from './team-records.ts';

/** The team database of this host. */
export interface Team {
  /** The audit of all hosts. Its methods throw `conflict` without a connection. */
  readonly audit: TeamAudit;
  /** Whole runs of all hosts. */
  readonly records: TeamRecords;
  /** Review queues there. Rejects with `conflict` without a connection. */
  readonly reviews: CallTeamReviews;
  /** Whether a team database is set. */
  isOn(): boolean;
  /** Whether the API serves the team's records, because the host was started with `--team`. */
  readonly servesApi: boolean;
  /** API keys and credits that hosts with `--team` share; null without it. */
  readonly keys: KeySharing | null;
  /** Its host and port for the page about privacy; null without a team database. */
  contactedAddress(): string | null;
  state(): TeamState;
  test(input: TeamInput): Promise<{ failure: string | null; readOnlyReason: string | null }>;
  /** Stores the address and the password in the keychain and starts to copy. Throws `invalid_request` for an invalid address. */
  connect(input: TeamInput): Promise<TeamState>;
  disconnect(): Promise<TeamState>;
  close(): Promise<void>;
}

export interface TeamOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'windowCallerId' | 'hasTeam' | 'setHasTeam' | 'flush' | 'sharedKeys'> & {
    readonly audit: AuditStore;
    readonly apiKeys: Pick<Storage['apiKeys'], 'list' | 'shareKeys'>;
  };
  readonly keyStore: KeyStore;
  /** The address of the command line, which overrides that of the settings. */
  readonly team?: string | null;
  /** How long keys are accepted while the team database can't be reached. */
  readonly teamOfflineMinutes?: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** Both are in the keychain, so that a database from somebody else never has runs copied to an address of theirs. */
const storedTarget = z.object({ address: z.string(), password: z.string().nullable() });

interface Target {
  readonly address: TeamAddress;
  readonly password: string | null;
}

const noProgress: CopyEvent = { status: 'off', waiting: 0, copied: 0, rejected: 0, message: null };

/** The thread that copies to the current team database, and its progress. */
class Copying {
  readonly client: WorkerClient<TeamMethods>;
  readonly #log: Log;
  readonly #keys: KeySharing | null;
  target: Target | null = null;
  #progress = noProgress;
  #since: number | null = null;

  constructor(dataDirectory: string, log: Log, keys: KeySharing | null) {
    this.#log = log;
    this.#keys = keys;
    this.client = createTeamClient(dataDirectory, {
      onEvent: (event) => ('status' in event ? this.#note(event) : this.#keys?.note(event)),
      onCrash: (reason) => this.#startAgain(reason),
    });
  }

  get progress(): Pick<TeamState, keyof CopyEvent | 'since'> {
    return { ...this.#progress, since: this.#since === null ? null : new Date(this.#since).toISOString() };
  }

  start(target: Target): void {
    if (target.password !== null) addKnownSecret(target.password);
    this.target = target;
    this.#progress = noProgress;
    this.#note({ ...noProgress, status: 'connecting' });
    // It holds the process alive only while it runs calls.
    const keys = this.#keys && { leaseMs: this.#keys.leaseMs, isResumed: this.#keys.hasLeases };
    this.client.notify('start', { ...target, keys });
  }

  async stop(): Promise<void> {
    this.target = null;
    this.#progress = noProgress;
    this.#since = null;
    if (this.client.isRunning) await this.client.call('stop', null);
  }

  #note(event: CopyEvent): void {
    if (this.target === null) return;
    if (event.status !== this.#progress.status || event.message !== this.#progress.message) {
      this.#since = Date.now();
      if (event.message !== null) this.#log(event.message);
    }
    this.#progress = event;
  }

  #startAgain(reason: Error): void {
    this.#log('The copying to the team database stopped and starts again.', reason);
    const { target } = this;
    // A thread that fails at its start must not start in a loop.
    if (target !== null) setTimeout(() => this.target === target && this.start(target), 5000).unref();
  }
}

function fixedTarget({ team: text, environment }: TeamOptions): Target | null {
  if (text == null) return null;
  const address = parseTeamAddress(text);
  return { address, password: address.password ?? environment['PGPASSWORD'] ?? null };
}

function storedTargetIn({ storage, keyStore, log }: TeamOptions, account: string): Target | null {
  if (!storage.hasTeam()) return null;
  try {
    const text = keyStore.read(account);
    if (text === null) {
      const remedy = 'Enter it again in Settings, Team database';
      log(
        keyStore.source === 'memory'
          ? `The team database's address was only in memory, because no keychain was found. ${remedy}, or start with --team.`
          : `The team database's password isn't in the keychain. ${remedy}.`,
      );
      return null;
    }
    const { address, password } = storedTarget.parse(JSON.parse(text));
    return { address: parseTeamAddress(address), password };
  } catch (failure) {
    // The keychain's own message has the remedy. That of a parse failure could contain the password.
    log(failure instanceof AppError ? failure.message : "The team database's address in the keychain is damaged.");
    return null;
  }
}

/** The input, with the stored password if the address is unchanged and no other is given. */
function targetOf({ address: text, password }: TeamInput, current: Target | null): Target {
  const address = parseTeamAddress(text);
  const isSame = current !== null && formatTeamAddress(current.address) === formatTeamAddress(address);
  const target = { address, password: password ?? address.password ?? (isSame ? current.password : null) };
  if (target.password !== null) addKnownSecret(target.password);
  return target;
}

/** Without a port for a socket, which contacts no other host. */
function contactedAddress({ host, port }: TeamAddress): string | null {
  if (host.startsWith('/')) return null;
  return `postgres://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function test(input: TeamInput, { client, target }: Copying): ReturnType<Team['test']> {
  try {
    const { readOnlyReason } = await client.call('test', targetOf(input, target));
    return { failure: null, readOnlyReason };
  } catch (failure) {
    if (!(failure instanceof AppError)) throw failure;
    return { failure: failure.message, readOnlyReason: null };
  }
}

function keySharingOf({ storage, teamOfflineMinutes, log }: TeamOptions, client: () => Copying['client']): KeySharing {
  const offlineMs = (teamOfflineMinutes ?? defaultTeamOfflineMinutes) * 60_000;
  return createKeySharing({ client, keys: storage.sharedKeys, offlineMs, log });
}

function requireChangeable({ team }: TeamOptions): void {
  if (team == null) return;
  throw new AppError('conflict', 'The team database is set on the command line. Restart without --team to change it.');
}

/** A queue that others review, too, can't be changed without them. */
function callReviews(client: WorkerClient<TeamMethods>): CallTeamReviews {
  const call = (name: keyof TeamReviewMethods, input: unknown): Promise<unknown> =>
    client.call('reviews', { name, input });
  return call as CallTeamReviews;
}

export function createTeam(options: TeamOptions): Team {
  const { storage, keyStore } = options;
  const account = `team:${storage.windowCallerId}`;
  const keySharing = options.team == null ? null : keySharingOf(options, () => copying.client);
  if (keySharing !== null) storage.apiKeys.shareKeys();
  const copying = new Copying(options.dataDirectory, options.log, keySharing);
  const { client } = copying;

  function state(): TeamState {
    const { address = null, password = null } = copying.target ?? {};
    return {
      address: address === null ? null : formatTeamAddress(address),
      isFixed: options.team != null,
      hasPassword: password !== null,
      keychain: keyStore.title,
      ...copying.progress,
    };
  }

  const first = fixedTarget(options) ?? storedTargetIn(options, account);
  if (first !== null) copying.start(first);

  const audit = createTeamAudit({
    client,
    windowCallerId: storage.windowCallerId,
    flush: storage.flush,
    keys: storage.apiKeys.list,
  });
  const isOn = () => copying.target !== null;
  return {
    reviews: callReviews(client),
    audit,
    records: { ...audit, isOn },
    isOn,
    servesApi: options.team != null,
    keys: keySharing,
    contactedAddress: () => (copying.target === null ? null : contactedAddress(copying.target.address)),
    state,
    test: (input) => test(input, copying),
    async connect(input) {
      requireChangeable(options);
      const { address, password } = targetOf(input, copying.target);
      keyStore.write(account, JSON.stringify({ address: formatTeamAddress(address), password }));
      storage.setHasTeam(true);
      copying.start({ address, password });
      return state();
    },
    async disconnect() {
      requireChangeable(options);
      storage.setHasTeam(false);
      keyStore.remove(account);
      await copying.stop();
      return state();
    },
    close: () => client.dispose(),
  };
}
