import { app } from 'electron';

/** Milliseconds that closing may take; a provider or a disk that hangs must not keep the application alive for ever. */
const closingLimit = 5_000;

/** Closes the host before the application ends: runs under way are recorded as cancelled, the database is written. */
export function closeBeforeQuit(closeHost: () => Promise<void>, log: (message: string, error?: unknown) => void): void {
  let state: 'open' | 'closing' | 'closed' = 'open';

  async function close(): Promise<void> {
    const limit = new Promise<void>((resolve) => setTimeout(resolve, closingLimit));
    try {
      await Promise.race([closeHost(), limit]);
    } catch (error) {
      log('The host did not close cleanly.', error);
    }
    state = 'closed';
    app.exit();
  }

  app.on('will-quit', (event) => {
    if (state === 'closed') return;
    event.preventDefault();
    if (state === 'closing') return;
    state = 'closing';
    void close();
  });
}
