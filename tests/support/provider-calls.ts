import type { Configuration } from '../../shared/contract/completions.ts';
import { textMessage } from '../../shared/contract/messages.ts';
import type { AppError } from '../../shared/app-error.ts';
import { createProviderFetch, type ProviderFetch, type TimeLimits } from '../../electron/providers/provider-fetch.ts';
import type { ModelPart, ModelRequest, Provider } from '../../electron/providers/provider.ts';

/** Limits that no test should ever meet by accident. */
export const patientLimits: TimeLimits = { firstByteSeconds: 60, betweenBytesSeconds: 60 };

export function createTransport(
  limits: TimeLimits = patientLimits,
  environment: Record<string, string> = {},
): ProviderFetch {
  return createProviderFetch({ timeLimits: () => limits, environment });
}

export function modelRequest(model: string, configuration: Configuration = {}): ModelRequest {
  return { model, systemMessage: null, messages: [textMessage('user', 'hello')], configuration };
}

/** A streamed answer put together, with the error that ended it. */
export interface Collected {
  content: string;
  reasoning: string;
  finish: Extract<ModelPart, { type: 'finish' }> | null;
  error: (Error & Partial<AppError>) | null;
}

export async function collect(parts: AsyncIterable<ModelPart>): Promise<Collected> {
  const collected: Collected = { content: '', reasoning: '', finish: null, error: null };
  try {
    for await (const part of parts) {
      if (part.type === 'text-delta') collected.content += part.text;
      else if (part.type === 'reasoning-delta') collected.reasoning += part.text;
      else if (part.type === 'finish') collected.finish = part;
    }
  } catch (error) {
    collected.error = error as Error;
  }
  return collected;
}

/** A signal that nothing ends. */
export function noAbort(): AbortSignal {
  return new AbortController().signal;
}

/** The failure of a call, in the words of a caller. */
export async function failureOf(call: Promise<unknown>): Promise<Error & Partial<AppError>> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error('The call was expected to fail.');
}

/** The same failure whether an answer is streamed or not. */
export async function failuresOf(provider: Provider, request: ModelRequest): Promise<(Error & Partial<AppError>)[]> {
  const whole = await failureOf(provider.generate(request, { signal: noAbort() }));
  const { error } = await collect(provider.stream(request, { signal: noAbort() }));
  if (!error) throw new Error('The stream was expected to fail.');
  return [whole, error];
}
