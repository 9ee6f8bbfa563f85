import { AppError } from '../../shared/app-error.ts';
import type { SourceProgress } from '../../shared/contract/knowledge-window.ts';
import type { SourceStore, StoredSource } from '../storage/knowledge/source-store.ts';
import { indexSource, type IndexingTools } from './index-source.ts';

/** A source that has ended the process so often while it was read is given up. */
const mostAttempts = 10;

const gaveUp =
  'The service ended several times while it read this file. Index it again if something else had ended it; otherwise split the file.';
const ourFault = 'Something went wrong in the service; the log says more. Index it again.';

const waiting: SourceProgress = { stage: 'waiting', fraction: 0, passagesDone: null, passagesTotal: null, rate: null };

interface CurrentWork {
  readonly sourceId: string;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  progress: SourceProgress;
}

export interface IndexingQueueOptions extends IndexingTools {
  readonly sources: SourceStore;
  /** Told of every change of a source's status or progress. */
  readonly onChange: (sourceId: string) => void;
  readonly log: (message: string, error: unknown) => void;
}

/**
 * Takes sources from `Processing` to `Ready` or `Failed`, one at a time, the one that has waited longest first, and after the others
 * those that ended the process. What there is to do stands in the database alone, so that it goes on after every end of the process.
 */
export class IndexingQueue {
  readonly #options: IndexingQueueOptions;
  #current: CurrentWork | null = null;
  #isStarted = false;
  #isRunning = false;
  #ended: Promise<void> = Promise.resolve();
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
    if (!this.#isStarted || this.#isClosed || this.#isRunning) return;
    this.#isRunning = true;
    this.#ended = this.#run().catch((error: unknown) => {
      this.#isRunning = false;
      this.#options.log('indexing rests until the next source comes', error);
    });
  }

  progressOf({ id, status }: Pick<StoredSource, 'id' | 'status'>): SourceProgress | null {
    if (status !== 'Processing') return null;
    return this.#current?.sourceId === id ? this.#current.progress : waiting;
  }

  /** Ids of the sources that are being worked on. */
  current(): string[] {
    return this.#current ? [this.#current.sourceId] : [];
  }

  /** Ends the work on these sources; what is kept of them has to say before what they are now. Resolves when nothing writes any more. */
  async cancel(sourceIds: readonly string[]): Promise<void> {
    const current = this.#current;
    if (!current || !sourceIds.includes(current.sourceId)) return;
    current.controller.abort();
    await current.ended;
  }

  /** Leaves everything `Processing` as it is, to go on at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#current?.controller.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    for (;;) {
      const source = this.#isClosed ? null : this.#options.sources.nextProcessing();
      if (!source) {
        // In the same moment as the look: whoever wakes the queue after it is heard.
        this.#isRunning = false;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#current = { sourceId: source.id, controller: new AbortController(), ended: promise, progress: waiting };
      try {
        await this.#take(source, this.#current);
      } finally {
        this.#current = null;
        resolve();
        this.#options.onChange(source.id);
      }
    }
  }

  async #take(source: StoredSource, current: CurrentWork): Promise<void> {
    const { sources, onChange } = this.#options;
    const { id, revision } = source;
    const { signal } = current.controller;
    if (source.attempts >= mostAttempts) return void sources.fail(id, revision, gaveUp);
    sources.setAttempts(id, source.attempts + 1);
    try {
      const facts = await indexSource(source, this.#options, {
        signal,
        onProgress: (progress) => {
          current.progress = progress;
          onChange(id);
        },
        // It does get on: whatever ends the process now is not the file.
        onWritten: () => sources.setAttempts(id, 0),
      });
      sources.complete(id, revision, facts);
    } catch (error) {
      if (!signal.aborted) sources.fail(id, revision, this.#reasonOf(error));
      else if (this.#isClosed) sources.setAttempts(id, source.attempts);
    }
  }

  #reasonOf(error: unknown): string {
    if (error instanceof AppError) return error.message;
    this.#options.log('a source could not be indexed', error);
    return ourFault;
  }
}
