import { availableParallelism } from 'node:os';
import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { EmbeddingsMethods, EmbeddingsThreadStart, SharedModel } from './embeddings-worker.ts';

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

/** A question under way. */
interface EmbeddingsJob {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  /** Texts that were given to a thread, and those that are done. */
  assigned: number;
  done: number;
  readonly onProgress: ((done: number) => void) | undefined;
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

/** Questions with texts that no thread has yet. */
interface EmbeddingsJobs {
  /** Texts of all that wait. */
  readonly texts: number;
  add(job: EmbeddingsJob): void;
  remove(job: EmbeddingsJob): void;
  /** The question whose turn it is, with the place of its text; it stays if it has more. */
  takeNext(): { readonly job: EmbeddingsJob; readonly index: number } | null;
}

/** Questions that had no turn yet go before others this many times one after the other, until it is the turn of those again. */
const newcomersInARow = 3;

/** A short question waits for one text of a whole book, but many short ones do not keep the book waiting for good. */
function createEmbeddingsJobs(): EmbeddingsJobs {
  let jobs: EmbeddingsJob[] = [];
  let newcomers = 0;

  return {
    get texts() {
      return jobs.reduce((sum, { texts, assigned }) => sum + texts.length - assigned, 0);
    },
    add: (job) => jobs.push(job),
    remove(job) {
      jobs = jobs.filter((each) => each !== job);
    },
    takeNext() {
      const newcomer = jobs.findIndex(({ assigned }) => assigned === 0);
      const other = jobs.findIndex(({ assigned }) => assigned > 0);
      const isForNewcomer = other < 0 || (newcomer >= 0 && newcomers < newcomersInARow);
      const [job] = jobs.splice(isForNewcomer ? newcomer : other, 1);
      if (!job) return null;
      newcomers = isForNewcomer ? newcomers + 1 : 0;
      const index = job.assigned;
      job.assigned += 1;
      if (job.assigned < job.texts.length) jobs.push(job);
      return { job, index };
    },
  };
}

/** Numbers of one vector. */
export const embeddingDimensions = 384;

/** More threads than this take cores from everything else, and there are seldom enough texts for them. */
const maxThreads = 4;

/** Texts that wait for a thread before another one is started. */
const textsWorthAThread = 4;

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

const stopped = () => new DOMException('The embedding was stopped.', 'AbortError');

export function createEmbeddings({
  idleMinutes = 10,
  threads: requestedThreads = maxThreads,
}: EmbeddingsOptions = {}): Embeddings {
  const threadLimit = Math.max(1, Math.min(requestedThreads, maxThreads, availableParallelism()));
  const waiting = createEmbeddingsJobs();
  const active = new Set<EmbeddingsJob>();
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
    for (const job of active) {
      waiting.remove(job);
      job.reject(error);
    }
  }

  function addThread(): void {
    const started = createEmbeddingsThread({
      start: { model, workspace: threads.length, workspaces: threadLimit },
      onReady(loaded) {
        if (!threads.includes(started)) return;
        model = loaded;
        assignTexts();
      },
      onFailure(error) {
        if (!threads.includes(started)) return;
        failAll(error);
        void endThreads();
      },
    });
    threads.push(started);
  }

  async function work(thread: EmbeddingsThread, job: EmbeddingsJob, index: number): Promise<void> {
    try {
      job.vectors[index] = await thread.embed(job.texts[index]!);
    } catch (error) {
      removeJob(job);
      return job.reject(error as Error);
    } finally {
      assignTexts();
    }
    job.done += 1;
    if (active.has(job)) job.onProgress?.(job.done);
    if (job.done === job.texts.length) job.resolve(job.vectors);
  }

  function assignTexts(): void {
    for (const thread of threads.filter(({ isFree }) => isFree)) {
      const next = waiting.takeNext();
      if (next) void work(thread, next.job, next.index);
    }
    if (waiting.texts === 0 || threads.length === threadLimit) return;
    // The first thread loads the model; the others need what it has loaded.
    if (threads.length === 0 || (model !== null && waiting.texts >= textsWorthAThread)) addThread();
  }

  function removeJob(job: EmbeddingsJob): void {
    waiting.remove(job);
    active.delete(job);
    if (active.size > 0 || isClosed) return;
    if (idleTimer) clearTimeout(idleTimer);
    idleTimer = setTimeout(() => void endThreads(), idleMinutes * 60_000).unref();
  }

  async function ask(texts: readonly string[], { signal, onProgress }: EmbedOptions): Promise<Float32Array[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>();
    const job: EmbeddingsJob = { texts, vectors: [], assigned: 0, done: 0, onProgress, resolve, reject };
    const onAbort = () => reject(stopped());
    if (idleTimer) clearTimeout(idleTimer);
    active.add(job);
    waiting.add(job);
    signal.addEventListener('abort', onAbort, { once: true });
    assignTexts();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      removeJob(job);
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
      failAll(stopped());
      await endThreads();
    },
  };
}
