import { invalidField } from '../../shared/app-error.ts';
import type { SourceForm } from '../../shared/contract/sources.ts';
import type { DataspaceStore } from '../storage/knowledge/dataspace-store.ts';
import { unknownDataspace, type SourceStore, type StoredSource } from '../storage/knowledge/source-store.ts';
import type { IndexingQueue } from './indexing-queue.ts';
import { detectMediaType } from './parsing/detect-media-type.ts';
import type { IncomingFile } from './source-files.ts';

/** A file that has arrived, and what its sender says of it. */
export interface ArrivedSource extends SourceForm {
  readonly fileName: string;
  readonly file: IncomingFile;
}

export interface KeepingOptions {
  readonly sources: Pick<SourceStore, 'create'>;
  readonly dataspaces: Pick<DataspaceStore, 'readDefault' | 'find'>;
  readonly queue: Pick<IndexingQueue, 'hold' | 'release'>;
}

function dataspaceFor(id: string | undefined, dataspaces: KeepingOptions['dataspaces']): string {
  if (id === undefined) return dataspaces.readDefault().id;
  const dataspace = dataspaces.find(id);
  if (dataspace) return dataspace.id;
  throw unknownDataspace();
}

/**
 * Keeps a file as a source that waits to be indexed. Throws `invalid_request` for an empty one and for an unknown dataspace,
 * `unsupported_media_type` for one of which the content cannot be read.
 */
export async function keepSource(
  { name, dataspaceId, fileName, file }: ArrivedSource,
  { sources, dataspaces, queue }: KeepingOptions,
  { signal }: { readonly signal: AbortSignal },
): Promise<StoredSource> {
  const bytes = file.bytes();
  if (bytes === 0) throw invalidField('file', 'must not be empty', 'The file is empty.');
  // The default one is made only when a file goes into it.
  if (dataspaceId !== undefined) dataspaceFor(dataspaceId, dataspaces);
  const mediaType = await detectMediaType({ path: file.path, fileName }, { signal });
  // A lane that looks between the next two steps must not take the source for lost.
  queue.hold(file.id);
  try {
    const dataspace = dataspaceFor(dataspaceId, dataspaces);
    // First the source and then its file, as `recover` expects.
    const created = sources.create({ id: file.id, dataspaceId: dataspace, name, fileName, mediaType, bytes });
    await file.keep();
    return created;
  } finally {
    queue.release(file.id);
  }
}
