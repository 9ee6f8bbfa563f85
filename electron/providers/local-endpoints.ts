import type { EndpointAddress } from './accounts.ts';
import type { ProviderFetch } from './provider-fetch.ts';
import { createEndpointProvider } from './registry.ts';

/** Where people's own model servers listen unless told otherwise. */
export const wellKnownEndpoints: readonly EndpointAddress[] = [
  { name: 'ollama', baseAddress: 'http://127.0.0.1:11434/v1' },
  { name: 'lm-studio', baseAddress: 'http://127.0.0.1:1234/v1' },
  { name: 'llama.cpp', baseAddress: 'http://127.0.0.1:8080/v1' },
  { name: 'vllm', baseAddress: 'http://127.0.0.1:8000/v1' },
];

/** A server on this machine answers at once or is not one. */
const longestProbeMilliseconds = 1_000;

export interface FoundEndpoint extends EndpointAddress {
  readonly models: number;
}

/** Which of the addresses answer with a list of models now; all are asked at the same time, without any key. */
export async function findEndpoints(
  candidates: readonly EndpointAddress[],
  transport: ProviderFetch,
  { signal }: { signal: AbortSignal },
): Promise<FoundEndpoint[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestProbeMilliseconds)]);
  const answers = await Promise.all(
    candidates.map(async ({ name, baseAddress }) => {
      const provider = createEndpointProvider({ title: name, baseAddress, key: null, transport });
      const models = await provider.listModels({ signal: limit }).catch(() => null);
      return models && { name, baseAddress, models: models.length };
    }),
  );
  signal.throwIfAborted();
  return answers.filter((answer) => answer !== null);
}
