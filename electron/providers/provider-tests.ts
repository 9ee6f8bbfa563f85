import { AppError } from '../../shared/app-error.ts';
import type { ProviderTest } from '../../shared/contract/providers.ts';
import type { ProviderCache } from '../storage/storage.ts';
import type { Credentials } from './credentials.ts';
import type { ProviderId } from './provider-addresses.ts';
import { ProviderFailure } from './provider-error.ts';

/** A list of models is small. A provider that takes longer counts as silent. */
const testTimeoutMs = 15_000;

/**
 * Fetches a provider's list of models and caches it. Failures are in the returned result. Throws only `AbortError` when the signal
 * aborts, and `provider_not_configured` if the key is missing.
 */
export async function testProvider(
  providerId: ProviderId,
  credentials: Credentials,
  cache: ProviderCache,
  { signal }: { signal: AbortSignal },
): Promise<ProviderTest> {
  const provider = credentials.provider(providerId);
  const limit = AbortSignal.timeout(testTimeoutMs);
  const startedAt = performance.now();
  const result = (outcome: Pick<ProviderTest, 'outcome' | 'models' | 'status' | 'message'>): ProviderTest => ({
    testedAt: new Date().toISOString(),
    milliseconds: Math.round(performance.now() - startedAt),
    ...outcome,
  });
  try {
    const models = await provider.listModels({ signal: AbortSignal.any([signal, limit]) });
    cache.setListedModels(providerId, models);
    return result({ outcome: 'ok', models: models.length, status: 200, message: null });
  } catch (error) {
    if (signal.aborted) throw error;
    if (limit.aborted) {
      const message = `No response within ${testTimeoutMs / 1000} s. Check the address and the network.`;
      return result({ outcome: 'silent', models: 0, status: null, message });
    }
    if (!(error instanceof AppError)) throw error;
    const { kind, providerStatus } =
      error instanceof ProviderFailure ? error : { kind: 'failed' as const, providerStatus: null };
    return result({ outcome: kind, models: 0, status: providerStatus, message: error.message });
  }
}
