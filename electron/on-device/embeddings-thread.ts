import { Worker } from 'node:worker_threads';
import { workerUrl } from '../common/worker-url.ts';
import type {
  EmbeddingsAnswer,
  EmbeddingsQuestion,
  EmbeddingsThreadStart,
  SharedModel,
} from './embeddings-messages.ts';

/** One thread that makes embeddings. */
export interface EmbeddingsThread {
  /** Whether it is ready and has no text. */
  readonly isFree: boolean;
  /** The vector of one text; only of a thread that is free. */
  embed(text: string): Promise<Float32Array>;
  end(): Promise<void>;
}

export interface EmbeddingsThreadOptions {
  readonly start: EmbeddingsThreadStart;
  /** Told once, when the thread takes its first text. */
  readonly onReady: (model: SharedModel) => void;
  /** Told when the thread cannot go on, after which it is of no use. */
  readonly onFailure: (error: Error) => void;
}

/** Starts a thread. It holds the host open only while it starts and while it has a text. */
export function createEmbeddingsThread({ start, onReady, onFailure }: EmbeddingsThreadOptions): EmbeddingsThread {
  // A debugger's or test runner's own options are not for this thread.
  const worker = new Worker(workerUrl(import.meta.url, 'embeddings-worker'), { execArgv: [], workerData: start });
  let isReady = false;
  let asked: PromiseWithResolvers<Float32Array> | null = null;

  function rest(): PromiseWithResolvers<Float32Array> | null {
    const answered = asked;
    asked = null;
    worker.unref();
    return answered;
  }

  function onAnswer(message: EmbeddingsAnswer): void {
    if (message.type === 'ready') {
      isReady = true;
      worker.unref();
      onReady(message.model);
    } else if (message.type === 'embedded') rest()?.resolve(message.vector);
    else rest()?.reject(new Error(`Embedding failed: ${message.details}`));
  }

  function onEnd(error: Error): void {
    isReady = false;
    rest()?.reject(error);
    onFailure(error);
  }

  worker.on('message', onAnswer);
  worker.on('error', onEnd);
  worker.on('exit', (code) => onEnd(new Error(`The embedding thread ended with exit code ${code}`)));
  return {
    get isFree() {
      return isReady && asked === null;
    },
    embed(text) {
      asked = Promise.withResolvers();
      worker.ref();
      worker.postMessage({ text } satisfies EmbeddingsQuestion);
      return asked.promise;
    },
    async end() {
      await worker.terminate();
    },
  };
}
