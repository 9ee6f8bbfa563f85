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
  /** Throws `credits_exhausted` if the key has none left. Null is the window, which needs none. */
  reserve(key: AuthenticatedKey | null): CreditReservation;
}

/**
 * Counts credits in memory, starting from the stored count when a key is first used. An active run has reserved its credit, so two
 * simultaneous requests can't spend the same one. A data folder has one host, so there is no other count.
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
 * Makes a call that costs money at a provider. The key pays one credit, which is reserved first. Throws `credits_exhausted` before the
 * call. `wasMade` returns whether a successful call reached the provider.
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
    // An unreadable verdict has cost money, and so has a call whose caller left.
    if (isFree(error)) reservation.release();
    else apiKeys.charge(key.id, reservation.consumed);
    throw error;
  }
}
