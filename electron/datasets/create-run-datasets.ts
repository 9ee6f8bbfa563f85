import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { RunDataset, RunDatasetInput } from '../../shared/contract/dataset-import.ts';
import {
  type DatasetColumn,
  maxDatasetColumns,
  maxDatasetRows,
  type RowValues,
} from '../../shared/contract/datasets.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { type AuditStore } from '../audit/query/audit-store.ts';
import { conversationsOf, sizeOf } from '../audit/query/selection.ts';
import type { ExportRows } from '../storage/export-rows.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { RunStore } from '../storage/storage.ts';
import type { Datasets } from './create-datasets.ts';
import { tooManyRows } from './dataset-row.ts';

interface Options {
  readonly datasets: Pick<Datasets, 'import'>;
  readonly audit: Pick<AuditStore, 'select'>;
  readonly runs: Pick<RunStore, 'read'>;
  readonly exportRows: Pick<ExportRows, 'runIds' | 'feedback'>;
}

/** Makes datasets of recorded runs. */
export interface RunDatasets {
  /** Throws `invalid_request` for a selection without runs or with an unknown one, and `payload_too_large`. */
  create(
    input: RunDatasetInput,
    author: { readonly reader: FileReader; readonly signal: AbortSignal },
  ): Promise<RunDataset>;
}

/** Runs that are read in one turn of the event loop: a few milliseconds. */
const runsAtOnce = 25;

function typeOf(value: unknown): DatasetColumn['type'] {
  if (typeof value === 'string') return 'text';
  const isFile = typeof value === 'object' && value !== null && Object.keys(value).join() === 'fileId';
  return isFile ? 'file' : 'json';
}

/** The columns that were found so far. Those of a run come after its variables. */
class RunColumns {
  readonly #types = new Map<string, DatasetColumn['type']>();
  readonly #own: readonly DatasetColumn[];

  constructor({ answer = 'expected', hasFeedback = true }: RunDatasetInput) {
    const text = (name: string): DatasetColumn => ({ name, type: 'text' });
    this.#own = [
      ...(answer === 'none' ? [] : [{ name: 'run answer', type: answer }]),
      text('run model'),
      ...(hasFeedback
        ? [{ name: 'feedback score', type: 'json' } as const, text('feedback comment'), text('feedback tags')]
        : []),
      text('run ID'),
    ];
  }

  add(name: string, value: unknown): void {
    const known = this.#types.get(name);
    const type = typeOf(value);
    this.#types.set(name, known === undefined || known === type ? type : 'json');
    if (this.#types.size + this.#own.length > maxDatasetColumns)
      throw invalidField('selection', `has runs with more than ${maxDatasetColumns - this.#own.length} variables`);
  }

  has(name: string): boolean {
    return this.#own.some((column) => column.name === name);
  }

  list(): DatasetColumn[] {
    return [...[...this.#types].map(([name, type]) => ({ name, type })), ...this.#own];
  }
}

function rowOf(
  { runId, model, input, output }: RunDetail,
  columns: RunColumns,
  feedback: ExportRows['feedback'],
): RowValues {
  const given = Object.entries(input.replacements ?? {}).filter(([, value]) => value !== null && value !== undefined);
  // Calls of the recorder have no variables.
  const variables = given.length > 0 ? given : [['run prompt', input.renderedPrompt ?? input.promptText] as const];
  for (const [name, value] of variables) if (!columns.has(name)) columns.add(name, value);
  const { score = null, comment = null, tags = null } = feedback(runId) ?? {};
  const own: Record<string, unknown> = {
    'run answer': output.content,
    'run model': model,
    'feedback score': score,
    'feedback comment': comment,
    'feedback tags': tags,
    'run ID': runId,
  };
  const values = Object.entries(own).filter(([name, value]) => columns.has(name) && value !== null);
  return Object.fromEntries([...variables.filter(([name]) => !columns.has(name)), ...values]);
}

export function createRunDatasets({ datasets, audit, runs, exportRows }: Options): RunDatasets {
  async function selected({ selection }: RunDatasetInput, signal: AbortSignal): Promise<string[]> {
    if ('runIds' in selection) return [...new Set(selection.runIds.map((id) => id.toLowerCase()))];
    const { numbers } = await audit.select(selection.filter, { signal });
    const { runs: count } = sizeOf(numbers);
    if (count === 0) throw invalidField('selection.filter', 'matches no run');
    if (count > maxDatasetRows) throw tooManyRows(count);
    const sequences = new Int32Array(count);
    let length = 0;
    for (const { runs: matching } of conversationsOf(numbers)) {
      sequences.set(matching, length);
      length += matching.length;
    }
    sequences.sort();
    const ids: string[] = [];
    for (let offset = 0; offset < count; offset += 1000) {
      ids.push(...exportRows.runIds([...sequences.subarray(offset, offset + 1000)]));
      await nextTurn();
      signal.throwIfAborted();
    }
    return ids;
  }

  return {
    async create(input, { reader, signal }) {
      const ids = await selected(input, signal);
      const columns = new RunColumns(input);
      let skippedRuns = 0;
      async function* rows(): AsyncGenerator<RowValues[]> {
        for (let offset = 0; offset < ids.length; offset += runsAtOnce) {
          const batch: RowValues[] = [];
          for (const [index, id] of ids.slice(offset, offset + runsAtOnce).entries()) {
            const run = runs.read(id);
            if (run === null && 'runIds' in input.selection)
              throw invalidField(`selection.runIds[${offset + index}]`, 'is not a run');
            // Its texts were deleted, or it was removed since it was found.
            if (run === null || run.metadata?.['anonymised'] === true) skippedRuns += 1;
            else batch.push(rowOf(run, columns, exportRows.feedback));
          }
          if (batch.length > 0) yield batch;
          await nextTurn();
          signal.throwIfAborted();
        }
        if (skippedRuns === ids.length)
          throw new AppError('invalid_request', 'The texts of all of these runs were deleted.', {
            details: [{ field: 'selection', issue: 'has no run with texts' }],
          });
      }
      const incoming = { rows: rows(), columns: () => columns.list() };
      const dataset = await datasets.import(input.name, incoming, { reader, signal });
      return { ...dataset, skippedRuns };
    },
  };
}
