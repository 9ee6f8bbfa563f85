import { AppError } from '../../shared/app-error.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../storage/storage.ts';
import { ProviderFailure } from '../providers/provider-error.ts';

/** What one call costs once its provider has begun to answer: a run, or a text that a provider's classifier judges. */
const creditsPerRun = 1;

/** The credit of one run or one verdict, set aside before any provider is called. */
export interface CreditReservation {
  /** What the run costs, 0 once it was released. */
  readonly consumed: number;
  /** What the key may still use, with active runs counted as used; null for a key without a limit and for the window. */
  remaining(): number | null;
  /** Gives the credit back, for a run that costs nothing. A second call does nothing. */
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
  /** Throws `credits_exhausted` when the key has none left. Null is the window, which needs none. */
  reserve(key: AuthenticatedKey | null): CreditReservation;
}

/**
 * Counts credits in memory, from what the ledger says when a key is first used: an active run has its credit
 * already, so requests at the same moment cannot spend the same one twice. There is one host for a data folder, so nobody
 * else counts.
 */
export function createCredits(): Credits {
  const usedByKey = new Map<string, number>();

  function change(id: string, credits: number): void {
    usedByKey.set(id, usedByKey.get(id)! + credits);
  }

  return {
    use(key) {
      const consumed = usedByKey.get(key.id) ?? key.creditsUsed;
      return { consumed, remaining: key.creditLimit === null ? null : Math.max(0, key.creditLimit - consumed) };
    },
    reserve(key) {
      if (key !== null) {
        const used = usedByKey.get(key.id) ?? key.creditsUsed;
        requireCredits(key, used);
        usedByKey.set(key.id, used + creditsPerRun);
      }
      let consumed = creditsPerRun;
      return {
        get consumed() {
          return consumed;
        },
        remaining: () =>
          key === null || key.creditLimit === null ? null : Math.max(0, key.creditLimit - usedByKey.get(key.id)!),
        release() {
          if (key !== null) change(key.id, -consumed);
          consumed = 0;
        },
      };
    },
  };
}

function requireCredits(key: AuthenticatedKey, used: number): void {
  if (key.creditLimit === null || used + creditsPerRun <= key.creditLimit) return;
  throw new AppError(
    'credits_exhausted',
    `This API key has used its ${key.creditLimit} credits. Whoever runs this Touchstone can raise the limit in its settings, under API keys.`,
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
 * Makes a call that costs the owner money at a provider. The key pays one credit, which is set aside first. Throws `credits_exhausted`
 * before the call. `wasMade` says whether a call that succeeded reached the provider.
 */
export async function payForCall<Value>(
  key: AuthenticatedKey,
  { credits, apiKeys }: Payment,
  call: () => Promise<Value>,
  wasMade: (value: Value) => boolean = () => true,
): Promise<Value> {
  const reservation = credits.reserve(key);
  try {
    const value = await call();
    if (wasMade(value)) apiKeys.charge(key.id, reservation.consumed);
    else reservation.release();
    return value;
  } catch (error) {
    // A verdict that can't be read has cost money, and a caller that leaves can't take the call back.
    if (isFree(error)) reservation.release();
    else apiKeys.charge(key.id, reservation.consumed);
    throw error;
  }
}
