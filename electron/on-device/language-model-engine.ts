import type { OnDeviceState } from '../../shared/contract/on-device.ts';
import { AppError } from '../../shared/app-error.ts';
import type { StartChild } from '../child-process/child.ts';
import { type EnginePart, type EngineProcess, type EngineRequest, startEngineProcess } from './engine-process.ts';
import { createMutex } from '../common/mutex.ts';

export interface LanguageModelEngine {
  /** Answers in the order of the calls, one at a time. */
  answer(
    request: EngineRequest,
    options: { readonly modelPath: string; readonly signal: AbortSignal },
  ): AsyncGenerator<EnginePart, void, undefined>;
  state(): OnDeviceState['engine'];
  /** The operating system's ID of the model's process; null if there is none. */
  processId(): number | null;
  /** Unloads this file. An active request fails with `reason`; the next one starts a new process. */
  release(modelPath: string, reason: AppError): Promise<void>;
  /** Ends the process permanently; active and queued requests fail with `reason`. */
  close(reason: AppError): Promise<void>;
}

export interface LanguageModelEngineOptions {
  readonly threads: number | null;
  readonly startChild: StartChild;
  /** Idle milliseconds after which the process ends. */
  readonly idleMs: number;
  readonly onChange: () => void;
  /** Called when the model is loaded, with its context size. */
  readonly onLoaded: (modelPath: string, contextTokens: number) => void;
  readonly log: (message: string) => void;
}

/** Manages the model's process: starts it at the first request, ends it when idle, replaces it after a crash. */
export function createLanguageModelEngine(options: LanguageModelEngineOptions): LanguageModelEngine {
  const turns = createMutex(options.onChange);
  let engineProcess: EngineProcess | null = null;
  let state: OnDeviceState['engine']['state'] = 'idle';
  let failure: string | null = null;
  let loadingSince: string | null = null;
  let isAnswering = false;
  let idleTimer: NodeJS.Timeout | undefined;
  let closed: AppError | null = null;

  function change(next: typeof state, nextFailure: string | null = null): void {
    state = next;
    failure = nextFailure;
    loadingSince = next === 'loading' ? new Date().toISOString() : null;
    options.onChange();
  }

  async function end(reason: AppError): Promise<void> {
    clearTimeout(idleTimer);
    const ending = engineProcess;
    engineProcess = null;
    if (!ending) return;
    await ending.end(reason);
    change('idle');
  }

  /** Resolves with a process that has loaded the model. */
  async function ready(modelPath: string): Promise<EngineProcess> {
    clearTimeout(idleTimer);
    if (closed) throw closed;
    if (engineProcess && engineProcess.modelPath !== modelPath) {
      await end(new AppError('provider_failed', 'Another on-device model was selected.'));
    }
    if (!engineProcess?.isAlive) {
      const { threads, startChild, log } = options;
      const started = startEngineProcess({ modelPath, threads, startChild, log });
      engineProcess = started;
      change('loading');
      void started.ended.then(() => {
        if (engineProcess !== started) return;
        engineProcess = null;
        if (state !== 'failed') change('idle');
      });
    }
    const current = engineProcess;
    try {
      options.onLoaded(modelPath, await current.loaded);
    } catch (error) {
      if (error instanceof AppError && engineProcess === current) change('failed', error.message);
      throw error;
    }
    if (state !== 'ready') change('ready');
    return current;
  }

  function leave(release: () => void): void {
    isAnswering = false;
    idleTimer = setTimeout(
      () => void end(new AppError('provider_failed', 'The on-device model was idle.')),
      options.idleMs,
    );
    // The idle timer must not keep the host alive.
    idleTimer.unref();
    options.onChange();
    release();
  }

  return {
    async *answer(request, { modelPath, signal }) {
      const release = await turns.take({ signal });
      isAnswering = true;
      options.onChange();
      let done: Promise<void> = Promise.resolve();
      try {
        // Loading continues after this caller aborts, because the next one needs the model.
        const loading = ready(modelPath);
        done = loading.then(
          () => {},
          () => {},
        );
        const current = await abortable(loading, signal);
        const exchange = current.ask(request, { signal });
        done = exchange.done;
        yield* exchange.parts;
      } finally {
        // The next request may start when the process is done, which after a Stop is a moment later than for the caller.
        void done.then(() => leave(release));
      }
    },
    state: () => ({ state, loadingSince, queued: turns.waiting, isAnswering, failure }),
    processId: () => engineProcess?.processId ?? null,
    async release(modelPath, reason) {
      if (engineProcess?.modelPath === modelPath) await end(reason);
    },
    async close(reason) {
      closed = reason;
      await end(reason);
    },
  };
}

/** The promise's outcome, or the signal's reason if that comes first. */
async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
