import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DatasetPreview, ImportedDataset } from '../../../shared/contract/dataset-import.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { Datasets } from '../create-datasets.ts';
import { type ColumnChoices, createTableReader, type TableReader } from './create-table-reader.ts';
import type { TableFile } from './table.ts';

/** A file that is being imported. Disposing of it removes what was received. */
export interface ReceivedTable extends AsyncDisposable {
  readonly path: string;
  /** Writes the content, as fast as the disk takes it. */
  receive(file: { readonly content: Readable; readonly fileName: string }): Promise<void>;
  /** What `store` would store. */
  preview(reading: Reading): Promise<DatasetPreview>;
  /** Makes a dataset of it. `name` is that of the file unless given. */
  store(
    reading: Reading & ColumnChoices & { readonly name: string | null; readonly reader: FileReader },
  ): Promise<ImportedDataset>;
}

interface Reading extends Pick<TableFile, 'format' | 'sheet' | 'definition'> {
  readonly signal: AbortSignal;
}

/** Makes datasets of files. */
export interface DatasetImport {
  incoming(): Promise<ReceivedTable>;
}

export interface DatasetImportOptions {
  /** Holds files while they are read. Emptied at the start. */
  readonly directory: string;
  readonly datasets: Pick<Datasets, 'import'>;
  readonly tables?: TableReader;
}

function nameOf(fileName: string): string {
  return fileName.replace(/\.[^.]*$/, '').slice(0, 300) || 'Imported dataset';
}

export function createDatasetImport({
  directory,
  datasets,
  tables = createTableReader(),
}: DatasetImportOptions): DatasetImport {
  const ready = rm(directory, { recursive: true, force: true }).then(() =>
    mkdir(directory, { recursive: true, mode: 0o700 }),
  );
  // Reported by the import that waits for it.
  ready.catch(() => undefined);

  return {
    async incoming() {
      await ready;
      const path = join(directory, randomUUID());
      let fileName = '';
      return {
        path,
        async receive(file) {
          fileName = file.fileName;
          await pipeline(file.content, createWriteStream(path, { mode: 0o600 }));
        },
        async preview({ signal, ...how }) {
          const found = await tables.inspect({ path, fileName, ...how }, { signal });
          return { name: nameOf(fileName), ...found };
        },
        store: ({ name, types, names, reader, signal, ...how }) =>
          tables.read(
            { path, fileName, ...how },
            { types, names },
            async (table) => {
              const dataset = await datasets.import(name ?? nameOf(fileName), table, { reader, signal });
              return { ...dataset, report: table.report };
            },
            { signal },
          ),
        [Symbol.asyncDispose]: () => rm(path, { force: true }),
      };
    },
  };
}
