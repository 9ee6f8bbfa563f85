import { AppError } from '../../shared/app-error.ts';
import type { Credits } from '../credits/credits.ts';
import { ProviderFailure } from '../providers/provider-error.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../storage/storage.ts';

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
