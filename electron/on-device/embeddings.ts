import { availableParallelism } from 'node:os';
import { createEmbeddingsThread, type EmbeddingsThread } from './embeddings-thread.ts';
import type { SharedModel } from './embeddings-messages.ts';

/** Numbers of one vector. */
export const embeddingDimensions = 384;

/** More threads than this take cores from everything else, and there are seldom enough texts for them. */
const maximumThreads = 4;

/** Texts that wait for a thread before another one is started. */
const textsWorthAThread = 4;

/** Questions without an answer yet that go before others, one after the other, until it is the turn of those again. */
const newcomersInARow = 3;

export interface EmbedOptions {
  readonly signal: AbortSignal;
  /** Told after every text how many are done. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Meaning as numbers, made on this machine: no key, no network. The model lives in threads of its own, which start with the first
 * question (more of them with many texts) and end when nothing was asked for a while; it holds about 60 MB meanwhile.
 */
export interface Embeddings {
  /** Name of the model and version of its arithmetic. Vectors can be compared only with those of the same name. */
  readonly model: string;
  /**
   * One vector of length 1 per text, in order; a text has the same one, to the bit, in whatever company and on whatever machine. Of
   * each text the first 256 tokens are read (about 1,000 characters of English). Questions that are asked at the same time take
   * turns text by text, a new one first. Rejects with an `AbortError` when the signal ends it.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbeddingsOptions {
  /** Minutes without a question after which the threads are ended. */
  readonly idleMinutes?: number;
  /** At most as many as there are cores, and four. */
  readonly threads?: number;
}

/** A question under way. */
interface Job {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  /** Texts that were given to a thread, and those that are done. */
  given: number;
  done: number;
  readonly onProgress: ((done: number) => void) | undefined;
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

const stopped = () => new DOMException('The embedding was stopped.', 'AbortError');

export function createEmbeddings({
  idleMinutes = 10,
  threads: wantedThreads = maximumThreads,
}: EmbeddingsOptions = {}): Embeddings {
  const threadLimit = Math.max(1, Math.min(wantedThreads, maximumThreads, availableParallelism()));
  /** Questions with texts that no thread has yet, in the order of their turns. */
  let waiting: Job[] = [];
  let newcomers = 0;
  const underWay = new Set<Job>();
  let threads: EmbeddingsThread[] = [];
  let model: SharedModel | null = null;
  let idleTimer: NodeJS.Timeout | null = null;
  let isClosed = false;

  async function endThreads(): Promise<void> {
    const ending = threads;
    threads = [];
    model = null;
    await Promise.all(ending.map((thread) => thread.end()));
  }

  function failAll(error: Error): void {
    waiting = [];
    for (const { reject } of underWay) reject(error);
    void endThreads();
  }

  function startThread(): void {
    const started = createEmbeddingsThread({
      start: { model, workspace: threads.length, workspaces: threadLimit },
      onReady(loaded) {
        if (!threads.includes(started)) return;
        model = loaded;
        giveWork();
      },
      onFailure(error) {
        if (threads.includes(started)) failAll(error);
      },
    });
    threads.push(started);
  }

  /** A short question waits for one text of a whole book, but many short ones do not keep the book waiting for good. */
  function takeNext(): Job | undefined {
    const newcomer = waiting.findIndex(({ given }) => given === 0);
    const other = waiting.findIndex(({ given }) => given > 0);
    const isForNewcomer = other < 0 || (newcomer >= 0 && newcomers < newcomersInARow);
    newcomers = isForNewcomer ? newcomers + 1 : 0;
    return waiting.splice(isForNewcomer ? newcomer : other, 1)[0];
  }

  async function work(thread: EmbeddingsThread, job: Job): Promise<void> {
    const index = job.given;
    job.given += 1;
    if (job.given < job.texts.length) waiting.push(job);
    try {
      job.vectors[index] = await thread.embed(job.texts[index]!);
    } catch (error) {
      leave(job);
      return job.reject(error as Error);
    } finally {
      giveWork();
    }
    job.done += 1;
    if (underWay.has(job)) job.onProgress?.(job.done);
    if (job.done === job.texts.length) job.resolve(job.vectors);
  }

  function giveWork(): void {
    for (const thread of threads.filter(({ isFree }) => isFree)) {
      const job = waiting.length > 0 && takeNext();
      if (job) void work(thread, job);
    }
    const waitingTexts = waiting.reduce((sum, { texts, given }) => sum + texts.length - given, 0);
    if (waitingTexts === 0) return;
    // The first thread loads the model; the others need what it has loaded.
    const isWorthIt = threads.length === 0 || (model !== null && waitingTexts >= textsWorthAThread);
    if (isWorthIt && threads.length < threadLimit) startThread();
  }

  function leave(job: Job): void {
    waiting = waiting.filter((each) => each !== job);
    underWay.delete(job);
    if (underWay.size > 0 || isClosed) return;
    if (idleTimer) clearTimeout(idleTimer);
    idleTimer = setTimeout(() => void endThreads(), idleMinutes * 60_000).unref();
  }

  async function ask(texts: readonly string[], { signal, onProgress }: EmbedOptions): Promise<Float32Array[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>();
    const job: Job = { texts, vectors: [], given: 0, done: 0, onProgress, resolve, reject };
    const onAbort = () => reject(stopped());
    if (idleTimer) clearTimeout(idleTimer);
    underWay.add(job);
    waiting.push(job);
    signal.addEventListener('abort', onAbort, { once: true });
    giveWork();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      leave(job);
    }
  }

  return {
    model: 'all-MiniLM-L6-v2 8-bit 1',
    async embed(texts, options) {
      if (options.signal.aborted || isClosed) throw stopped();
      return texts.length === 0 ? [] : ask(texts, options);
    },
    async close() {
      isClosed = true;
      if (idleTimer) clearTimeout(idleTimer);
      waiting = [];
      for (const { reject } of underWay) reject(stopped());
      await endThreads();
    },
  };
}
