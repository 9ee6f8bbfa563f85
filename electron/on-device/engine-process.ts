import { addAbortSignal, Readable } from 'node:stream';
import type { FinishReason, Usage } from '../../shared/contract/completions.ts';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Grammar } from '../../shared/schema-grammar.ts';
import { childEnvironment, describeEnd, type StartChild } from '../child-process/child.ts';
import { workerUrl } from '../common/worker-url.ts';

/** How the next token is sampled. Absent values use the engine's defaults. */
export interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly stop: readonly string[];
  readonly seed?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
}

export interface EngineRequest {
  readonly systemMessage: string | null;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }[];
  readonly sampling: Sampling;
  /** The grammar of the answer; null for free text. */
  readonly grammar: Grammar | null;
}

/** Why an engine couldn't load its model; `details` is for the log, because it may contain paths. */
export interface LoadFailure {
  readonly reason: 'memory' | 'platform' | 'file';
  readonly details: string;
}

/** From the host to the process. A process loads one model and handles one request at a time. */
export type HostMessage =
  | { readonly type: 'load'; readonly modelPath: string; readonly threads: number | null }
  | { readonly type: 'answer'; readonly id: number; readonly request: EngineRequest }
  | { readonly type: 'cancel'; readonly id: number };

/** From the process to the host. Every `answer` ends with exactly one of `finished`, `cancelled`, `too-long`, `failed`. */
export type EngineMessage =
  | { readonly type: 'loaded'; readonly contextTokens: number }
  | { readonly type: 'load-failed'; readonly failure: LoadFailure }
  /** The prompt in the model's chat template, before its first token. */
  | { readonly type: 'prompt'; readonly id: number; readonly text: string }
  | { readonly type: 'text' | 'reasoning'; readonly id: number; readonly text: string }
  | { readonly type: 'finished'; readonly id: number; readonly finishReason: FinishReason; readonly usage: Usage }
  | { readonly type: 'cancelled'; readonly id: number }
  | { readonly type: 'too-long'; readonly id: number; readonly promptTokens: number; readonly contextTokens: number }
  | { readonly type: 'failed'; readonly id: number; readonly details: string };

export type EnginePart =
  | { readonly type: 'prompt' | 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'finished'; readonly finishReason: FinishReason; readonly usage: Usage };

const loadFailureText: Record<LoadFailure['reason'], string> = {
  memory: 'there is not enough free memory for it. Close other programs, or choose a smaller model',
  platform:
    'this system or processor is not supported by the inference library. Route the service models to a provider',
  file: 'its file is damaged or of a kind that this version cannot run. Download it again, or choose another model',
};

/** The active request. */
interface Exchange {
  readonly id: number;
  readonly parts: Readable;
  readonly finish: () => void;
}

export interface EngineProcess {
  readonly modelPath: string;
  /** Operating system's id of the process. */
  readonly processId: number | undefined;
  /**
   * Resolves with the context size in tokens when the model is loaded; rejects with an `AppError` when it can't be loaded or the
   * process ended.
   */
  readonly loaded: Promise<number>;
  /** False as soon as the process has ended or can't be used any more. */
  readonly isAlive: boolean;
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<void>;
  /**
   * Sends one request. The caller sees an abort at once; `done` resolves when the process itself has finished the request and can
   * take the next one.
   */
  ask(
    request: EngineRequest,
    options: { readonly signal: AbortSignal },
  ): { readonly parts: AsyncIterable<EnginePart>; readonly done: Promise<void> };
  /** Ends the process; an active request fails with `reason`. */
  end(reason: AppError): Promise<void>;
}

export interface EngineProcessOptions {
  readonly modelPath: string;
  readonly threads: number | null;
  readonly startChild: StartChild;
  readonly log: (message: string) => void;
}

/** Starts the process and loads the model. */
export function startEngineProcess({ modelPath, threads, startChild, log }: EngineProcessOptions): EngineProcess {
  const child = startChild({
    program: workerUrl(import.meta.url, 'language-model-process'),
    environment: childEnvironment(['HOME', 'USERPROFILE']),
  });
  const loaded = Promise.withResolvers<number>();
  // `ask` throws this error; without a call it would be an unhandled rejection.
  loaded.promise.catch(() => {});
  const ended = Promise.withResolvers<void>();
  let exchange: Exchange | null = null;
  let lastId = 0;
  let endReason: AppError | null = null;
  let isAlive = true;

  const send = (message: HostMessage) => child.send(message);
  const finish = () => {
    exchange?.finish();
    exchange = null;
  };
  const fail = (error: AppError) => {
    isAlive = false;
    loaded.reject(error);
    exchange?.parts.destroy(error);
    finish();
  };

  child.onMessage((received) => {
    const message = received as EngineMessage;
    if (message.type === 'loaded') return loaded.resolve(message.contextTokens);
    if (message.type === 'load-failed') {
      log(`The on-device model could not be loaded: ${message.failure.details}`);
      fail(
        new AppError(
          'provider_failed',
          `Couldn't load the on-device model: ${loadFailureText[message.failure.reason]}.`,
        ),
      );
      return child.kill();
    }
    if (message.id !== exchange?.id) return;
    deliver(message, exchange.parts, log);
    if (!isPart(message)) finish();
  });
  child.onEnd((end) => {
    const how = describeEnd(end);
    if (!endReason) log(`The on-device model's process ended: ${how}. ${child.errorOutput}`);
    const message =
      end.signal === 'SIGILL'
        ? `Couldn't load the on-device model: ${loadFailureText.platform}.`
        : `The on-device model's process stopped (${how}). Run the prompt again to restart it.`;
    fail(endReason ?? new AppError('provider_failed', message));
    ended.resolve();
  });

  send({ type: 'load', modelPath, threads });
  return {
    modelPath,
    get processId() {
      return child.processId;
    },
    loaded: loaded.promise,
    get isAlive() {
      return isAlive;
    },
    ended: ended.promise,
    ask(request, { signal }) {
      const id = (lastId += 1);
      const done = Promise.withResolvers<void>();
      const parts = addAbortSignal(signal, new Readable({ objectMode: true, read() {} }));
      // An abort and an early return of the reader end the request, too. The reader itself sees the error in its loop.
      parts.on('error', () => {}).once('close', () => send({ type: 'cancel', id }));
      exchange = { id, parts, finish: done.resolve };
      send({ type: 'answer', id, request });
      return { parts, done: done.promise };
    },
    async end(reason) {
      endReason = reason;
      child.kill();
      await ended.promise;
    },
  };
}

function isPart({ type }: EngineMessage): boolean {
  return type === 'prompt' || type === 'text' || type === 'reasoning';
}

/** Passes one message of the engine to the reader of its response. */
function deliver(
  message: Extract<EngineMessage, { id: number }>,
  parts: Readable,
  log: (message: string) => void,
): void {
  // The reader has returned, or has already seen the abort.
  if (parts.destroyed) return;
  switch (message.type) {
    case 'prompt':
    case 'text':
    case 'reasoning':
      parts.push({ type: message.type, text: message.text } satisfies EnginePart);
      return;
    case 'finished':
      parts.push({ type: 'finished', finishReason: message.finishReason, usage: message.usage } satisfies EnginePart);
      parts.push(null);
      return;
    case 'too-long':
      parts.destroy(tooLong(message.promptTokens, message.contextTokens));
      return;
    case 'failed':
      log(`The on-device model failed to answer: ${message.details}`);
      parts.destroy(new AppError('provider_failed', 'The on-device model failed to answer. Run the prompt again.'));
      return;
    case 'cancelled':
      parts.destroy();
  }
}

function tooLong(promptTokens: number, contextTokens: number): AppError {
  return invalidField(
    'promptText',
    `has ${promptTokens} tokens with the system message; the on-device model supports ${contextTokens}, including the answer. ` +
      'Shorten it, or route the service model to a provider with a longer context',
  );
}
