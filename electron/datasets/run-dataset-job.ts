import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { DatasetJob, RunDataset, RunDatasetInput } from '../../shared/contract/dataset-import.ts';
import { type Job, JobRun } from '../common/jobs.ts';
import type { Log } from '../log.ts';

/** How much of a selection was read; `runs` is null until they are counted. */
export interface RunProgress {
  readonly runs: number | null;
  readonly readRuns: number;
  readonly skippedRuns: number;
}

interface JobOptions {
  readonly input: RunDatasetInput;
  readonly create: (signal: AbortSignal, onProgress: (progress: RunProgress) => void) => Promise<RunDataset>;
  readonly onChange: () => void;
  readonly log: Log;
}

/** A dataset that is created in the background. */
export class RunDatasetJob implements Job<DatasetJob> {
  readonly id = randomUUID();
  readonly #options: JobOptions;
  readonly #run = new JobRun();
  #state: DatasetJob;

  constructor(options: JobOptions) {
    this.#options = options;
    this.#state = {
      id: this.id,
      name: options.input.name,
      state: 'running',
      createdAt: new Date().toISOString(),
      completedAt: null,
      runs: null,
      readRuns: 0,
      skippedRuns: 0,
      datasetId: null,
      failure: null,
    };
  }

  state(): DatasetJob {
    return this.#state;
  }

  start(): void {
    void this.#run.start((signal) => this.#work(signal));
  }

  stop(): Promise<void> {
    return this.#run.stop();
  }

  async #work(signal: AbortSignal): Promise<void> {
    try {
      const { id } = await this.#options.create(signal, (progress) => this.#change(progress));
      this.#end({ state: 'completed', datasetId: id });
    } catch (error) {
      if (signal.aborted) this.#end({ state: 'stopped' });
      else this.#end({ state: 'failed', failure: this.#describe(error) });
    }
  }

  #describe(error: unknown): string {
    if (error instanceof AppError) return error.message;
    this.#options.log('a dataset of runs could not be created', error);
    return 'Something went wrong. The log has the details.';
  }

  #end(change: Partial<DatasetJob>): void {
    this.#change({ ...change, completedAt: new Date().toISOString() });
  }

  #change(change: Partial<DatasetJob>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onChange();
  }
}
