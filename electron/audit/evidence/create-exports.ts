import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type AuditExport,
  type AuditExportInput,
  type ExportColumn,
  exportColumns,
  type ExportSelection,
  type RedactionPreview,
  type RedactionRule,
} from '../../../shared/contract/audit-exports.ts';
import type { Log } from '../../log.ts';
import { createJobRegistry, type JobRegistry } from '../../common/jobs.ts';
import { createMutex } from '../../common/mutex.ts';
import { ExportJob, runPreviewWorker } from './export-job.ts';
import { createExportStore, type PackCheckpoint, packFiles, type PackPlan, type PackRecord } from './pack-store.ts';
import type { ExportDownload } from './finish-pack.ts';
import { type PackSources, requireConversations, selectionOf, writeSelection } from './pack-selection.ts';
import type { PreviewTask } from './preview-rules.ts';
import { requireTeam } from '../../team/team-records.ts';
import { createRedactor } from './redaction.ts';
import { conversationsOf, type SelectedConversation, sizeOf } from '../query/selection.ts';

/** Max runs that a preview reads. */
const maxPreviewedRuns = 500;

interface PreviewRequest {
  readonly selection: ExportSelection;
  readonly runs?: 'all' | 'matched' | undefined;
  readonly columns: readonly ExportColumn[];
  readonly rules: readonly RedactionRule[];
}

/** Previews what rules replace in the first runs of a selection. Throws `invalid_request` for an invalid pattern. */
async function previewPack(
  request: PreviewRequest,
  options: PackSources & { readonly databaseFile: string },
  signal: AbortSignal,
): Promise<RedactionPreview> {
  createRedactor(request.rules);
  const { databaseFile, rows, flush } = options;
  flush();
  const { selection } = request;
  if (selection.source === 'team') {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-preview-'));
    const snapshotFile = join(folder, 'team-runs.sqlite');
    try {
      const found = await requireTeam(options).writeSnapshot(
        { selection, file: snapshotFile, maxRuns: maxPreviewedRuns },
        { signal },
      );
      return await previewSelection(request, found, { databaseFile, snapshotFile }, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const { numbers } = await selectionOf(selection, rows.lastRun(), options, signal);
  return previewSelection(request, numbers, { databaseFile }, signal);
}

async function previewSelection(
  request: PreviewRequest,
  numbers: Int32Array,
  files: Pick<PreviewTask, 'databaseFile' | 'snapshotFile'>,
  signal: AbortSignal,
): Promise<RedactionPreview> {
  const first: SelectedConversation[] = [];
  for (const selected of conversationsOf(numbers)) {
    if (first.push(selected) === maxPreviewedRuns) break;
  }
  const { columns, rules, runs = 'all' } = request;
  const preview = await runPreviewWorker(
    { ...files, maxRuns: maxPreviewedRuns, conversations: first, runs, columns, rules },
    signal,
  );
  return { ...sizeOf(numbers), ...preview };
}

/** The current time and newest run. Runs that ended before are on disk; later ends are recognised by their time. */
async function snapshotOf({ flush, rows }: PackSources): Promise<{ createdAt: number; lastRun: number }> {
  const createdAt = Date.now() + 1;
  while (Date.now() < createdAt) await new Promise((resolve) => setImmediate(resolve));
  flush();
  return { createdAt, lastRun: rows.lastRun() };
}

/** Writes the conversations of a pack to a file. Returns their number. */
async function writeSelectionOf(
  { input, lastRun }: PackPlan,
  file: string,
  sources: PackSources,
  signal: AbortSignal,
): Promise<number> {
  const { selection } = input;
  if (selection.source !== 'team') {
    const { numbers } = await selectionOf(selection, lastRun, sources, signal);
    return writeSelection(file, numbers);
  }
  const snapshot = packFiles(dirname(file)).snapshot;
  const numbers = await requireTeam(sources).writeSnapshot({ selection, file: snapshot, maxRuns: null }, { signal });
  return writeSelection(file, numbers);
}

/** The record of a new pack. Throws `invalid_request` for an invalid pattern and for an unknown conversation. */
async function newPack(input: AuditExportInput, options: ExportsOptions): Promise<PackRecord> {
  createRedactor(input.rules);
  await requireConversations(input.selection, options);
  const snapshot = await snapshotOf(options);
  const chosen = new Set(input.columns);
  // Readers must see which of these are only the caller's claims.
  if (chosen.has('metadata') || chosen.has('workspaceId')) chosen.add('callerSupplied');
  const timeZone = input.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const plan = {
    id: randomUUID(),
    name: input.name ?? `Evidence ${new Date(snapshot.createdAt).toLocaleDateString('sv', { timeZone })}`,
    ...snapshot,
    version: options.version,
    input: {
      ...input,
      name: input.name ?? '',
      timeZone,
      runs: input.runs ?? 'all',
      files: input.files ?? input.rules.length === 0,
      columns: exportColumns.filter((column) => chosen.has(column)),
      formats: [...new Set(input.formats)],
    },
  };
  return { plan, conversations: null, state: 'running', failure: null, completedAt: null, result: null };
}

export interface ExportsOptions extends PackSources {
  readonly dataDirectory: string;
  readonly databaseFile: string;
  /** The version of the service, which packs contain. */
  readonly version: string;
  readonly log: Log;
}

/** Evidence packs: create, watch, stop, resume, download. */
export interface Exports {
  /** Throws `invalid_request` for an invalid pattern and for an unknown conversation. */
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
  /** A pack as one zip. Throws `conflict` if it isn't complete. */
  download(id: string): Promise<ExportDownload>;
  /** Stops writing. Unfinished packs continue at the next start. */
  close(): Promise<void>;
}

/** Removes a new pack that can't start. */
async function startOrRemove(job: ExportJob, jobs: JobRegistry<ExportJob>): Promise<void> {
  try {
    await job.start();
  } catch (error) {
    await jobs.remove(job.id, () => undefined);
    throw error;
  }
}

/** Opens the packs of the data folder. Packs that were being written when the last host ended continue automatically. */
export async function createExports(options: ExportsOptions): Promise<Exports> {
  const store = createExportStore(options.dataDirectory, options.log);
  const mutex = createMutex(() => undefined);
  const jobs = createJobRegistry<ExportJob>({ notFound: 'No evidence pack has this ID.' });

  function add(record: PackRecord, checkpoint: PackCheckpoint | null): ExportJob {
    const job = new ExportJob({
      record,
      checkpoint,
      store,
      databaseFile: options.databaseFile,
      filesDirectory: join(options.dataDirectory, 'files'),
      select: ({ plan }, file, signal) => writeSelectionOf(plan, file, options, signal),
      takeTurn: (signal) => mutex.take({ signal }),
      onChange: jobs.changed,
      log: options.log,
    });
    jobs.add(job);
    return job;
  }

  for (const { record, checkpoint } of (await store.read()).toReversed()) {
    const job = add(record, checkpoint);
    if (record.state === 'running')
      void job.start().catch((error: unknown) => options.log('a pack did not start', error));
  }

  return {
    async create(input) {
      const job = add(await newPack(input, options), null);
      await startOrRemove(job, jobs);
      return job.state();
    },
    preview: (request, { signal }) => previewPack(request, options, signal),
    list: jobs.list,
    subscribe: jobs.subscribe,
    read: (id) => jobs.find(id).state(),
    async stop(id) {
      const job = jobs.find(id);
      await job.stop({ isClosing: false });
      return job.state();
    },
    async resume(id) {
      const job = jobs.find(id);
      await job.start();
      return job.state();
    },
    remove: (id) => jobs.remove(id, (job) => store.remove(job.id)),
    async download(id) {
      const { record } = jobs.find(id);
      const { openPack } = await import('./finish-pack.ts');
      return openPack(record, store.folder(record.plan.id));
    },
    close: jobs.close,
  };
}
