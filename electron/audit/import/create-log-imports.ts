import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RedactionRule } from '../../../shared/contract/audit-exports.ts';
import type { RecordLevel } from '../../../shared/contract/common.ts';
import type { CsvField, LogFormat, LogImport, LogPreview } from '../../../shared/contract/log-imports.ts';
import { createJobRegistry, type JobRegistry } from '../../common/jobs.ts';
import type { Log } from '../../log.ts';
import type { ImportStore, StoredImport } from '../../storage/import-store.ts';
import { emptyReport, ImportJob } from './import-job.ts';
import { createLogReader, type LogReader } from './log-reader.ts';

/** Who imports a log. Its conversations belong to them. */
interface Importer {
  readonly callerId: string;
  readonly apiKeyId: string | null;
}

interface Reading {
  readonly format: LogFormat | null;
  readonly columns: Readonly<Record<string, CsvField | null>>;
}

type NewImport = Pick<StoredImport, 'id' | 'name' | 'format' | 'state' | 'plan'>;

/** A log that is being received. Disposing of it removes what isn't imported. */
export interface ReceivedLog extends AsyncDisposable {
  receive(file: { readonly content: Readable; readonly fileName: string }): Promise<void>;
  preview(reading: Reading & { readonly signal: AbortSignal }): Promise<LogPreview>;
  /** Starts the import. `name` is that of the file unless given. Throws `invalid_request` for a file that is no log. */
  start(
    reading: Reading & Importer & { readonly name: string | null; readonly signal: AbortSignal },
  ): Promise<LogImport>;
}

/** Imports calls that other programs logged. */
export interface LogImports {
  incoming(): ReceivedLog;
  /** Newest first. */
  list(): LogImport[];
  subscribe(listener: (imports: LogImport[]) => void): () => void;
  /** The following throw `not_found` for an unknown id. */
  read(id: string): LogImport;
  stop(id: string): Promise<LogImport>;
  resume(id: string): LogImport;
  /** Removes the runs in the background. */
  remove(id: string): Promise<LogImport>;
  /**
   * Stores the calls of a request of OTLP, as much of them as the level says. They belong to one import per caller and day. Returns the
   * number of stored calls.
   */
  receiveTraces(
    request: Record<string, unknown>,
    importer: Importer & { readonly name: string; readonly level: RecordLevel },
    options: { readonly signal: AbortSignal },
  ): Promise<number>;
  /** Imports continue at the next start. */
  close(): Promise<void>;
}

export interface LogImportsOptions {
  /** Holds logs until they are imported. */
  readonly directory: string;
  readonly store: ImportStore;
  /** The rules of redaction, by which calls are stored. */
  readonly rules: () => readonly RedactionRule[];
  readonly databaseFile: string;
  /** Identifies the data folder. */
  readonly hostId: string;
  /** Writes queued runs, so that the thread that reads a log sees them. */
  readonly flush: () => void;
  readonly log: Log;
}

/** Removes files whose import is done or was never started. */
async function removeOthers(directory: string, imports: readonly StoredImport[]): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const needed = new Set(imports.filter(({ state }) => state !== 'Completed').map(({ id }) => id));
  for (const name of await readdir(directory)) {
    if (!needed.has(name)) await rm(join(directory, name), { force: true, recursive: true });
  }
}

export async function createLogImports(options: LogImportsOptions): Promise<LogImports> {
  const { directory, store, rules, flush, log } = options;
  const reader = createLogReader(options.databaseFile, options.hostId);
  const jobs = createJobRegistry<ImportJob>({ notFound: 'No import has this ID.' });

  function add(batch: StoredImport): ImportJob {
    const { id } = batch;
    const path = batch.plan.bytes === 0 ? null : join(directory, id);
    // Its runs are gone, so that nothing is left to erase.
    const onRemoved = () => void jobs.remove(id, () => undefined);
    const job = new ImportJob({ batch, store, reader, rules, path, onChange: jobs.changed, onRemoved, log });
    jobs.add(job);
    return job;
  }

  const stored = store.list();
  await removeOthers(directory, stored);
  for (const batch of stored) add(batch).recover();

  function create(batch: NewImport): ImportJob {
    const progress = { position: 0, bytes: 0, imported: 0, report: emptyReport, failure: null };
    return add(store.create({ ...batch, progress, createdAt: Date.now() }));
  }

  return {
    incoming: () => receivedLog({ directory, flush, reader, create }),
    list: jobs.list,
    subscribe: jobs.subscribe,
    read: (id) => jobs.find(id).state(),
    async stop(id) {
      const job = jobs.find(id);
      await job.stop({ isClosing: false });
      return job.state();
    },
    resume(id) {
      const job = jobs.find(id);
      job.start();
      return job.state();
    },
    async remove(id) {
      const job = jobs.find(id);
      await job.removeRuns();
      return job.state();
    },
    receiveTraces: traceReceiver({ reader, rules, jobs, create }),
    async close() {
      await jobs.close();
      await reader.close();
    },
  };
}

interface TraceReceiverOptions extends Pick<LogImportsOptions, 'rules'> {
  readonly reader: LogReader;
  readonly jobs: JobRegistry<ImportJob>;
  readonly create: (batch: NewImport) => ImportJob;
}

function traceReceiver({ reader, rules, jobs, create }: TraceReceiverOptions): LogImports['receiveTraces'] {
  /** The caller's import of today. */
  function importFor({ callerId, apiKeyId, name }: Importer & { readonly name: string }): ImportJob {
    const day = new Date().toISOString().slice(0, 10);
    const fullName = `Traces from ${name}, ${day}`;
    const known = jobs
      .list()
      .find(
        (each) =>
          each.name === fullName && each.state === 'Completed' && jobs.find(each.id).batch.plan.callerId === callerId,
      );
    if (known) return jobs.find(known.id);
    const plan = { fileName: '', callerId, apiKeyId, format: 'otlp' as const, columns: {}, bytes: 0 };
    return create({ id: randomUUID(), name: fullName, format: 'otlp', state: 'Completed', plan });
  }

  return async (request, importer, { signal }) => {
    const { callerId, apiKeyId, level } = importer;
    if (level === 'none') return 0;
    const source = { callerId, apiKeyId, importedAt: Date.now(), level, rules: rules() };
    const { runs, leftOut } = await reader.traces(request, source, { signal });
    if (runs.length === 0) return 0;
    const job = importFor(importer);
    const { imported } = job.progress;
    job.append(runs, (count) => tracesProgress(job.progress, { count, repeated: runs.length - count, leftOut }));
    return job.progress.imported - imported;
  };
}

function tracesProgress(
  { report, imported, ...progress }: StoredImport['progress'],
  { count, repeated, leftOut }: { count: number; repeated: number; leftOut: number },
): StoredImport['progress'] {
  const reason = 'Spans that are not calls of a model';
  const entries = leftOut + (report.leftOut[0]?.entries ?? 0);
  return {
    ...progress,
    imported: imported + count,
    report: {
      ...report,
      calls: report.calls + count,
      duplicates: report.duplicates + repeated,
      leftOut: entries === 0 ? [] : [{ reason, entries }],
    },
  };
}

interface ReceivedLogOptions extends Pick<LogImportsOptions, 'directory' | 'flush'> {
  readonly reader: LogReader;
  readonly create: (batch: NewImport) => ImportJob;
}

function receivedLog({ directory, flush, reader, create }: ReceivedLogOptions): ReceivedLog {
  const id = randomUUID();
  const path = join(directory, id);
  let fileName = '';
  let isImported = false;
  return {
    async receive(file) {
      fileName = file.fileName;
      await pipeline(file.content, createWriteStream(path, { mode: 0o600 }));
    },
    preview({ signal, ...reading }) {
      flush();
      return reader.inspect({ path, fileName, ...reading }, { signal });
    },
    async start({ name, callerId, apiKeyId, signal, ...reading }) {
      const format = await reader.formatOf({ path, fileName, ...reading }, { signal });
      const { size } = await stat(path);
      const plan = { fileName, callerId, apiKeyId, ...reading, bytes: size };
      const job = create({
        id,
        name: name ?? (fileName || 'Imported log').slice(0, 300),
        format,
        state: 'Running',
        plan,
      });
      isImported = true;
      job.start();
      return job.state();
    },
    async [Symbol.asyncDispose]() {
      if (!isImported) await rm(path, { force: true });
    },
  };
}
