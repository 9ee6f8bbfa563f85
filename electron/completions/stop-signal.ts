/** A signal of our own that follows the caller's, without leaving a listener behind on a signal that outlives the run. */
export function stopSignal(caller: AbortSignal): { signal: AbortSignal; abort: () => void; dispose: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (caller.aborted) abort();
  else caller.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, abort, dispose: () => caller.removeEventListener('abort', abort) };
}

/** Whether a failure only says that the signal ended the work. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
}
