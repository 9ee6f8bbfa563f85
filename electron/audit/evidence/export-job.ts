import { AppError } from '../../../shared/app-error.ts';
import type { AuditExport } from '../../../shared/contract/audit-exports.ts';
import { type Job, JobRun } from '../../common/jobs.ts';
import type { Log } from '../../log.ts';
import { type ExportStore, type PackCheckpoint, packFiles, type PackRecord, type PackResult } from './pack-store.ts';
import { createWorkerClient, startThread } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { ExportMethods, PackProgress, PackTask } from './export-worker.ts';
import type { PreviewedRules, PreviewTask } from './preview-rules.ts';

/** A pattern can take minutes on a long text, so each task has a thread. */
function startExportWorker() {
  return createWorkerClient<ExportMethods>({
    name: 'The evidence pack',
    start: () => startThread(workerUrl(import.meta.url, 'export-worker')),
  });
}

const ended = new DOMException('The task is complete.', 'AbortError');

/** Writes a pack from its last checkpoint on. After an abort it resolves with null when the next checkpoint is on disk. */
export async function runPackWorker(
  task: PackTask,
  options: { readonly signal: AbortSignal; readonly onProgress: (progress: PackProgress) => void },
): Promise<PackResult | null> {
  const worker = startExportWorker();
  try {
    return await worker.call('writePack', task, { ...options, onAbort: 'wait' });
  } catch (error) {
    if (options.signal.aborted) return null;
    throw error;
  } finally {
    await worker.terminate(ended);
  }
}

export async function runPreviewWorker(task: PreviewTask, signal: AbortSignal): Promise<PreviewedRules> {
  const worker = startExportWorker();
  try {
    return await worker.call('preview', task, { signal });
  } finally {
    await worker.terminate(ended);
  }
}

export interface ExportJobOptions {
  readonly record: PackRecord;
  /** The checkpoint of the previous host. */
  readonly checkpoint: PackCheckpoint | null;
  readonly store: ExportStore;
  readonly databaseFile: string;
  /** The contents of the files of prompts. */
  readonly filesDirectory: string;
  /** Writes the selection of the pack. Resolves with the number of conversations. */
  readonly select: (record: PackRecord, file: string, signal: AbortSignal) => Promise<number>;
  /** Waits for the mutex of packs. Resolves with the function that releases it. */
  readonly takeTurn: (signal: AbortSignal) => Promise<() => void>;
  readonly onChange: () => void;
  readonly log: Log;
}

/** One pack from its plan to its last file. */
export class ExportJob implements Job<AuditExport> {
  readonly #options: ExportJobOptions;
  #record: PackRecord;
  #progress: PackCheckpoint | null;
  #step: AuditExport['step'] = null;
  readonly #run = new JobRun();

  constructor(options: ExportJobOptions) {
    this.#options = options;
    this.#record = options.record;
    this.#progress = options.checkpoint;
  }

  get id(): string {
    return this.#record.plan.id;
  }

  get record(): PackRecord {
    return this.#record;
  }

  /** Starts or resumes writing. Does nothing if the pack is being written or complete. */
  async start(): Promise<void> {
    while (this.#run.isActive) {
      if (this.#record.state === 'running' && !this.#run.isStopping) return;
      await this.#run.ended;
    }
    if (this.#record.state === 'completed') return;
    const saved = this.#change({ state: 'running', failure: null });
    const write = (signal: AbortSignal) =>
      saved.then(
        () => this.#writeInTurn(signal),
        () => undefined,
      );
    void this.#run.start(write, () => this.#setStep(null));
    await saved;
  }

  /** Resolves when writing has stopped. With `isClosing` the next host continues. */
  async stop({ isClosing }: { readonly isClosing: boolean }): Promise<void> {
    if (!this.#run.isActive) return;
    await this.#run.stop();
    if (!isClosing && this.#record.state === 'running') await this.#change({ state: 'stopped' });
  }

  state(): AuditExport {
    const { plan, conversations, result, state, failure, completedAt } = this.#record;
    const done = result ?? this.#progress;
    const { selection, runs, columns, rules, formats, form } = plan.input;
    const files = result?.files ?? [];
    const lengths = result ? files.map(({ bytes }) => bytes) : Object.values(this.#progress?.lengths ?? {});
    return {
      id: plan.id,
      name: plan.name,
      state,
      // Cleans up after the pack is complete or has failed.
      step: state === 'running' ? this.#step : null,
      failure,
      createdAt: new Date(plan.createdAt).toISOString(),
      completedAt: completedAt === null ? null : new Date(completedAt).toISOString(),
      conversationsDone: done?.conversations ?? 0,
      conversationsTotal: conversations ?? 0,
      runsDone: done?.runs ?? 0,
      bytes: lengths.reduce((sum, bytes) => sum + bytes, 0),
      replaced: [...(done?.replaced ?? rules.map(() => 0))],
      selection,
      runs,
      columns,
      rules,
      formats,
      form,
      files,
    };
  }

  async #writeInTurn(signal: AbortSignal): Promise<void> {
    let endTurn: (() => void) | null = null;
    try {
      endTurn = await this.#options.takeTurn(signal);
      await this.#write(signal);
    } catch (error) {
      if (!signal.aborted) await this.#fail(error);
    } finally {
      endTurn?.();
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { store, select, databaseFile, filesDirectory } = this.#options;
    const { plan } = this.#record;
    const folder = store.folder(plan.id);
    let { conversations } = this.#record;
    if (conversations === null) {
      this.#setStep('selecting');
      conversations = await select(this.#record, packFiles(folder).selection, signal);
      await this.#change({ conversations });
    }
    this.#setStep('writing');
    const result = await runPackWorker(
      {
        databaseFile,
        filesDirectory,
        folder,
        plan,
        conversations,
        ...(plan.input.selection.source === 'team' && { snapshotFile: packFiles(folder).snapshot }),
      },
      {
        signal,
        onProgress: (progress) => {
          if ('step' in progress) this.#step = progress.step;
          else this.#progress = progress.checkpoint;
          this.#options.onChange();
        },
      },
    );
    if (result === null) return;
    await this.#change({ state: 'completed', completedAt: Date.now(), result });
    await store.tidy(plan.id);
  }

  async #fail(error: unknown): Promise<void> {
    if (!(error instanceof AppError)) this.#options.log(`evidence pack ${this.#record.plan.id} failed`, error);
    const failure =
      error instanceof AppError
        ? error.message
        : "Couldn't finish the pack. See the log for details. Resume it to try again.";
    try {
      await this.#change({ state: 'failed', failure });
    } catch (cause) {
      this.#record = { ...this.#record, state: 'failed', failure };
      this.#options.log('the state of an evidence pack could not be stored', cause);
    }
  }

  #setStep(step: AuditExport['step']): void {
    this.#step = step;
    this.#options.onChange();
  }

  async #change(change: Partial<PackRecord>): Promise<void> {
    const next = { ...this.#record, ...change };
    await this.#options.store.save(next);
    this.#record = next;
    this.#options.onChange();
  }
}
