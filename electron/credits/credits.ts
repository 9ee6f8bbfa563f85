import { AppError } from '../../shared/app-error.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../storage/storage.ts';
import { ProviderFailure } from '../providers/provider-error.ts';

/** The price of a run, or of one text for a provider's classifier. Due at the first byte of the provider's response. */
const creditsPerRun = 1;

/** The credit of one run or one verdict, reserved before any provider is called. */
export interface CreditReservation {
  /** The cost of the run; 0 after `release`. */
  readonly consumed: number;
  /** The credits that the key has left, with active runs counted as used. Null for a key without a limit and for the window. */
  remaining(): number | null;
  /** Returns the credit, for a run that costs nothing. A second call does nothing. */
  release(): void;
}

/** Of a key, with active runs counted as used. */
export interface CreditUse {
  readonly consumed: number;
  /** Null for a key without a limit. */
  readonly remaining: number | null;
}

export interface Credits {
  use(key: AuthenticatedKey): CreditUse;
  /**
   * Fails with `credits_exhausted` if the key has none left. Null is the window, which needs none. A promise if other hosts have to be
   * asked, which fails with `team_unavailable` if they can't be.
   */
  reserve(key: AuthenticatedKey | null): CreditReservation | Promise<CreditReservation>;
}

export interface CreditRequest {
  readonly keyId: string;
  /** All credits that this host has used of the key, with active runs. */
  readonly used: number;
  /** More credits that it needs. */
  readonly needed: number;
}

/** All counts start when the host first used the key. */
export interface CreditLease {
  /** The host may use credits up to this count. */
  readonly ceiling: number;
  /** Part of the ceiling that wasn't asked for: a reserve, so that not every run has to ask. */
  readonly spare: number;
  /** Credits that other hosts know as used here. More than this host knows after its data was restored from a backup. */
  readonly spent: number;
  /** Credits that other hosts have used or reserved. */
  readonly elsewhere: number;
}

/** Credits that this host may use of keys that it shares with others. */
export interface CreditLeases {
  /** The ceiling is lower than what is needed if the key has fewer left. Rejects with `team_unavailable`. */
  acquire(request: CreditRequest): Promise<CreditLease>;
  /** Whether only this host counts the key. */
  isLocal(key: AuthenticatedKey): boolean;
  /** Gives back what is above the ceiling. */
  lower(keyId: string, ceiling: number): void;
  /** Calls the listener when unused credits of a key, or for null of every key, must be given back. */
  onReclaim(listener: (keyId: string | null) => void): void;
}

/** What this host has used of a key since it knows it. */
interface Count {
  used: number;
  /** What it may use. Without sharing only the limit counts. */
  ceiling: number;
  spare: number;
  elsewhere: number;
  waiting: number;
  asking: Promise<boolean> | null;
}

/** How often unused credits are given back to other hosts. */
const giveBackMs = 1000;

/**
 * Counts credits in memory, starting from the stored count when a key is first used. An active run has reserved its credit, so two
 * simultaneous requests can't spend the same one. A data folder has one host. Several hosts that share a key divide its credits by `leases`.
 */
export function createCredits(leases: CreditLeases | null = null): Credits {
  const counts = new Map<string, Count>();

  function countOf(key: AuthenticatedKey): Count {
    const known = counts.get(key.id);
    if (known) return known;
    const { creditsUsed: used, creditsElsewhere: elsewhere } = key;
    const count = { used, ceiling: used, spare: 0, elsewhere, waiting: 0, asking: null };
    counts.set(key.id, count);
    return count;
  }

  function remainingOf({ creditLimit, creditsElsewhere }: AuthenticatedKey, { used, elsewhere }: Count): number | null {
    if (creditLimit === null) return null;
    return Math.max(0, creditLimit - used - Math.max(elsewhere, creditsElsewhere));
  }

  function take(key: AuthenticatedKey, count: Count): CreditReservation {
    count.used += creditsPerRun;
    let consumed = creditsPerRun;
    return {
      get consumed() {
        return consumed;
      },
      remaining: () => remainingOf(key, count),
      release() {
        count.used -= consumed;
        consumed = 0;
      },
    };
  }

  /** Resolves with whether the key has as many credits as were asked for. */
  async function ask({ id: keyId }: AuthenticatedKey, count: Count): Promise<boolean> {
    const [used, needed] = [count.used, count.waiting * creditsPerRun];
    try {
      const lease = await leases!.acquire({ keyId, used, needed });
      // After a restored backup, others know more about this host than it does.
      count.used += Math.max(0, lease.spent - used);
      count.ceiling = lease.ceiling;
      count.spare = lease.spare;
      count.elsewhere = lease.elsewhere;
      return lease.ceiling >= used + needed;
    } finally {
      count.asking = null;
    }
  }

  async function takeShared(key: AuthenticatedKey, count: Count): Promise<CreditReservation> {
    count.waiting += 1;
    try {
      do {
        const isEnough = await (count.asking ??= ask(key, count));
        if (!isEnough && count.used >= count.ceiling) throw exhausted(key);
        // Others who waited, too, may have taken all of it.
      } while (count.used >= count.ceiling);
      return take(key, count);
    } finally {
      count.waiting -= 1;
    }
  }

  function giveBack(keyId: string, count: Count, spare: number): void {
    if (count.asking !== null || count.ceiling <= count.used + spare) return;
    count.ceiling = count.used + spare;
    leases!.lower(keyId, count.ceiling);
  }

  leases?.onReclaim((keyId) => {
    if (keyId === null) return counts.forEach((count, id) => giveBack(id, count, 0));
    const count = counts.get(keyId);
    if (count !== undefined && count.asking !== null) return;
    // Also what was given back before: that may never have arrived.
    if (count !== undefined) count.ceiling = count.used;
    leases.lower(keyId, count?.used ?? 0);
  });
  if (leases !== null) {
    setInterval(() => counts.forEach((count, id) => giveBack(id, count, count.spare)), giveBackMs).unref();
  }

  return {
    use(key) {
      const count = countOf(key);
      return {
        consumed: count.used + Math.max(count.elsewhere, key.creditsElsewhere),
        remaining: remainingOf(key, count),
      };
    },
    reserve(key) {
      if (key === null) return windowReservation();
      const count = countOf(key);
      if (key.creditLimit === null) return take(key, count);
      const isWithinLimit = count.used + key.creditsElsewhere < key.creditLimit;
      // After the limit was lowered, the ceiling is too high.
      const asks = leases !== null && !leases.isLocal(key);
      if (asks && (!isWithinLimit || count.used >= count.ceiling)) return takeShared(key, count);
      if (!isWithinLimit) throw exhausted(key);
      return take(key, count);
    },
  };
}

function windowReservation(): CreditReservation {
  let consumed = creditsPerRun;
  return {
    get consumed() {
      return consumed;
    },
    remaining: () => null,
    release() {
      consumed = 0;
    },
  };
}

function exhausted({ creditLimit }: AuthenticatedKey): AppError {
  return new AppError(
    'credits_exhausted',
    `This API key has used its ${creditLimit} credits. Whoever runs this Touchstone can raise the limit in its settings, under API keys.`,
  );
}

export interface Payment {
  readonly credits: Credits;
  readonly apiKeys: Pick<ApiKeyStore, 'charge'>;
}

/** Whether the provider wasn't called, or failed. */
function isFree(error: unknown): boolean {
  return error instanceof ProviderFailure || (error instanceof AppError && error.code === 'provider_not_configured');
}

/**
 * Makes a call that costs money at a provider. The key pays one credit, which is reserved first. Throws `credits_exhausted` before the
 * call. `wasMade` returns whether a successful call reached the provider.
 */
export async function payForCall<Value>(
  key: AuthenticatedKey,
  { credits, apiKeys }: Payment,
  call: () => Promise<Value>,
  wasMade: (value: Value) => boolean = () => true,
): Promise<Value> {
  const reservation = await credits.reserve(key);
  try {
    const value = await call();
    if (wasMade(value)) apiKeys.charge(key.id, reservation.consumed);
    else reservation.release();
    return value;
  } catch (error) {
    // An unreadable verdict has cost money, and so has a call whose caller left.
    if (isFree(error)) reservation.release();
    else apiKeys.charge(key.id, reservation.consumed);
    throw error;
  }
}
