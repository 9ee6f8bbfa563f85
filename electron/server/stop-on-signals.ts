import type { Host } from '../create-host.ts';
import type { Listener } from './listen.ts';
import type { Log } from '../log.ts';

/** Maximum time in milliseconds for connections to end, then for the rest. */
const connectionLimit = 2_000;
const closingLimit = 5_000;

/** A terminal signals the whole process group, and `npm` passes its signal on. Signals within this time count as one. */
const echoTime = 200;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function stop(listener: Pick<Listener, 'close'>, host: Pick<Host, 'close'>, log: Log): Promise<number> {
  const limit = new Promise<number>((resolve) => {
    setTimeout(() => {
      log('Closing took too long; stopped anyway.');
      resolve(1);
    }, closingLimit);
  });
  const close = async (): Promise<number> => {
    await listener.close({ signal: AbortSignal.timeout(connectionLimit) });
    await host.close();
    return 0;
  };
  return Promise.race([close(), limit]);
}

/**
 * Ends the process on the first signal, after active runs are recorded as cancelled and the database is closed. A second signal ends it
 * immediately. The returned signal aborts with the first one.
 */
export function stopOnSignals(parts: {
  listener: Pick<Listener, 'close'>;
  host: Pick<Host, 'close'>;
  log: Log;
}): AbortSignal {
  const stopping = new AbortController();
  let stoppedAt = 0;
  const onSignal = (): void => {
    if (stopping.signal.aborted) {
      if (performance.now() - stoppedAt > echoTime) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    stopping.abort();
    stop(parts.listener, parts.host, parts.log).then(
      (status) => process.exit(status),
      (failure: unknown) => {
        parts.log('The host did not close cleanly.', failure);
        process.exit(1);
      },
    );
  };
  for (const signal of signals) process.on(signal, onSignal);
  return stopping.signal;
}
