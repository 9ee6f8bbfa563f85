import { invalidField } from '../../../shared/app-error.ts';
import type { RowValues } from '../../../shared/contract/datasets.ts';
import type { Files } from '../../files/create-files.ts';
import type { IncomingRows } from '../create-datasets.ts';
import type { TableArchive } from './open-archive.ts';
import { type FileFinder, fileFinder } from './table.ts';

interface Author {
  readonly callerId: string;
  readonly signal: AbortSignal;
}

/** The files that cells of a table name: those of its archive, and stored ones. */
export class CellFiles {
  readonly #archive: TableArchive | null;
  readonly #files: Pick<Files, 'incoming'>;
  readonly #ids: Map<string, string>;
  readonly #find: FileFinder;

  /** `stored` are ids of files by the names in cells. */
  constructor(archive: TableArchive | null, stored: Readonly<Record<string, string>>, files: Pick<Files, 'incoming'>) {
    this.#archive = archive;
    this.#files = files;
    this.#ids = new Map(Object.entries(stored));
    this.#find = fileFinder(new Set(this.names));
  }

  get names(): string[] {
    return [...this.#ids.keys(), ...(this.#archive?.fileNames ?? [])];
  }

  /** The rows with the files that their cells name. A file is stored when the first cell names it. */
  async *rows({ rows, columns }: IncomingRows, author: Author): AsyncGenerator<readonly RowValues[]> {
    const names = columns().flatMap(({ name, type }) => (type === 'file' ? [name] : []));
    let first = 0;
    for await (const batch of rows) {
      if (names.length === 0) {
        yield batch;
        continue;
      }
      const withFiles: RowValues[] = [];
      for (const [index, row] of batch.entries()) {
        const values = { ...row };
        for (const name of names) {
          const value = values[name];
          if (value === '') delete values[name];
          else if (typeof value === 'string')
            values[name] = { fileId: await this.#idOf(value, `rows[${first + index}].${name}`, author) };
        }
        withFiles.push(values);
      }
      first += batch.length;
      yield withFiles;
    }
  }

  async #idOf(name: string, field: string, { callerId, signal }: Author): Promise<string> {
    const found = this.#find(name);
    if (found === null) throw invalidField(field, 'is the name of no file that came with the table');
    const known = this.#ids.get(found);
    if (known !== undefined) return known;
    const { content, fileName } = await this.#archive!.openFile(found);
    await using received = await this.#files.incoming();
    await received.receive({ content, fileName, mediaType: null });
    const { file } = await received.store({ callerId, signal, keepLocation: false });
    this.#ids.set(found, file.id);
    return file.id;
  }
}
