import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DatasetPreview, ImportedDataset, ImportReport } from '../../../shared/contract/dataset-import.ts';
import type { Files } from '../../files/create-files.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { Datasets } from '../create-datasets.ts';
import { type ColumnChoices, createTableReader, type TableReader } from './create-table-reader.ts';
import { CellFiles } from './cell-files.ts';
import type { TableArchive } from './open-archive.ts';
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
  /** Ids of stored files by the names that cells have. */
  readonly files: Readonly<Record<string, string>>;
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
  readonly files: Pick<Files, 'incoming'>;
  readonly tables?: TableReader;
}

function nameOf(fileName: string): string {
  return fileName.replace(/\.[^.]*$/, '').slice(0, 300) || 'Imported dataset';
}

/** Calls `use` with the table: the file itself, or the one in an archive with the files that its cells name. */
async function withTable<Result>(
  fileService: DatasetImportOptions['files'],
  { path, fileName }: Pick<TableFile, 'path' | 'fileName'>,
  { files, format, sheet, definition = null }: Reading,
  use: (table: TableFile, files: CellFiles, archive: TableArchive | null) => Promise<Result>,
): Promise<Result> {
  const { openArchive } = await import('./open-archive.ts');
  await using archive = await openArchive(path, sheet);
  const cellFiles = new CellFiles(archive, files, fileService);
  const fileNames = cellFiles.names;
  if (archive === null) return use({ path, fileName, format, sheet, definition, fileNames }, cellFiles, null);
  const [extracted, texts] = [`${path}.table`, `${path}.texts`];
  try {
    await archive.extractTable(extracted);
    const companions = await archive.extractTexts(texts);
    const table = { path: extracted, fileName: archive.table, format, sheet: null, definition, fileNames, companions };
    return await use(table, cellFiles, archive);
  } finally {
    await rm(extracted, { force: true });
    await rm(texts, { recursive: true, force: true });
  }
}

function withArchive(report: ImportReport, archive: TableArchive | null): ImportReport {
  return archive === null ? report : { ...report, sheets: [...archive.tables], sheet: archive.table };
}

export function createDatasetImport({
  directory,
  datasets,
  files: fileService,
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
        preview: (reading) =>
          withTable(fileService, { path, fileName }, reading, async (table, _, archive) => {
            const found = await tables.inspect(table, reading);
            return { name: nameOf(fileName), ...found, report: withArchive(found.report, archive) };
          }),
        store: ({ name, types, names, reader, ...reading }) =>
          withTable(fileService, { path, fileName }, reading, (file, cellFiles, archive) =>
            tables.read(
              file,
              { types, names },
              async (table) => {
                const { signal } = reading;
                const rows = cellFiles.rows(table, { callerId: reader.callerId, signal });
                const dataset = await datasets.import(name ?? nameOf(fileName), { ...table, rows }, { reader, signal });
                return { ...dataset, report: withArchive(table.report, archive) };
              },
              reading,
            ),
          ),
        [Symbol.asyncDispose]: () => rm(path, { force: true }),
      };
    },
  };
}
