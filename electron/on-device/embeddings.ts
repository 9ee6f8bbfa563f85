import { Worker } from 'node:worker_threads';
import { siblingModule } from '../sibling-module.ts';
import type { EmbeddingsAnswer, EmbeddingsQuestion } from './embeddings-messages.ts';

/** Numbers of one vector (all-MiniLM-L6-v2). */
export const embeddingDimensions = 384;

export interface EmbedOptions {
  readonly signal: AbortSignal;
  /** Told after every text how many are done. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Meaning as numbers, made on this machine: no key, no network. The model lives in a thread of its own, which starts with the
 * first question and ends when nothing was asked for a while; it holds about 250 MB meanwhile.
 */
export interface Embeddings {
  /**
   * One vector of length 1 per text, in order. Of each text the first 256 tokens are read (about 1,000 characters of English).
   * Questions that are asked at the same time take turns text by text. Rejects with an `AbortError` when the signal ends it.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

interface Pending {
  readonly resolve: (vectors: Float32Array) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((done: number) => void) | undefined;
}

const stopped = () => new DOMException('The embedding was stopped.', 'AbortError');

export function createEmbeddings({ idleMinutes = 10 }: { readonly idleMinutes?: number } = {}): Embeddings {
  const pending = new Map<number, Pending>();
  let worker: Worker | null = null;
  let idleTimer: NodeJS.Timeout | null = null;
  let lastId = 0;
  let isClosed = false;

  function failAll(error: Error): void {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function onAnswer(message: EmbeddingsAnswer): void {
    const question = pending.get(message.id);
    if (!question) return;
    if (message.type === 'progress') return question.onProgress?.(message.done);
    if (message.type === 'embedded') question.resolve(message.vectors);
    else question.reject(new Error(`Embedding failed: ${message.details}`));
  }

  async function end(): Promise<void> {
    const ending = worker;
    worker = null;
    await ending?.terminate();
  }

  function start(): Worker {
    // A debugger's or test runner's own options are not for this thread.
    const started = new Worker(siblingModule(import.meta.url, 'embeddings-worker'), { execArgv: [] });
    started.on('message', onAnswer);
    const onEnd = (error: Error) => {
      if (worker !== started) return;
      worker = null;
      failAll(error);
    };
    started.on('error', onEnd);
    started.on('exit', (code) => onEnd(new Error(`The embedding thread ended with exit code ${code}`)));
    started.unref();
    return started;
  }

  function restAfterIdleness(): void {
    if (pending.size > 0 || isClosed) return;
    worker?.unref();
    idleTimer = setTimeout(() => void end(), idleMinutes * 60_000).unref();
  }

  async function ask(texts: readonly string[], { signal, onProgress }: EmbedOptions): Promise<Float32Array> {
    const id = (lastId += 1);
    const answer = Promise.withResolvers<Float32Array>();
    const send = (question: EmbeddingsQuestion) => worker?.postMessage(question);
    const onAbort = () => {
      send({ type: 'cancel', id });
      answer.reject(stopped());
    };
    if (idleTimer) clearTimeout(idleTimer);
    worker ??= start();
    // The thread holds the host open only while somebody waits for it.
    worker.ref();
    pending.set(id, { resolve: answer.resolve, reject: answer.reject, onProgress });
    signal.addEventListener('abort', onAbort, { once: true });
    send({ type: 'embed', id, texts });
    try {
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      pending.delete(id);
      restAfterIdleness();
    }
  }

  return {
    async embed(texts, options) {
      if (options.signal.aborted || isClosed) throw stopped();
      if (texts.length === 0) return [];
      const vectors = await ask(texts, options);
      return texts.map((_, index) => vectors.subarray(index * embeddingDimensions, (index + 1) * embeddingDimensions));
    },
    async close() {
      isClosed = true;
      if (idleTimer) clearTimeout(idleTimer);
      failAll(stopped());
      await end();
    },
  };
}
