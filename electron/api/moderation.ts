import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import { maximumModerationBytes, moderate } from '../../shared/contract/moderation.ts';
import type { Credits } from '../credits/credits.ts';
import type { Moderation } from '../moderation/create-moderation.ts';
import { ProviderFailure } from '../providers/provider-error.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../storage/storage.ts';
import { implement, type Handler } from './handler.ts';

function requireSize(input: string): void {
  if (Buffer.byteLength(input) <= maximumModerationBytes) return;
  throw new AppError('payload_too_large', 'input is larger than 1 MB (1,048,576 bytes of UTF-8). Send it in parts.', {
    details: [{ field: 'input', issue: 'is larger than 1 MB' }],
  });
}

interface ModerationOptions {
  readonly moderation: Moderation;
  readonly credits: Credits;
  readonly apiKeys: Pick<ApiKeyStore, 'charge'>;
}

/** Judges a text for a key. A provider's classifier costs the owner money, and the key a credit that is set aside first. */
async function classifyFor(
  key: AuthenticatedKey | null,
  text: string,
  { moderation, credits, apiKeys, signal }: ModerationOptions & { signal: AbortSignal },
) {
  if (key === null || !moderation.isPaid()) return moderation.classify(text, { signal });
  const reservation = credits.reserve(key);
  try {
    const verdict = await moderation.classify(text, { signal });
    apiKeys.charge(key.id, reservation.consumed);
    return verdict;
  } catch (error) {
    // A verdict that can't be read has cost money, and a caller that leaves can't take the call back.
    if (isFree(error)) reservation.release();
    else apiKeys.charge(key.id, reservation.consumed);
    throw error;
  }
}

/** Whether the provider wasn't called, or failed. */
function isFree(error: unknown): boolean {
  return error instanceof ProviderFailure || (error instanceof AppError && error.code === 'provider_not_configured');
}

export function moderationHandlers(options: ModerationOptions): Handler[] {
  return [
    implement(moderate, async ({ body, signal, caller }) => {
      requireSize(body.input);
      const { model, rawAnswer: _, ...result } = await classifyFor(caller.key, body.input, { ...options, signal });
      return { id: randomUUID(), model, results: [result] };
    }),
  ];
}
