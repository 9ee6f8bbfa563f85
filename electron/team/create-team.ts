import { AppError } from '../../shared/app-error.ts';
import type { TeamInput, TeamMembers, TeamState, TeamTest } from '../../shared/contract/team.ts';
import { formatTeamAddress, type TeamAddress } from '../../shared/team-address.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { WorkerClient } from '../common/worker-client.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret, type Log } from '../log.ts';
import type { CallTeamReviews, TeamReviewMethods } from './team-reviews.ts';
import type { Membership } from '../storage/conversations.ts';
import type { Storage } from '../storage/storage.ts';
import { createTeamAudit, type TeamAudit } from './team-audit.ts';
import { createKeySharing, defaultTeamOfflineMinutes, type KeySharing } from './key-sharing.ts';
import { type CopiedMark, type CopyEvent, createTeamClient, type TeamMethods } from './team-client.ts';
import type { TeamRecords } from './team-records.ts';
import {
  firstTarget,
  forgetTarget,
  storeTarget,
  type TargetOptions,
  targetOf,
  type TeamTarget,
} from './team-target.ts';

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
  /**
   * For a request that can be answered without the database: what the query finds, or undefined if it doesn't answer soon, or didn't a
   * moment ago.
   */
  briefly<Result>(query: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined>;
  /** Finds a conversation of any host, if the database answers soon; null without `--team`. */
  readonly findConversation: ((id: string) => Promise<Membership | null>) | null;
  /** Its host and port for the page about privacy; null without a team database. */
  contactedAddress(): string | null;
  state(): TeamState;
  /** Throws `invalid_request` for an invalid address. */
  test(input: TeamInput): Promise<TeamTest>;
  /** Connects now instead of after the waiting time. */
  retry(): Promise<TeamState>;
  /** Rejects with `conflict` without a connection. */
  members(): Promise<TeamMembers>;
  /** For a host that never comes back: others may use what it has in reserve. Rejects with `conflict` if it may still use that. */
  removeHost(id: string): Promise<void>;
  /** Stores the address and the password in the keychain and starts to copy. Throws `invalid_request` for an invalid address. */
  connect(input: TeamInput): Promise<TeamState>;
  disconnect(): Promise<TeamState>;
  close(): Promise<void>;
}

export interface TeamOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<
    Storage,
    'windowCallerId' | 'hasTeam' | 'setHasTeam' | 'teamMark' | 'setTeamMark' | 'flush' | 'sharedKeys'
  > & {
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

const noMark: CopiedMark = { run: 0, revision: 0 };
const noProgress: CopyEvent = {
  status: 'off',
  waitingRuns: 0,
  waitingChanges: 0,
  copied: 0,
  rejected: 0,
  message: null,
  retryMs: null,
  mark: noMark,
};

/** How far the records were copied when the host ended, so that it can count what waits before it has reached the database. */
function createMarks(storage: TeamOptions['storage']) {
  const nameOf = ({ address }: TeamTarget): string => formatTeamAddress(address);
  return {
    read(target: TeamTarget): CopiedMark {
      const { name, run, revision } = JSON.parse(storage.teamMark() ?? '{}') as Partial<CopiedMark> & { name?: string };
      return name === nameOf(target) ? { run: run ?? 0, revision: revision ?? 0 } : noMark;
    },
    write: (target: TeamTarget, mark: CopiedMark): void =>
      storage.setTeamMark(JSON.stringify({ ...mark, name: nameOf(target) })),
  };
}

/** The thread that copies to the current team database, and its progress. */
class Copying {
  readonly client: WorkerClient<TeamMethods>;
  readonly #log: Log;
  readonly #keys: KeySharing | null;
  readonly #marks: ReturnType<typeof createMarks>;
  target: TeamTarget | null = null;
  #progress = noProgress;
  #since: number | null = null;
  #retryAt: number | null = null;

  constructor({ dataDirectory, storage, log }: TeamOptions, keys: KeySharing | null) {
    this.#log = log;
    this.#keys = keys;
    this.#marks = createMarks(storage);
    this.client = createTeamClient(dataDirectory, {
      onEvent: (event) => ('status' in event ? this.#note(event) : this.#keys?.note(event)),
      onCrash: (reason) => this.#startAgain(reason),
    });
  }

  get progress(): Omit<TeamState, 'address' | 'isFixed' | 'hasPassword' | 'keychain' | 'authority'> {
    const { mark: _mark, retryMs: _retryMs, ...progress } = this.#progress;
    return {
      ...progress,
      waiting: progress.waitingRuns + progress.waitingChanges,
      since: timeOf(this.#since),
      retryAt: timeOf(this.#retryAt),
    };
  }

  start(target: TeamTarget): void {
    const { address, password } = target;
    if (password !== null) addKnownSecret(password);
    this.target = target;
    this.#progress = noProgress;
    const mark = this.#marks.read(target);
    this.#note({ ...noProgress, mark, status: 'connecting' });
    // It holds the process alive only while it runs calls.
    const keys = this.#keys && { leaseMs: this.#keys.leaseMs, isResumed: this.#keys.hasLeases };
    this.client.notify('start', { address, password, keys, mark });
  }

  async stop(): Promise<void> {
    this.target = null;
    this.#progress = noProgress;
    this.#since = this.#retryAt = null;
    if (this.client.isRunning) await this.client.call('stop', null);
  }

  #note(event: CopyEvent): void {
    if (this.target === null) return;
    const isNew = event.status !== this.#progress.status || event.message !== this.#progress.message;
    if (isNew) {
      this.#since = Date.now();
      if (event.message !== null) this.#log(event.message);
      if (event.status !== 'copying' && event.status !== 'connecting') this.#marks.write(this.target, event.mark);
    }
    this.#retryAt = event.retryMs === null ? null : Date.now() + event.retryMs;
    this.#progress = event;
  }

  #startAgain(reason: Error): void {
    this.#log('The copying to the team database stopped and starts again.', reason);
    const { target } = this;
    // A thread that fails at its start must not start in a loop.
    if (target !== null) setTimeout(() => this.target === target && this.start(target), 5000).unref();
  }
}

const timeOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

/** Without a port for a socket, which contacts no other host. */
function contactedAddress({ host, port }: TeamAddress): string | null {
  if (host.startsWith('/')) return null;
  return `postgres://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** How long a request waits for the database if it can be answered without it, in milliseconds. */
const briefMs = 2000;
/** How long such requests don't wait for it again. */
const pauseMs = 10_000;

export function createBriefQueries(
  isOffline: () => boolean,
  { waitMs = briefMs, now = () => performance.now() } = {},
): Team['briefly'] {
  let pausedUntil = -Infinity;
  return async (query) => {
    if (isOffline() || now() < pausedUntil) return undefined;
    const signal = AbortSignal.timeout(waitMs);
    try {
      const found = await query(signal);
      pausedUntil = -Infinity;
      return found;
    } catch (error) {
      if (signal.aborted) pausedUntil = now() + pauseMs;
      else if (!(error instanceof AppError)) throw error;
      return undefined;
    }
  };
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

/** What the page of the settings calls. */
function createConnection(options: TeamOptions, targetOptions: TargetOptions, copying: Copying) {
  const { client } = copying;

  function state(): TeamState {
    const { address = null, password = null, authority = null } = copying.target ?? {};
    return {
      address: address === null ? null : formatTeamAddress(address),
      isFixed: options.team != null,
      hasPassword: password !== null,
      keychain: options.keyStore.title,
      authority,
      ...copying.progress,
    };
  }

  return {
    state,
    async test(input: TeamInput): Promise<TeamTest> {
      const { address, password, authority } = targetOf(input, copying.target);
      return { ...(await client.call('test', { address, password })), authority };
    },
    async retry(): Promise<TeamState> {
      if (copying.target !== null) await client.call('flush', null);
      return state();
    },
    members: () => client.call('members', null),
    removeHost: (id: string) => client.call('removeHost', id),
    async connect(input: TeamInput): Promise<TeamState> {
      requireChangeable(options);
      const target = targetOf(input, copying.target);
      storeTarget(targetOptions, target);
      copying.start(target);
      return state();
    },
    async disconnect(): Promise<TeamState> {
      requireChangeable(options);
      forgetTarget(targetOptions);
      await copying.stop();
      return state();
    },
  };
}

export function createTeam(options: TeamOptions): Team {
  const { storage } = options;
  const targetOptions: TargetOptions = { ...options, account: `team:${storage.windowCallerId}` };
  const keySharing = options.team == null ? null : keySharingOf(options, () => copying.client);
  if (keySharing !== null) storage.apiKeys.shareKeys();
  const copying = new Copying(options, keySharing);
  const { client } = copying;
  const first = firstTarget(targetOptions);
  if (first !== null) copying.start(first);

  const audit = createTeamAudit({
    client,
    windowCallerId: storage.windowCallerId,
    flush: storage.flush,
    keys: storage.apiKeys.list,
  });
  const isOn = () => copying.target !== null;
  const briefly = createBriefQueries(() => copying.progress.status === 'offline');
  return {
    reviews: callReviews(client),
    audit,
    records: { ...audit, isOn },
    isOn,
    servesApi: options.team != null,
    briefly,
    findConversation:
      options.team == null
        ? null
        : async (id) => (await briefly((signal) => client.call('findConversation', id, { signal }))) ?? null,
    keys: keySharing,
    contactedAddress: () => (copying.target === null ? null : contactedAddress(copying.target.address)),
    ...createConnection(options, targetOptions, copying),
    close() {
      // What the last runs cost is used, and mustn't be given back.
      storage.flush();
      return client.dispose();
    },
  };
}
