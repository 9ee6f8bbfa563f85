import { sql } from 'kysely';
import { AppError } from '../../shared/app-error.ts';
import type { CreditLease, CreditRequest } from '../credits/credits.ts';
import type { TeamAddress } from '../../shared/team-address.ts';
import { describeTeamFailure, type TeamConnection } from './connection.ts';
import { type KeyChanges, type Session, SharedKeysConnection, type SharedKeysOptions } from './shared-keys.ts';

/** What the thread tells the host about shared keys. */
export interface KeysEvent {
  /** Why the keys of other hosts aren't known at the moment; null while they are. */
  readonly failure: string | null;
  /** Whether the failure is that this user may not share keys, or not with these tables. */
  readonly isRejected: boolean;
  readonly changes: KeyChanges | null;
}

export interface KeyExchangeTarget {
  readonly address: TeamAddress;
  readonly password: string | null;
  readonly leaseMs: number;
  /** Whether the host has reserved credits since it started. */
  readonly isResumed: boolean;
}

export interface KeyExchangeOptions extends Pick<SharedKeysOptions, 'local' | 'hostId'> {
  /** Connects, and updates the tables. */
  readonly connect: () => Promise<TeamConnection>;
  readonly onEvent: (event: KeysEvent) => void;
}

/** Notifications come at once. A program between the host and PostgreSQL may drop them, and the command line changes keys without one. */
const stepMs = 400;
const retryMs = 500;
const closeMs = 2000;

const hasNews = ({ changed, missing, uses, reclaimed }: KeyChanges): boolean =>
  changed.length + missing.length + uses.length + reclaimed.length > 0;

class SharingRejected extends AppError {
  constructor(reason: string) {
    super('conflict', reason);
  }
}

async function requireRights(address: TeamAddress, { database, readOnlyReason }: TeamConnection): Promise<void> {
  if (readOnlyReason !== null) throw new SharingRejected(readOnlyReason);
  const { rows } = await sql<{ shares: boolean }>`
    SELECT has_table_privilege('touchstone.api_keys', 'INSERT') AND has_table_privilege('touchstone.api_keys', 'UPDATE')
      AND has_table_privilege('touchstone.credit_leases', 'INSERT')
      AND has_table_privilege('touchstone.credit_leases', 'UPDATE') AS shares`.execute(database);
  if (rows[0]!.shares) return;
  throw new SharingRejected(
    `"${address.user}" may not share API keys in the team database. Ask its owner for the role touchstone_host of docs/team.md.`,
  );
}

/** Exchanges keys and credits with the team database until `isOver`. */
export class KeyExchange {
  readonly #target: KeyExchangeTarget;
  readonly #options: KeyExchangeOptions;
  #connection: SharedKeysConnection | null = null;
  /** Resolves with the first step after each connection. */
  #ready = Promise.withResolvers<SharedKeysConnection>();
  #failure: string | null = 'The team database is not connected yet.';
  #isResumed: boolean;
  #earlierSession: Session | null = null;
  readonly #reclaimed = new Set<string>();
  #lowered: Promise<void> = Promise.resolve();
  #isOver = false;
  #wake: () => void = () => {};
  readonly #running: Promise<void>;

  constructor(target: KeyExchangeTarget, options: KeyExchangeOptions) {
    this.#target = target;
    this.#options = options;
    this.#isResumed = target.isResumed;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#exchange();
      } catch (failure) {
        const reason = describeTeamFailure(failure, this.#target.address).message;
        await this.#disconnect();
        if (this.#isOver) return;
        const isRejected = failure instanceof SharingRejected;
        if (reason !== this.#failure) this.#options.onEvent({ failure: reason, isRejected, changes: null });
        this.#failure = reason;
        await this.#sleep(retryMs);
      }
    }
    // Also of a connection that was still being made when this was closed.
    await this.#lowered;
    await this.#connection?.release().catch(() => undefined);
    await this.#disconnect();
  }

  async #exchange(): Promise<void> {
    const { address, password, leaseMs } = this.#target;
    await requireRights(address, await this.#options.connect());
    const connection = await SharedKeysConnection.open({
      ...this.#options,
      address,
      password,
      leaseMs,
      isResumed: this.#isResumed,
      earlierSession: this.#earlierSession,
      reclaimed: this.#reclaimed,
      onNotify: () => this.#wake(),
    });
    this.#connection = connection;
    this.#earlierSession = connection.session;
    this.#isResumed = true;
    while (!this.#isOver) {
      const changes = await connection.step();
      if (this.#failure !== null || hasNews(changes))
        this.#options.onEvent({ failure: null, isRejected: false, changes });
      this.#failure = null;
      this.#ready.resolve(connection);
      await this.#sleep(stepMs);
    }
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#ready = Promise.withResolvers();
    await connection?.close();
  }

  /** Rejects with `team_unavailable`, at once while the database can't be reached. */
  async acquire(request: CreditRequest): Promise<CreditLease> {
    // What was given back before mustn't take back what this gets.
    await this.#lowered;
    try {
      return await (await this.#connected()).acquire(request);
    } catch (failure) {
      const reason = describeTeamFailure(failure, this.#target.address).message;
      throw new AppError(
        'team_unavailable',
        `The credits of this API key are counted in the team database, and this host has none left in reserve. ${reason}`,
        { cause: failure },
      );
    }
  }

  async #connected(): Promise<SharedKeysConnection> {
    if (this.#connection === null && this.#failure !== null && this.#isResumed)
      throw new AppError('conflict', this.#failure);
    const limit = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new AppError('conflict', this.#failure ?? 'It did not answer.')), closeMs).unref();
    });
    return Promise.race([this.#ready.promise, limit]);
  }

  /** Failures are ignored: another host asks for what it needs. */
  lower(keyId: string, ceiling: number): Promise<void> {
    const lowering = this.#connection?.lower(keyId, ceiling).catch(() => undefined);
    return (this.#lowered = Promise.all([this.#lowered, lowering]).then(() => undefined));
  }

  /** Gives back unused credits, if the database can be reached. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#wake();
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, closeMs);
    await Promise.race([this.#running, limit.promise]);
    clearTimeout(timer);
  }
}
