import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work goes on for so long before other work gets its turn. */
const maxTurnMs = 10;

/** Returns what gives other work its turn once it is due, to call between pieces of work. `after` is called after each turn. */
export function createTurns(after: () => void): () => Promise<void> {
  let end = performance.now() + maxTurnMs;
  return async () => {
    if (performance.now() < end) return;
    await nextTurn();
    after();
    end = performance.now() + maxTurnMs;
  };
}
