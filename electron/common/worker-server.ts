import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode, type ErrorDetail } from '../../shared/app-error.ts';
import { releaseWhenIdle } from './tune-engine.ts';

/** A message from the host. A message without an `id` expects no response. */
export type HostMessage =
  { readonly id?: number; readonly method: string; readonly input: unknown } | { readonly abort: number } | 'dispose';

/** A message from the worker: one result or error per call, progress before it, and events that belong to no call. */
export type WorkerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: SerializedError }
  | { readonly id: number; readonly progress: unknown }
  | { readonly event: unknown };

/** Structured cloning drops the class and the fields of an error. */
export type SerializedError =
  | { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetail[] }
  | { readonly message: string; readonly stack: string; readonly cause: string | undefined };

/** The second argument of each method of a worker. */
export interface CallContext<Progress = never> {
  readonly signal: AbortSignal;
  /** Lets the worker read messages and start other calls; throws if this call was aborted. */
  pause(): Promise<void>;
  onProgress(progress: Progress): void;
}

/** The worker's end of the connection. */
export interface WorkerPort {
  send(message: WorkerMessage): void;
  onMessage(listener: (message: HostMessage) => void): void;
  close(): void;
}

export interface ServeOptions {
  /** Closes the worker's resources; called before the worker ends because the host disposes it. */
  readonly onDispose?: () => void;
  /** The connection to the host; a worker thread's port by default. */
  readonly port?: WorkerPort;
}

function threadPort(): WorkerPort {
  const port = parentPort!;
  return {
    send: (message) => port.postMessage(message),
    onMessage: (listener) => void port.on('message', listener),
    close: () => port.close(),
  };
}

function serialize(error: unknown): SerializedError {
  if (error instanceof AppError) return { code: error.code, message: error.message, details: error.details };
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  return { message, stack, cause: error instanceof Error && 'code' in error ? String(error.code) : undefined };
}

type Call = Extract<HostMessage, { method: string }>;
type AnyMethod = (input: unknown, context: CallContext<unknown>) => unknown;

/** Runs the methods that `createWorkerClient` calls, from a worker's entry point. Returns a function that sends an event to the host. */
export function serveCalls<Event = never>(
  methods: object,
  { onDispose, port = threadPort() }: ServeOptions = {},
): (event: Event) => void {
  const calls = new Map<number, AbortController>();

  async function run({ id, method, input }: Call, { signal }: AbortController): Promise<void> {
    const context: CallContext<unknown> = {
      signal,
      async pause() {
        await new Promise(setImmediate);
        signal.throwIfAborted();
      },
      onProgress: (progress) => id !== undefined && port.send({ id, progress }),
    };
    try {
      signal.throwIfAborted();
      const result = await (methods as Record<string, AnyMethod>)[method]!(input, context);
      if (id !== undefined) port.send({ id, result });
    } catch (error) {
      if (id !== undefined) port.send({ id, error: serialize(error) });
    } finally {
      if (id !== undefined) calls.delete(id);
    }
  }

  function dispose(): void {
    for (const call of calls.values()) call.abort();
    onDispose?.();
    port.close();
  }

  port.onMessage((message) => {
    // In the order of the messages, and after those that have already arrived, because an abort may be among them.
    if (message === 'dispose') setImmediate(dispose);
    else if ('abort' in message) calls.get(message.abort)?.abort();
    else {
      const controller = new AbortController();
      if (message.id !== undefined) calls.set(message.id, controller);
      setImmediate(() => void run(message, controller));
    }
  });
  releaseWhenIdle();
  return (event) => port.send({ event });
}
