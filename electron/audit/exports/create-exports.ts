import { AppError } from '../../../shared/app-error.ts';
import type { AuditExport, AuditExportInput, RedactionPreview } from '../../../shared/contract/audit-exports.ts';
import type { Log } from '../../log.ts';
import { createChangeNotifier } from '../../on-device/change-notifier.ts';
import { ExportJob } from './export-job.ts';
import { createExportShelf } from './export-shelf.ts';
import { newPack, snapshotOf } from './new-pack.ts';
import { openPack, type ExportDownload } from './open-pack.ts';
import { requireConversations, selectionOf, type PackSources } from './pack-selection.ts';
import type { PackCheckpoint, PackRecord } from './pack-state.ts';
import { previewPack, type PreviewRequest } from './preview-pack.ts';
import { createRedactor } from './redaction.ts';
import { writeSelection } from './selection-file.ts';
import { createTurns } from './turns.ts';

export interface ExportsOptions extends PackSources {
  readonly dataDirectory: string;
  readonly databaseFile: string;
  /** Version of the service, as packs name it. */
  readonly version: string;
  readonly log: Log;
}

/** Evidence packs: begun, followed, stopped, gone on with, handed out. */
export interface Exports {
  /** Throws `invalid_request` for a pattern that is none and for an unknown conversation. */
  create(input: AuditExportInput): Promise<AuditExport>;
  preview(request: PreviewRequest, options: { signal: AbortSignal }): Promise<RedactionPreview>;
  /** Newest first. */
  list(): AuditExport[];
  subscribe(listener: (packs: AuditExport[]) => void): () => void;
  /** The following throw `not_found` for an unknown id. */
  read(id: string): AuditExport;
  stop(id: string): Promise<AuditExport>;
  resume(id: string): Promise<AuditExport>;
  remove(id: string): Promise<void>;
  /** A completed pack as one zip. Throws `conflict` for one that is not. */
  download(id: string): Promise<ExportDownload>;
  /** Stops writing; packs under way go on at the next start. */
  close(): Promise<void>;
}

const changeMilliseconds = 200;

/** Takes up the packs of the data folder; those that were under way when the last host ended go on by themselves. */
export async function createExports(options: ExportsOptions): Promise<Exports> {
  const shelf = createExportShelf(options.dataDirectory, options.log);
  const turns = createTurns();
  const jobs = new Map<string, ExportJob>();
  const list = () => [...jobs.values()].map((job) => job.state()).toReversed();
  const notifier = createChangeNotifier(list, changeMilliseconds);

  async function select({ plan }: PackRecord, file: string, signal: AbortSignal): Promise<number> {
    const { numbers } = await selectionOf(plan.input.selection, plan.lastRun, options, signal);
    return writeSelection(file, numbers);
  }

  function add(record: PackRecord, checkpoint: PackCheckpoint | null): ExportJob {
    const job = new ExportJob({
      record,
      checkpoint,
      shelf,
      databaseFile: options.databaseFile,
      select,
      takeTurn: turns.take,
      onChange: notifier.changed,
      log: options.log,
    });
    jobs.set(record.plan.id, job);
    return job;
  }

  function find(id: string): ExportJob {
    const job = jobs.get(id.toLowerCase());
    if (job === undefined) throw new AppError('not_found', 'No evidence pack has this ID.');
    return job;
  }

  for (const { record, checkpoint } of (await shelf.read()).toReversed()) {
    const job = add(record, checkpoint);
    if (record.state === 'running')
      void job.start().catch((error: unknown) => options.log('a pack did not start', error));
  }

  return {
    async create(input) {
      createRedactor(input.rules);
      await requireConversations(input.selection, options);
      const record = newPack(input, await snapshotOf(options), options.version);
      const job = add(record, null);
      try {
        await job.start();
      } catch (error) {
        jobs.delete(record.plan.id);
        throw error;
      }
      return job.state();
    },
    preview: (request, { signal }) => previewPack(request, options, signal),
    list,
    subscribe: notifier.subscribe,
    read: (id) => find(id).state(),
    async stop(id) {
      const job = find(id);
      await job.stop({ isPause: false });
      return job.state();
    },
    async resume(id) {
      const job = find(id);
      await job.start();
      return job.state();
    },
    async remove(id) {
      const job = find(id);
      await job.stop({ isPause: false });
      await shelf.remove(job.record.plan.id);
      jobs.delete(job.record.plan.id);
      notifier.changed();
    },
    async download(id) {
      const { record } = find(id);
      return openPack(record, shelf.folder(record.plan.id));
    },
    async close() {
      await Promise.all([...jobs.values()].map((job) => job.stop({ isPause: true })));
      notifier.close();
    },
  };
}
