import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { EmbeddingsThreadStart, SharedModel } from './embeddings-messages.ts';
import type { EmbeddingsMethods } from './embeddings-worker.ts';

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

/** Starts a thread. It keeps the host alive only while it starts and while it has a text. */
export function createEmbeddingsThread({ start, onReady, onFailure }: EmbeddingsThreadOptions): EmbeddingsThread {
  const worker = createWorkerClient<EmbeddingsMethods>({
    name: 'Embedding',
    start: () => startThread(workerUrl(import.meta.url, 'embeddings-worker'), { data: start }),
    onCrash(reason) {
      isFree = false;
      onFailure(reason);
    },
  });
  let isFree = false;

  worker.call('model', null).then((model) => {
    isFree = true;
    onReady(model);
  }, onFailure);
  return {
    get isFree() {
      return isFree;
    },
    async embed(text) {
      isFree = false;
      try {
        return await worker.call('embed', text);
      } finally {
        isFree = worker.isRunning;
      }
    },
    end: () => worker.terminate(new DOMException('The embedding was stopped.', 'AbortError')),
  };
}
