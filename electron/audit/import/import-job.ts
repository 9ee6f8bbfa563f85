import { rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../../shared/app-error.ts';
import type { RedactionRule } from '../../../shared/contract/audit-exports.ts';
import type { CsvField, LogImport, LogReport } from '../../../shared/contract/log-imports.ts';
import { type Job, JobRun } from '../../common/jobs.ts';
import type { Log } from '../../log.ts';
import type {
  ImportedCall,
  ImportProgress,
  ImportState,
  ImportStore,
  StoredImport,
} from '../../storage/import-store.ts';
import type { LogReader } from './log-reader.ts';

export const emptyReport: LogReport = {
  calls: 0,
  duplicates: 0,
  conversations: 0,
  firstAt: null,
  lastAt: null,
  models: [],
  withoutTime: 0,
  withoutAnswer: 0,
  withoutUsage: 0,
  costFromLog: 0,
  costFromCatalogue: 0,
  leftOut: [],
};

/** Runs that are removed in one transaction. */
const removedAtOnce = 100;

/** A removal that failed, as on a full disk, goes on after this time. */
const retryMilliseconds = 10_000;

export interface ImportJobOptions {
  readonly batch: StoredImport;
  readonly store: ImportStore;
  readonly reader: LogReader;
  /** The rules of redaction. */
  readonly rules: () => readonly RedactionRule[];
  /** Of the log; null for traces that programs send. */
  readonly path: string | null;
  readonly onChange: () => void;
  /** Called when the last run of a removed import is gone. */
  readonly onRemoved: () => void;
  readonly log: Log;
}

/** One imported log: the background work that stores or removes its runs. */
export class ImportJob implements Job<LogImport> {
  readonly #options: ImportJobOptions;
  readonly #run = new JobRun();
  #state: ImportState;
  #progress: ImportProgress;
  #isClosing = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ImportJobOptions) {
    this.#options = options;
    this.#state = options.batch.state;
    this.#progress = options.batch.progress;
  }

  get id(): string {
    return this.#options.batch.id;
  }

  get batch(): StoredImport {
    return this.#options.batch;
  }

  /** Continues what the previous host left. */
  recover(): void {
    if (this.#state === 'Running' && this.#options.path !== null) this.start();
    else if (this.#state === 'Removing') this.#removeRuns();
  }

  /** Starts, or resumes after the last stored call. */
  start(): void {
    if (this.#run.isActive || this.#options.path === null) return;
    if (this.#state === 'Completed' || this.#state === 'Removing') return;
    this.#setState('Running', null);
    void this.#run.start(
      (signal) => this.#import(signal),
      () => this.#options.onChange(),
    );
  }

  async stop({ isClosing }: { readonly isClosing: boolean }): Promise<void> {
    this.#isClosing = isClosing;
    clearTimeout(this.#retry);
    await this.#run.stop();
    if (!isClosing && this.#state === 'Running') this.#setState('Stopped', null);
  }

  /** Removes the runs in the background, and then the import. */
  async removeRuns(): Promise<void> {
    if (this.#state === 'Removing') return;
    await this.stop({ isClosing: false });
    this.#setState('Removing', null);
    this.#removeRuns();
  }

  /** Stores runs and how they change the report. */
  append(calls: readonly ImportedCall[], progressOf: (stored: number) => ImportProgress): void {
    this.#progress = this.#options.store.append(this.batch.sequence, calls, progressOf);
    this.#options.onChange();
  }

  get progress(): ImportProgress {
    return this.#progress;
  }

  state(): LogImport {
    const { id, name, format, createdAt, plan } = this.batch;
    const isDone = this.#state === 'Completed' || plan.bytes === 0;
    return {
      id,
      name,
      format,
      state: this.#state,
      createdAt: new Date(createdAt).toISOString(),
      progress: isDone ? 1 : Math.min(1, this.#progress.bytes / plan.bytes),
      imported: this.#progress.imported,
      report: this.#progress.report,
      failure: this.#progress.failure,
    };
  }

  async #import(signal: AbortSignal): Promise<void> {
    const { plan } = this.batch;
    try {
      const file = {
        path: this.#options.path!,
        fileName: plan.fileName,
        format: this.batch.format,
        columns: plan.columns as Record<string, CsvField | null>,
      };
      const source = {
        callerId: plan.callerId,
        apiKeyId: plan.apiKeyId,
        importedAt: this.batch.createdAt,
        level: 'all' as const,
        rules: this.#options.rules(),
      };
      for await (const read of this.#options.reader.read({ file, source }, this.#progress.position, { signal })) {
        const { imported, bytes } = this.#progress;
        this.append(read.runs, (stored) => ({
          position: read.position,
          bytes: Math.max(read.bytes, bytes),
          imported: imported + stored,
          report: withStored(read.report, imported + stored),
          failure: null,
        }));
        await nextTurn();
      }
      this.#setState('Completed', null);
      await rm(this.#options.path!, { force: true });
    } catch (error) {
      this.#end(error, signal);
    }
  }

  #end(error: unknown, signal: AbortSignal): void {
    // The next host resumes a running import.
    if (signal.aborted) return this.#isClosing ? undefined : this.#setState('Stopped', null);
    if (!(error instanceof AppError)) this.#options.log(`the import ${this.id} failed`, error);
    const failure = error instanceof AppError ? error.message : "Couldn't read the file. See the log for details.";
    this.#setState('Failed', failure);
  }

  #removeRuns(): void {
    void this.#run.start(async (signal) => {
      const { store, onRemoved, path, log } = this.#options;
      try {
        while (store.removeRuns(this.batch.sequence, removedAtOnce)) {
          await nextTurn();
          if (signal.aborted) return;
        }
        if (path !== null) await rm(path, { force: true });
        store.remove(this.batch.sequence);
        onRemoved();
      } catch (error) {
        log(`removing the import ${this.id} failed`, error);
        if (!signal.aborted) this.#retry = setTimeout(() => this.#removeRuns(), retryMilliseconds).unref();
      }
    });
  }

  #setState(state: ImportState, failure: string | null): void {
    this.#state = state;
    this.#progress = { ...this.#progress, failure };
    try {
      this.#options.store.setState(this.batch.sequence, state, this.#progress);
    } catch (error) {
      // The next host continues from the last state that is on disk.
      this.#options.log(`the state of the import ${this.id} was not stored`, error);
    }
    this.#options.onChange();
  }
}

/** The reader doesn't know which calls were stored before the import. They aren't new calls but duplicates. */
function withStored(read: LogReport, imported: number): LogReport {
  return { ...read, calls: imported, duplicates: read.duplicates + read.calls - imported };
}
