import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError } from '../../../shared/app-error.ts';
import type {
  AuditExport,
  AuditExportInput,
  ExportColumn,
  ExportSelection,
  RedactionPreview,
  RedactionRule,
} from '../../../shared/contract/audit-exports.ts';
import { exportColumns } from '../../../shared/contract/audit-exports.ts';
import { createChangeNotifier } from '../../on-device/change-notifier.ts';
import type { AuditStore } from '../../storage/audit/audit-store.ts';
import { conversationsOf, type Selection, type SelectedConversation } from '../../storage/audit/selection.ts';
import type { ExportRows } from '../../storage/export-rows.ts';
import { ExportJob } from './export-job.ts';
import type { ExportMessage } from './export-messages.ts';
import { createExportShelf } from './export-shelf.ts';
import { zipOf } from './finish-pack.ts';
import { packFiles, type PackCheckpoint, type PackPlan, type PackRecord } from './pack-state.ts';
import { mostPreviewedRuns } from './preview-rules.ts';
import { createRedactor } from './redaction.ts';
import { runExportWorker } from './run-export-worker.ts';
import { selectConversations } from './select-conversations.ts';
import { writeSelection } from './selection-file.ts';
import { createTurns } from './turns.ts';

export interface ExportsOptions {
  readonly dataDirectory: string;
  readonly databaseFile: string;
  readonly audit: Pick<AuditStore, 'select'>;
  readonly rows: ExportRows;
  /** Writes runs that are queued, so that a snapshot has them. */
  readonly flush: () => void;
  /** Version of the service, as packs name it. */
  readonly version: string;
  readonly log: (message: string, error?: unknown) => void;
}

/** A file of a pack to be sent; `bytes` is null where it is known only at the end. */
export interface ExportDownload {
  readonly fileName: string;
  readonly bytes: number | null;
  readonly stream: Readable;
}

export interface PreviewRequest {
  readonly selection: ExportSelection;
  readonly runs?: 'all' | 'matched' | undefined;
  readonly columns: readonly ExportColumn[];
  readonly rules: readonly RedactionRule[];
}

/** Evidence packs: begun, followed, stopped, gone on with, handed out. */
export interface Exports {
  /** Throws `invalid_request` for a pattern that is none and `not_found` for an unknown conversation. */
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
  /** One file of a completed pack. */
  openFile(id: string, fileName: string): ExportDownload;
  /** Stops writing; packs under way go on at the next start. */
  close(): Promise<void>;
}

const changeMilliseconds = 200;

/** Takes up the packs of the data folder; those that were under way when the last host ended go on by themselves. */
export async function createExports(options: ExportsOptions): Promise<Exports> {
  const shelf = createExportShelf(options.dataDirectory);
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
    if (job === undefined) throw new AppError('not_found', 'There is no evidence pack with this id.');
    return job;
  }

  function completed(id: string): PackRecord {
    const { record } = find(id);
    if (record.state === 'completed') return record;
    throw new AppError('conflict', 'This evidence pack is not complete yet. Wait for it, or go on with it.');
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
      const record = newRecord(input, await snapshotOf(options), options.version);
      const job = add(record, null);
      try {
        await job.start();
      } catch (error) {
        jobs.delete(record.plan.id);
        throw error;
      }
      return job.state();
    },
    preview: (request, { signal }) => preview(request, options, signal),
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
      const { plan, result } = completed(id);
      const files = packFiles(shelf.folder(plan.id));
      const fileName = `evidence-${new Date(plan.createdAt).toISOString().slice(0, 10)}-${plan.id.slice(0, 8)}.zip`;
      if (plan.input.form === 'zip') {
        return { fileName, bytes: result!.files[0]!.bytes, stream: createReadStream(files.zip) };
      }
      const names = (await readdir(files.pack)).toSorted();
      return { fileName, bytes: null, stream: zipOf(files.pack, names, plan.createdAt) };
    },
    openFile(id, fileName) {
      const { plan, result } = completed(id);
      const file = result!.files.find(({ name }) => name === basename(fileName));
      if (file === undefined) throw new AppError('not_found', 'This evidence pack has no file with this name.');
      const files = packFiles(shelf.folder(plan.id));
      const path = plan.input.form === 'zip' ? files.zip : join(files.pack, file.name);
      return { fileName: file.name, bytes: file.bytes, stream: createReadStream(path) };
    },
    async close() {
      await Promise.all([...jobs.values()].map((job) => job.stop({ isPause: true })));
      notifier.close();
    },
  };
}

/** This moment: what ended before it is on disk, what ends later shows by its time. */
async function snapshotOf({ flush, rows }: ExportsOptions): Promise<{ createdAt: number; lastRun: number }> {
  const createdAt = Date.now() + 1;
  while (Date.now() < createdAt) await new Promise((resolve) => setImmediate(resolve));
  flush();
  return { createdAt, lastRun: rows.lastRun() };
}

function newRecord(
  input: AuditExportInput,
  snapshot: Pick<PackPlan, 'createdAt' | 'lastRun'>,
  version: string,
): PackRecord {
  const chosen = new Set(input.columns);
  const plan = {
    id: randomUUID(),
    name: input.name ?? `Evidence of ${new Date(snapshot.createdAt).toISOString().slice(0, 10)}`,
    ...snapshot,
    version,
    input: {
      ...input,
      name: input.name ?? '',
      runs: input.runs ?? 'all',
      columns: exportColumns.filter((column) => chosen.has(column)),
      formats: [...new Set(input.formats)],
    },
  };
  return { plan, conversations: null, state: 'running', failure: null, completedAt: null, result: null };
}

async function requireConversations(selection: ExportSelection, { rows, flush }: ExportsOptions): Promise<void> {
  if (!('conversationIds' in selection)) return;
  flush();
  for (const [index, id] of selection.conversationIds.entries()) {
    if (index % 200 === 199) await new Promise((resolve) => setImmediate(resolve));
    if (rows.conversation(id) !== null) continue;
    throw new AppError('invalid_request', 'One of the conversations does not exist any more.', {
      details: [{ field: `selection.conversationIds[${index}]`, issue: 'is not a conversation' }],
    });
  }
}

async function selectionOf(
  selection: ExportSelection,
  last: number,
  { audit, rows }: ExportsOptions,
  signal: AbortSignal,
): Promise<Selection> {
  if ('filter' in selection) return audit.select(selection.filter, { last, signal });
  return selectConversations(rows, selection.conversationIds, last);
}

async function preview(
  request: PreviewRequest,
  options: ExportsOptions,
  signal: AbortSignal,
): Promise<RedactionPreview> {
  createRedactor(request.rules);
  const { databaseFile, rows, flush } = options;
  flush();
  const { numbers } = await selectionOf(request.selection, rows.lastRun(), options, signal);
  const first: SelectedConversation[] = [];
  const count = { conversations: 0, runs: 0 };
  for (const selected of conversationsOf(numbers)) {
    if (first.length < mostPreviewedRuns) first.push(selected);
    count.conversations += 1;
    count.runs += selected.runs.length;
  }
  const answers: Extract<ExportMessage, { type: 'previewed' }>['rules'][] = [];
  const { columns, rules, runs = 'all' } = request;
  await runExportWorker(
    { kind: 'preview', databaseFile, conversations: first, runs, columns, rules },
    { signal, onMessage: (message) => message.type === 'previewed' && answers.push(message.rules) },
  );
  signal.throwIfAborted();
  const [answer] = answers;
  if (answer === undefined) throw new Error('The preview ended without an answer.');
  return { ...count, ...answer };
}
