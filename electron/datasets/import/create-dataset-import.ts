import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dataset, DatasetColumn } from '../../../shared/contract/datasets.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { Datasets } from '../create-datasets.ts';
import { createTableReader, type TableReader } from './create-table-reader.ts';

/** A file that is being imported. Disposing of it removes what was received. */
export interface ReceivedTable extends AsyncDisposable {
  readonly path: string;
  /** Writes the content, as fast as the disk takes it. */
  receive(file: { readonly content: Readable; readonly fileName: string }): Promise<void>;
  /** Makes a dataset of it. `name` is that of the file unless given. */
  store(options: {
    readonly name: string | null;
    readonly types: Readonly<Record<string, DatasetColumn['type']>>;
    readonly reader: FileReader;
    readonly signal: AbortSignal;
  }): Promise<Dataset>;
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
        store: ({ name, types, reader, signal }) =>
          tables.read(
            { path, fileName },
            types,
            (table) => datasets.import(name ?? nameOf(fileName), table, { reader, signal }),
            { signal },
          ),
        [Symbol.asyncDispose]: () => rm(path, { force: true }),
      };
    },
  };
}
