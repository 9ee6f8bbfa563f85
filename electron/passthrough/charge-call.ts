import type { Credits } from '../credits/credits.ts';
import type { RateLimits } from '../credits/rate-limits.ts';
import type { Log } from '../log.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import type { ProgramCall } from './begin-run.ts';
import type { CallUse } from './call-record.ts';

interface ChargeOptions {
  readonly apiKeys: Pick<ApiKeyStore, 'charge'>;
  readonly log: Log;
}

interface ReserveOptions {
  readonly credits: Credits;
  readonly rateLimits: RateLimits;
  readonly chargeKey: ChargeKey;
}

const charactersPerToken = 4;

/** Replaces the reservations. `isWritten` is whether the record of the run has the credit, too. */
export type Charge = (use: CallUse, isWritten: boolean) => void;

export type ChargeKey = (id: string, credits: number) => void;

/** Charges keys for calls without a record. What a full disk doesn't take is charged with a later call: the call itself must go through. */
export function createKeyCharges({ apiKeys, log }: ChargeOptions): ChargeKey {
  const unpaid = new Map<string, number>();
  return (id, credits) => {
    const earlier = unpaid.get(id) ?? 0;
    try {
      apiKeys.charge(id, earlier + credits);
      unpaid.delete(id);
    } catch (error) {
      if (earlier === 0) log('a call of another program could not be charged yet', error);
      unpaid.set(id, earlier + credits);
    }
  };
}

/** Reserves what the call may cost. Throws 402 and 429. */
export async function reserve(
  call: Pick<ProgramCall, 'caller' | 'body'>,
  { credits, rateLimits, chargeKey }: ReserveOptions,
): Promise<Charge> {
  const { key } = call.caller;
  const credit = await credits.reserve(key);
  const estimate = Math.ceil((call.body?.length ?? 0) / charactersPerToken);
  try {
    const tokens = rateLimits.reserveTokens(key, estimate);
    return (use, isWritten) => {
      tokens.correct(use.usage?.total_tokens ?? (use.credits === 0 ? 0 : estimate));
      if (use.credits === 0) credit.release();
      else if (!isWritten && key !== null) chargeKey(key.id, use.credits);
    };
  } catch (error) {
    credit.release();
    throw error;
  }
}
