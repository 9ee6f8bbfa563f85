import { availableParallelism } from 'node:os';
import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { EmbeddingsMethods, EmbeddingsThreadStart, SharedModel } from './embeddings-worker.ts';

/** One thread that computes embeddings. */
export interface EmbeddingsThread {
  /** Whether it is ready and has no text. */
  readonly isFree: boolean;
  /** Computes the vector of one text. Call it only on an idle thread. */
  embed(text: string): Promise<Float32Array>;
  end(): Promise<void>;
}

export interface EmbeddingsThreadOptions {
  readonly start: EmbeddingsThreadStart;
  /** Called once, when the thread is ready for texts. */
  readonly onReady: (model: SharedModel) => void;
  /** Called when the thread has failed; don't use it any more. */
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

/** One call of `embed` that isn't done. */
interface EmbeddingsJob {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  /** The number of texts that were assigned to threads, and of completed ones. */
  assigned: number;
  done: number;
  readonly onProgress: ((done: number) => void) | undefined;
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

/** Calls with unassigned texts. */
interface EmbeddingsJobs {
  /** Texts of all waiting calls. */
  readonly texts: number;
  add(job: EmbeddingsJob): void;
  remove(job: EmbeddingsJob): void;
  /** The next call, with the index of its text. The call stays in the queue while it has more texts. */
  takeNext(): { readonly job: EmbeddingsJob; readonly index: number } | null;
}

/** New calls go before started ones this many times in a row. */
const newcomersInARow = 3;

/** A short call waits for at most one text of a long one, and many short calls don't block a long one. */
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

/** More threads take cores from everything else, and there are seldom enough texts for them. */
const maxThreads = 4;

/** Waiting texts per thread before another thread starts. */
const textsWorthAThread = 4;

export interface EmbedOptions {
  readonly signal: AbortSignal;
  /** Called after every text with the number of completed ones. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Computes embeddings on this machine, without a key or a network. Worker threads start with the first call (more of them for many
 * texts) and end when idle. The model needs about 60 MB meanwhile.
 */
export interface Embeddings {
  /** Name of the model and version of its arithmetic. Vectors can be compared only with those of the same name. */
  readonly model: string;
  /**
   * One vector of length 1 per text, in order. The vector of a text is the same, to the bit, on every machine and in every batch.
   * Only the first 256 tokens of a text are read (about 1,000 characters of English). Concurrent calls alternate text by text, new
   * ones first. Rejects with an `AbortError` after an abort.
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbeddingsOptions {
  /** Idle minutes after which the threads end. */
  readonly idleMinutes?: number;
  /** At most the number of cores, and four. */
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
    // The first thread loads the model; the others use its memory.
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
