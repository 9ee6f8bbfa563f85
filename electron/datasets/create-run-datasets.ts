import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { missingMessages } from '../../shared/continued-field.ts';
import type { AddedRunsInput, DatasetJob, RunDataset, RunDatasetInput } from '../../shared/contract/dataset-import.ts';
import {
  type DatasetColumn,
  maxDatasetColumns,
  maxDatasetRows,
  maxRowBytes,
  type RowValues,
} from '../../shared/contract/datasets.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { type AuditStore } from '../audit/query/audit-store.ts';
import { conversationsOf, sizeOf } from '../audit/query/selection.ts';
import { createJobRegistry } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import type { ExportRows, RunFeedback } from '../storage/export-rows.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { RunStore } from '../storage/storage.ts';
import { requireTeam, teamRunDetail, type TeamRecords } from '../team/team-records.ts';
import { addRuns, promptOf } from './add-runs.ts';
import type { Datasets } from './create-datasets.ts';
import { tooManyRows } from './dataset-row.ts';
import { RunDatasetJob, type RunProgress } from './run-dataset-job.ts';

export interface RunDatasetsOptions {
  readonly datasets: Pick<Datasets, 'import' | 'read' | 'addVersion'>;
  readonly audit: Pick<AuditStore, 'select'>;
  readonly runs: Pick<RunStore, 'read'>;
  readonly exportRows: Pick<ExportRows, 'runIds' | 'feedback'>;
  /** Absent where there is no team database. */
  readonly team?: TeamRecords;
  readonly log: Log;
}

/** Who makes a dataset. */
export interface RunReader {
  readonly reader: FileReader;
  /** Whether it may read the runs of other hosts of the team. */
  readonly readsTeam?: boolean;
  /** Adds the column `expected answer`: a text, true for the answer of the run, null for none. */
  readonly expectedOf?: (runId: string) => string | true | null;
  /** Adds these columns. Fails if a run has a variable with the name of one. */
  readonly ratings?: { readonly columns: readonly DatasetColumn[]; readonly of: (runId: string) => RowValues };
}

interface Author extends RunReader {
  readonly signal: AbortSignal;
}

/** Makes datasets of recorded runs. */
export interface RunDatasets {
  /** Throws `invalid_request` for a selection without runs or with an unknown one, and `payload_too_large`. */
  create(input: RunDatasetInput, author: Author): Promise<RunDataset>;
  /** Adds runs to a dataset as a new version. Throws as `create`, and `not_found`. */
  add(datasetId: string, input: AddedRunsInput, author: Author): Promise<RunDataset>;
  /** As `create`, in the background. */
  start(input: RunDatasetInput, reader: RunReader): DatasetJob;
  /** Newest first. */
  list(): DatasetJob[];
  /** The following throw `not_found`. */
  read(id: string): DatasetJob;
  /** Resolves when nothing of the dataset is left. */
  stop(id: string): Promise<DatasetJob>;
  close(): Promise<void>;
}

/** Runs that are read between two looks at the clock. */
const runsAtOnce = 25;
/** Reading runs for longer would delay calls. */
const sliceMs = 8;
/** Ended jobs are listed until so many newer ones were started. */
const maxJobs = 100;

function typeOf(value: unknown): DatasetColumn['type'] {
  if (typeof value === 'string') return 'text';
  const isFile = typeof value === 'object' && value !== null && Object.keys(value).join() === 'fileId';
  return isFile ? 'file' : 'json';
}

/** The columns that were found so far. Those of a run come after its variables. */
class RunColumns {
  readonly #types = new Map<string, DatasetColumn['type']>();
  readonly #own: readonly DatasetColumn[];
  readonly #ratings: ReadonlySet<string>;

  constructor(
    { answer = 'expected', hasFeedback = true }: RunDatasetInput,
    { expectedOf, ratings }: Pick<Author, 'expectedOf' | 'ratings'>,
  ) {
    const text = (name: string): DatasetColumn => ({ name, type: 'text' });
    this.#ratings = new Set(ratings?.columns.map(({ name }) => name));
    this.#own = [
      ...(answer === 'none' ? [] : [{ name: 'run answer', type: answer }]),
      ...(expectedOf ? [{ name: 'expected answer', type: 'expected' } as const] : []),
      text('run model'),
      ...(hasFeedback
        ? [{ name: 'feedback score', type: 'json' } as const, text('feedback comment'), text('feedback tags')]
        : []),
      ...(ratings?.columns ?? []),
      text('run ID'),
    ];
  }

  add(name: string, value: unknown): void {
    if (this.#ratings.has(name))
      throw invalidField(
        'ratings',
        `must be false, because a run has a variable with the name of the column "${name}"`,
      );
    const known = this.#types.get(name);
    const type = typeOf(value);
    this.#types.set(name, known === undefined || known === type ? type : 'json');
    if (this.#types.size + this.#own.length > maxDatasetColumns)
      throw invalidField('selection', `has runs with more than ${maxDatasetColumns - this.#own.length} variables`);
  }

  has(name: string): boolean {
    return this.#own.some((column) => column.name === name);
  }

  /** Whether a variable with this name is left out. */
  hasOwn(name: string): boolean {
    return this.has(name) && !this.#ratings.has(name);
  }

  list(): DatasetColumn[] {
    return [...[...this.#types].map(([name, type]) => ({ name, type })), ...this.#own];
  }
}

function rowOf(
  run: RunDetail,
  columns: RunColumns,
  feedback: RunFeedback | null,
  expected: string | true | null,
): RowValues {
  const { runId, model, input, output } = run;
  const given = Object.entries(input.replacements ?? {}).filter(([, value]) => value !== null && value !== undefined);
  // Calls of the recorder have no variables.
  const variables = given.length > 0 ? given : [['run prompt', promptOf(run)] as const];
  for (const [name, value] of variables) if (!columns.hasOwn(name)) columns.add(name, value);
  const { score = null, comment = null, tags = null } = feedback ?? {};
  const own: Record<string, unknown> = {
    'run answer': output.content,
    'expected answer': expected === true ? output.content : expected,
    'run model': model,
    'feedback score': score,
    'feedback comment': comment,
    'feedback tags': tags,
    'run ID': runId,
  };
  const values = Object.entries(own).filter(([name, value]) => columns.has(name) && value !== null);
  return Object.fromEntries([...variables.filter(([name]) => !columns.has(name)), ...values]);
}

/** Whether a call with many messages is longer than a row. One that a caller names is rejected when its row is checked. */
function isTooLong(row: RowValues): boolean {
  const { 'run prompt': prompt } = row;
  // A character is at most six bytes of JSON.
  if (typeof prompt !== 'string' || prompt.length < maxRowBytes / 6) return false;
  return Buffer.byteLength(JSON.stringify(row)) > maxRowBytes;
}

function requireCount(count: number): void {
  if (count === 0) throw invalidField('selection.filter', 'matches no run');
  if (count > maxDatasetRows) throw tooManyRows(count);
}

/** The ids of the selected runs. */
async function selectedRuns(
  { selection }: RunDatasetInput,
  { audit, exportRows, team }: Pick<RunDatasetsOptions, 'audit' | 'exportRows' | 'team'>,
  { signal, readsTeam = false }: Author,
): Promise<string[]> {
  if ('runIds' in selection) return [...new Set(selection.runIds.map((id) => id.toLowerCase()))];
  if (selection.source === 'team') {
    if (!readsTeam)
      throw new AppError('conflict', 'Only a host that was started with --team shows its runs to programs.');
    const found = await requireTeam({ team }).selectRuns(selection.filter, maxDatasetRows, { signal });
    requireCount(found.count);
    return [...found.ids];
  }
  const { numbers } = await audit.select(selection.filter, { signal });
  const { runs: count } = sizeOf(numbers);
  requireCount(count);
  const sequences = new Int32Array(count);
  let length = 0;
  for (const { runs: matching } of conversationsOf(numbers)) {
    sequences.set(matching, length);
    length += matching.length;
  }
  sequences.sort();
  const ids: string[] = [];
  for (let offset = 0; offset < count; offset += 500) {
    ids.push(...exportRows.runIds([...sequences.subarray(offset, offset + 500)]));
    await nextTurn();
    signal.throwIfAborted();
  }
  return ids;
}

interface FoundRun {
  /** Null for an unknown ID. */
  readonly run: RunDetail | null;
  readonly feedback: () => RunFeedback | null;
}

/** Reads runs in the order of `ids`, and those of other hosts together with the next ones. */
function createRunReader(
  ids: readonly string[],
  { runs, exportRows, team }: RunDatasetsOptions,
  { readsTeam = false }: Author,
): (id: string, index: number) => Promise<FoundRun> {
  let others = new Map<string, FoundRun>();
  const nothing: FoundRun = { run: null, feedback: () => null };
  return async (id, index) => {
    const run = runs.read(id);
    if (run !== null) return { run, feedback: () => exportRows.feedback(id) };
    if (!readsTeam || !team?.isOn()) return nothing;
    if (!others.has(id)) {
      const missing = ids.slice(index, index + runsAtOnce).filter((each) => runs.read(each) === null);
      const found = (await team.readRuns(missing)).map((row): [string, FoundRun] => {
        const { score, score_text: comment, score_tags: tags } = row;
        return [row.id, { run: teamRunDetail(row), feedback: () => ({ score, comment, tags }) }];
      });
      others = new Map(found);
    }
    return others.get(id) ?? nothing;
  };
}

/** Reads the selected runs and writes them as a dataset. If it fails, nothing of it stays. */
async function createFromRuns(
  input: RunDatasetInput,
  options: RunDatasetsOptions,
  author: Author,
  onProgress: (progress: RunProgress) => void,
): Promise<RunDataset> {
  const { datasets } = options;
  const { reader, signal } = author;
  const ids = await selectedRuns(input, options, author);
  const readRun = createRunReader(ids, options, author);
  const columns = new RunColumns(input, author);
  let skippedRuns = 0;
  const report = (readRuns: number) => onProgress({ runs: ids.length, readRuns, skippedRuns });
  report(0);

  async function* rows(): AsyncGenerator<RowValues[]> {
    let batch: RowValues[] = [];
    let sliceEnd = performance.now() + sliceMs;
    for (const [index, id] of ids.entries()) {
      const { run, feedback } = await readRun(id, index);
      if (run === null && 'runIds' in input.selection) throw invalidField(`selection.runIds[${index}]`, 'is not a run');
      const missing = run && missingMessages(run);
      if (missing !== null && 'runIds' in input.selection)
        throw invalidField(`selection.runIds[${index}]`, 'continues messages that are not recorded', missing);
      // Its texts were deleted, or it was removed since it was found.
      if (run === null || missing !== null || run.isAnonymised) skippedRuns += 1;
      else {
        const ratings = author.ratings?.of(id) ?? {};
        const row = { ...rowOf(run, columns, feedback(), author.expectedOf?.(id) ?? null), ...ratings };
        if ('filter' in input.selection && isTooLong(row)) skippedRuns += 1;
        else batch.push(row);
      }
      if (performance.now() < sliceEnd && batch.length < runsAtOnce) continue;
      if (batch.length > 0) yield batch;
      batch = [];
      report(index + 1);
      await nextTurn();
      signal.throwIfAborted();
      sliceEnd = performance.now() + sliceMs;
    }
    if (batch.length > 0) yield batch;
    if (skippedRuns === ids.length)
      throw new AppError(
        'invalid_request',
        'The texts of all of these runs were deleted, never recorded, or are longer than 4 MB.',
        {
          details: [{ field: 'selection', issue: 'has no run with texts' }],
        },
      );
    report(ids.length);
  }

  const incoming = { rows: rows(), columns: () => columns.list() };
  const dataset = await datasets.import(input.name, incoming, { reader, signal });
  return { ...dataset, skippedRuns };
}

export function createRunDatasets(options: RunDatasetsOptions): RunDatasets {
  const jobs = createJobRegistry<RunDatasetJob>({ notFound: 'No job has this ID.', maxJobs });
  return {
    create: (input, author) => createFromRuns(input, options, author, () => {}),
    add: (datasetId, input, author) => addRuns(datasetId, input, options, author),
    start(input, reader) {
      const job = new RunDatasetJob({
        input,
        create: (signal, onProgress) => createFromRuns(input, options, { ...reader, signal }, onProgress),
        onChange: jobs.changed,
        log: options.log,
      });
      jobs.add(job);
      job.start();
      return job.state();
    },
    list: jobs.list,
    read: (id) => jobs.find(id).state(),
    async stop(id) {
      const job = jobs.find(id);
      await job.stop();
      return job.state();
    },
    close: jobs.close,
  };
}
