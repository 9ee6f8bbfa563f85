import { AppError } from '../../shared/app-error.ts';
import type { SourceProgress } from '../../shared/contract/knowledge-window.ts';
import { JobRun } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import { describeDiskFailure } from '../storage/disk-failure.ts';
import type { SourceStore, StoredSource } from '../storage/knowledge/source-store.ts';
import { indexSource, type IndexingTools } from './index-source.ts';

/**
 * Most bytes of what each lane takes. A large file may take a quarter of an hour; the second lane is for those that come meanwhile
 * and take seconds.
 */
const lanes: readonly number[] = [Number.MAX_SAFE_INTEGER, 1_048_576];

/** A source that has ended the process so often while it was read is given up. */
const maxAttempts = 10;

/**
 * Milliseconds that a lane waits after it couldn't store a result because the disk is full. The wait doubles with every failure in
 * a row, and indexing resumes once there is room.
 */
const shortestRest = 2000;
const longestRest = 120_000;

const gaveUp =
  'The service stopped several times while it read this file. If something else stopped it, re-index the source. Otherwise split the file.';
const ourFault = 'Unexpected error in Touchstone. Re-index the source. The log has details.';

const waiting: SourceProgress = { stage: 'waiting', fraction: 0, passagesDone: null, passagesTotal: null, rate: null };

interface CurrentWork {
  readonly run: JobRun;
  progress: SourceProgress;
}

export interface IndexingQueueOptions extends IndexingTools {
  readonly sources: SourceStore;
  /** Called at every change of a source's status or progress. */
  readonly onChange: (sourceId: string) => void;
  readonly log: Log;
}

/**
 * Takes sources from `Processing` to `Ready` or `Failed`, the one that has waited longest first, and after the others those that ended
 * the process. Only the database says what there is to do, so the queue continues after a crash.
 */
export class IndexingQueue {
  readonly #options: IndexingQueueOptions;
  /** What is being done, by the id of its source. */
  readonly #current = new Map<string, CurrentWork>();
  /** Lanes that are at work, with what resolves when they rest. */
  readonly #running = new Map<number, Promise<void>>();
  /** Sources that are known and whose files are still being put in place. */
  readonly #pending = new Set<string>();
  #rest = shortestRest;
  #isStarted = false;
  #isClosed = false;

  constructor(options: IndexingQueueOptions) {
    this.#options = options;
  }

  /** Begins with what is there; until then nothing is read. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Looks for something to do; call it after a source became `Processing`. */
  wake(): void {
    if (!this.#isStarted) return;
    for (const lane of lanes.keys()) {
      const source = this.#running.has(lane) ? null : this.#next(lane);
      if (source) this.#running.set(lane, this.#run(lane, source));
    }
  }

  /** Leaves a source alone until it is released, even if a lane is free before; both may be called for one that is not known. */
  hold(sourceId: string): void {
    this.#pending.add(sourceId);
  }

  /** Lets a held source be read; `wake` begins with it. */
  release(sourceId: string): void {
    this.#pending.delete(sourceId);
  }

  progressOf({ id, status }: Pick<StoredSource, 'id' | 'status'>): SourceProgress | null {
    if (status !== 'Processing') return null;
    return this.#current.get(id)?.progress ?? waiting;
  }

  /** Ids of the sources that are being worked on. */
  current(): string[] {
    return [...this.#current.keys()];
  }

  /** Stops work on these sources; store their new status first. Resolves when nothing writes to them. */
  async cancel(sourceIds: readonly string[]): Promise<void> {
    const cancelled = sourceIds.flatMap((id) => this.#current.get(id) ?? []);
    await Promise.all(cancelled.map(({ run }) => run.stop()));
  }

  /** Leaves sources `Processing`; they continue at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { run } of this.#current.values()) void run.stop();
    await Promise.all(this.#running.values());
  }

  #next(lane: number): StoredSource | null {
    if (this.#isClosed) return null;
    return this.#options.sources.nextProcessing({
      maximumBytes: lanes[lane]!,
      except: [...this.current(), ...this.#pending],
    });
  }

  async #run(lane: number, first: StoredSource): Promise<void> {
    try {
      for (let source: StoredSource | null = first; source; source = this.#next(lane)) {
        await this.#work(source);
        this.#rest = shortestRest;
      }
    } catch (error) {
      this.#options.log('indexing rests for a while', error);
      setTimeout(() => this.wake(), this.#rest).unref();
      this.#rest = Math.min(2 * this.#rest, longestRest);
    }
    // In the same moment as the last look: whoever wakes the queue after it is heard.
    this.#running.delete(lane);
  }

  async #work(source: StoredSource): Promise<void> {
    const current = { run: new JobRun(), progress: waiting };
    this.#current.set(source.id, current);
    await current.run.start(
      (signal) => this.#take(source, current, signal),
      () => {
        this.#current.delete(source.id);
        this.#options.onChange(source.id);
      },
    );
  }

  async #take(source: StoredSource, current: CurrentWork, signal: AbortSignal): Promise<void> {
    const { sources, onChange } = this.#options;
    const { id, revision } = source;
    if (source.attempts >= maxAttempts) return void sources.fail(id, revision, gaveUp);
    sources.setAttempts(id, source.attempts + 1);
    try {
      const details = await indexSource(source, this.#options, {
        signal,
        onProgress: (progress) => {
          current.progress = progress;
          onChange(id);
        },
        // There was progress, so a crash from here on isn't caused by the file.
        onWritten: () => sources.setAttempts(id, 0),
      });
      sources.complete(id, revision, details);
    } catch (error) {
      if (!signal.aborted) sources.fail(id, revision, this.#reasonOf(error));
      else if (this.#isClosed) sources.setAttempts(id, source.attempts);
    }
  }

  #reasonOf(error: unknown): string {
    if (error instanceof AppError) return error.message;
    this.#options.log('a source could not be indexed', error);
    return describeDiskFailure(error)?.message ?? ourFault;
  }
}
