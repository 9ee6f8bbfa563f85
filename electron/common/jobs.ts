import { AppError } from '../../shared/app-error.ts';
import { createChangeNotifier } from './change-notifier.ts';

/** The active run of a job. A job that was stopped can run again. */
export class JobRun {
  #active: { readonly controller: AbortController; readonly ended: Promise<void> } | null = null;

  get isActive(): boolean {
    return this.#active !== null;
  }

  /** Whether `stop` was called while the run is still active. */
  get isStopping(): boolean {
    return this.#active?.controller.signal.aborted ?? false;
  }

  /** Resolves when no run is active. Never rejects. */
  get ended(): Promise<void> {
    return this.#active?.ended ?? Promise.resolve();
  }

  /** Rejects when `run` does. `onEnd` is called when the job can already be started again. */
  async start(run: (signal: AbortSignal) => Promise<void>, onEnd = () => {}): Promise<void> {
    if (this.#active) throw new Error('The job is already running.');
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#active = { controller, ended: promise };
    try {
      await run(controller.signal);
    } finally {
      this.#active = null;
      onEnd();
      resolve();
    }
  }

  async stop(): Promise<void> {
    this.#active?.controller.abort();
    await this.ended;
  }
}

/** Work in the background that is shown to the user: an evidence pack, a replay, a moderation batch. */
export interface Job<State> {
  readonly id: string;
  /** The state and progress that the window shows. */
  state(): State;
  /** Resolves when the job has stopped writing. With `isClosing` it may continue when the host starts again. */
  stop(options: { readonly isClosing: boolean }): Promise<void>;
}

export interface JobRegistryOptions {
  /** The message of `not_found`. */
  readonly notFound: string;
  /** Adding more jobs than this stops and drops the oldest. */
  readonly maxJobs?: number;
}

/** The jobs of one kind, by id. */
export interface JobRegistry<Item extends Job<unknown>> {
  add(job: Item): void;
  /** Throws `not_found`. */
  find(id: string): Item;
  /** Newest first. */
  list(): ReturnType<Item['state']>[];
  /** Notifies listeners that the state of a job has changed. */
  changed(): void;
  /** Calls the listener with all states, at most five times a second. */
  subscribe(listener: (states: ReturnType<Item['state']>[]) => void): () => void;
  /** Stops a job, erases its files and removes it. Throws `not_found`. */
  remove(id: string, erase: (job: Item) => Promise<void> | void): Promise<void>;
  /** Stops all jobs. */
  close(): Promise<void>;
}

const changeIntervalMs = 200;

export function createJobRegistry<Item extends Job<unknown>>({
  notFound,
  maxJobs = Infinity,
}: JobRegistryOptions): JobRegistry<Item> {
  const jobs = new Map<string, Item>();
  const stopping = new Set<Promise<void>>();
  const list = () => [...jobs.values()].map((job) => job.state() as ReturnType<Item['state']>).toReversed();
  const notifier = createChangeNotifier(list, changeIntervalMs);

  function find(id: string): Item {
    const job = jobs.get(id.toLowerCase());
    if (job === undefined) throw new AppError('not_found', notFound);
    return job;
  }

  function drop(job: Item): void {
    jobs.delete(job.id);
    const stopped = job.stop({ isClosing: false }).finally(() => stopping.delete(stopped));
    stopping.add(stopped);
  }

  return {
    add(job) {
      jobs.set(job.id, job);
      for (const oldest of [...jobs.values()].slice(0, Math.max(0, jobs.size - maxJobs))) drop(oldest);
      notifier.changed();
    },
    find,
    list,
    changed: notifier.changed,
    subscribe: notifier.subscribe,
    async remove(id, erase) {
      const job = find(id);
      await job.stop({ isClosing: false });
      await erase(job);
      jobs.delete(job.id);
      notifier.changed();
    },
    async close() {
      await Promise.all([...[...jobs.values()].map((job) => job.stop({ isClosing: true })), ...stopping]);
      notifier.close();
    },
  };
}
