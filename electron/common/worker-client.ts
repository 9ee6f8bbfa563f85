import { Worker } from 'node:worker_threads';
import { AppError } from '../../shared/app-error.ts';
import type { CallContext, HostMessage, SerializedError, WorkerMessage } from './worker-server.ts';

/** A thread or a child process. */
export interface WorkerConnection {
  /** `transfer` has buffers that the worker gets instead of copies; child processes copy them. */
  send(message: HostMessage, transfer?: readonly ArrayBuffer[]): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Resolves when the worker has ended, with the reason. */
  readonly ended: Promise<Error>;
  /** Whether this process stays alive for the worker; false at the start. */
  setHoldsHost(isHolding: boolean): void;
  kill(): void;
}

type Method = (input: never, context: CallContext<never>) => unknown;
type Methods<Type> = { readonly [Name in keyof Type]: Method };
type Input<Type> = Type extends (input: infer Value, context: never) => unknown ? Value : null;
type Result<Type> = Type extends (...args: never) => infer Value ? Awaited<Value> : never;
type ProgressOf<Type> = Type extends (input: never, context: CallContext<infer Value>) => unknown ? Value : never;

export interface CallOptions<Progress = unknown> {
  readonly signal?: AbortSignal;
  /**
   * The effect of an abort. `reject`, the default, rejects at once and has the worker skip the call or stop it at its next pause.
   * `wait` also aborts the worker's call but waits for its result. `terminate` rejects at once and ends the worker, which the next
   * call starts again.
   */
  readonly onAbort?: 'reject' | 'wait' | 'terminate';
  /** Ends the worker after this time; the call rejects with a `TimeoutError`. */
  readonly timeLimitMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** Buffers of the input that the worker gets; this thread loses them. */
  readonly transfer?: readonly ArrayBuffer[];
}

/** Calls the methods of one worker, which starts with the first call and starts again with the next call after a crash. */
export interface WorkerClient<Type extends Methods<Type>> {
  readonly isRunning: boolean;
  /** Rejects with the error of the method, with the reason that the worker ended, or with the signal's reason. */
  call<Name extends keyof Type & string>(
    method: Name,
    input: Input<Type[Name]>,
    options?: CallOptions<ProgressOf<Type[Name]>>,
  ): Promise<Result<Type[Name]>>;
  /** Calls a method without waiting for it; its errors are ignored. Doesn't keep the process alive. */
  notify<Name extends keyof Type & string>(method: Name, input: Input<Type[Name]>): void;
  /** Kills the worker and resolves when it has ended. Active calls reject at once; another call starts the worker again. */
  terminate(reason: Error): Promise<void>;
  /** Lets the worker finish its calls and close its resources, and resolves when it has ended. Later calls reject. */
  dispose(): Promise<void>;
}

export interface WorkerClientOptions {
  /** The subject of error messages, such as "The audit". */
  readonly name: string;
  readonly start: () => WorkerConnection;
  readonly onEvent?: (event: never) => void;
  /** The worker ended without a call of `terminate` or `dispose`. */
  readonly onCrash?: (reason: Error) => void;
}

interface PendingCall {
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((progress: never) => void) | undefined;
}

export function createWorkerClient<Type extends Methods<Type>>(options: WorkerClientOptions): WorkerClient<Type> {
  const { name } = options;
  const pending = new Map<number, PendingCall>();
  let connection: WorkerConnection | null = null;
  /** The worker that was terminated last. */
  let ending: Promise<unknown> = Promise.resolve();
  let lastId = 0;
  let isDisposed = false;

  function takePending(id: number): PendingCall | undefined {
    const call = pending.get(id);
    pending.delete(id);
    // During `dispose` the worker keeps the host alive until it has ended.
    if (pending.size === 0 && !isDisposed) connection?.setHoldsHost(false);
    return call;
  }

  function rejectAll(reason: Error): void {
    for (const { reject } of pending.values()) reject(reason);
    pending.clear();
  }

  function onMessage(message: WorkerMessage): void {
    if ('event' in message) options.onEvent?.(message.event as never);
    else if ('progress' in message) pending.get(message.id)?.onProgress?.(message.progress as never);
    else if ('error' in message) takePending(message.id)?.reject(errorOf(message.error, name));
    else takePending(message.id)?.resolve(message.result as never);
  }

  function connect(): WorkerConnection {
    if (connection) return connection;
    const started = options.start();
    started.onMessage((message) => connection === started && onMessage(message as WorkerMessage));
    void started.ended.then((reason) => {
      if (connection !== started) return;
      connection = null;
      rejectAll(reason);
      if (!isDisposed) options.onCrash?.(reason);
    });
    return (connection = started);
  }

  async function terminate(reason: Error): Promise<void> {
    if (connection) {
      connection.kill();
      ending = connection.ended;
      connection = null;
      rejectAll(reason);
    }
    await ending;
  }

  return {
    get isRunning() {
      return connection !== null;
    },
    async call(method, input, { signal, onAbort = 'reject', timeLimitMs, onProgress, transfer } = {}) {
      signal?.throwIfAborted();
      if (isDisposed) throw new Error(`${name} is closed.`);
      const id = (lastId += 1);
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      const used = connect();
      pending.set(id, { resolve, reject, onProgress });
      used.setHoldsHost(true);
      used.send({ id, method, input }, transfer);
      const abort = () => {
        if (onAbort === 'terminate') return void terminate(signal!.reason);
        used.send({ abort: id });
        if (onAbort === 'reject') takePending(id)?.reject(signal!.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const timeLimit = () => void terminate(new DOMException(`${name} took too long.`, 'TimeoutError'));
      const timer = timeLimitMs === undefined ? undefined : setTimeout(timeLimit, timeLimitMs);
      try {
        return await promise;
      } finally {
        signal?.removeEventListener('abort', abort);
        clearTimeout(timer);
      }
    },
    notify(method, input) {
      if (!isDisposed) connect().send({ method, input });
    },
    terminate,
    async dispose() {
      isDisposed = true;
      connection?.setHoldsHost(true);
      connection?.send('dispose');
      await connection?.ended;
    },
  };
}

/** Errors other than `AppError` keep their stack for the log, and the code from Node or SQLite. */
function errorOf(error: SerializedError, name: string): Error {
  if ('details' in error) return new AppError(error.code, error.message, { details: error.details });
  const { message, stack, cause } = error;
  return Object.assign(new Error(`${name} failed: ${message}`), { stack, ...(cause !== undefined && { code: cause }) });
}

export interface ThreadOptions {
  /** `workerData` of the thread. */
  readonly data?: unknown;
  readonly maxHeapMegabytes?: number;
}

/** Starts a thread that serves calls. */
export function startThread(program: URL, { data, maxHeapMegabytes }: ThreadOptions = {}): WorkerConnection {
  const worker = new Worker(program, {
    workerData: data,
    // Options of a debugger or a test runner don't apply to this thread.
    execArgv: [],
    ...(maxHeapMegabytes !== undefined && { resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes } }),
  });
  const ended = Promise.withResolvers<Error>();
  let failure: Error | null = null;
  worker.on('error', (error: Error) => (failure = error));
  worker.on('exit', (code) => ended.resolve(failure ?? new Error(`The worker thread ended with exit code ${code}.`)));
  worker.unref();
  return {
    send: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (listener) => void worker.on('message', listener),
    ended: ended.promise,
    setHoldsHost: (isHolding) => (isHolding ? worker.ref() : worker.unref()),
    kill: () => void worker.terminate(),
  };
}
