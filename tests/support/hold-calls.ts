import { vi } from 'vitest';
import type { Client } from '../../renderer/host/client.ts';

export interface HeldCalls {
  /** How many calls were made since. */
  count(): number;
  /** Lets them go on, now and later; with an error they fail instead. */
  release(error?: Error): void;
}

/** Holds the window's calls of an endpoint from now on. `isHeld` reads the input of a call; without it all are held. */
export function holdCalls(
  client: Client,
  endpoint: { id: string },
  isHeld: (input: never) => boolean = () => true,
): HeldCalls {
  const gate = Promise.withResolvers<void>();
  gate.promise.catch(() => {});
  let count = 0;
  const call = client.call.bind(client) as (called: { id: string }, input: unknown) => Promise<unknown>;
  const held = async (called: { id: string }, input: unknown): Promise<unknown> => {
    if (called.id === endpoint.id && isHeld(input as never)) {
      count += 1;
      await gate.promise;
    }
    return call(called, input);
  };
  vi.spyOn(client, 'call').mockImplementation(held as Client['call']);
  return { count: () => count, release: (error) => (error ? gate.reject(error) : gate.resolve()) };
}
