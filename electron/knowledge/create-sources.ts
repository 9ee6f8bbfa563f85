import {
  type SourceRange,
  type SourceStore,
  type StoredSource,
  unknownDataspace,
} from '../storage/knowledge/source-store.ts';
import type { KnowledgeIndex } from './index/knowledge-index.ts';
import type { ExtractedText, IncomingFile, SourceFiles } from './source-files.ts';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { type SourceDetail, type SourcePassage, stoppedReason } from '../../shared/contract/knowledge-window.ts';
import type { Source, SourceForm } from '../../shared/contract/dataspaces.ts';
import type { DataspaceStore } from '../storage/knowledge/dataspace-store.ts';
import type { ListPage, ListQuery } from '../storage/list-page.ts';
import type { IndexingQueue } from './indexing-queue.ts';
import type { KnowledgeChanges } from './knowledge-changes.ts';
import type { TextEmbedder } from './text-embedder.ts';

export interface ReconcileOptions {
  readonly sources: SourceStore;
  readonly files: SourceFiles;
  readonly index: KnowledgeIndex;
}

/** Deletes the data of removed sources. The next start resumes an interrupted removal. */
export async function clearRemoved(ids: readonly string[], { sources, files, index }: ReconcileOptions): Promise<void> {
  if (ids.length === 0) return;
  await index.removeSources(ids);
  await files.remove(ids);
  sources.cleared(ids);
}

/** Synchronises the index with the database after a crash: removes unknown sources from the index, and indexes missing ones again. */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { sources, index } = options;
  await clearRemoved(sources.removed(), options);
  const stored = sources.listAll();
  // Without sources, the index isn't even opened.
  if (stored.length === 0) return;
  const indexed = await index.sources();
  const unknown = indexed.filter(({ sourceId }) => sources.find(sourceId) === null);
  await index.removeSources([...new Set(unknown.map(({ sourceId }) => sourceId))]);
  const findable = new Set(indexed.filter(({ isFinished }) => isFinished).map(({ sourceId }) => sourceId));
  for (const { id, status } of stored) {
    if (status === 'Ready' && !findable.has(id)) sources.requeue(id);
  }
}

/** A file that has arrived, with its sender's name and type. */
interface ArrivedSource extends SourceForm {
  readonly fileName: string;
  readonly file: IncomingFile;
}

interface KeepingOptions {
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
 * Stores a file as a source in the indexing queue. Throws `invalid_request` for an empty file and an unknown dataspace, and
 * `unsupported_media_type` for a file that can't be read.
 */
async function keepSource(
  { name, dataspaceId, fileName, file }: ArrivedSource,
  { sources, dataspaces, queue }: KeepingOptions,
  { signal }: { readonly signal: AbortSignal },
): Promise<StoredSource> {
  const bytes = file.bytes();
  if (bytes === 0) throw invalidField('file', 'must not be empty', 'The file is empty.');
  // The default dataspace is created only when a file is added to it.
  if (dataspaceId !== undefined) dataspaceFor(dataspaceId, dataspaces);
  const { detectMediaType } = await import('./parsing/detect-media-type.ts');
  const mediaType = await detectMediaType({ path: file.path, fileName }, { signal });
  // A lane that starts between the next two steps must not treat the source as missing.
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

interface Cancellable {
  readonly signal: AbortSignal;
}

/** Every method that takes an id throws `not_found` for an unknown one. */
export interface Sources {
  /** Prepares for an upload. */
  incoming(): Promise<IncomingFile>;
  /** Stores an uploaded file and starts to index it; throws the errors of `keepSource`. */
  create(form: SourceForm & { fileName: string }, file: IncomingFile, options: Cancellable): Promise<Source>;
  list(query: ListQuery): ListPage<Source>;
  read(id: string): Source;
  /** No later search finds its passages. Resolves when its file is deleted. */
  remove(id: string): Promise<void>;
  /** Indexes it again; a stopped one resumes. Does nothing while it is indexed. */
  reindex(id: string): Source;
  detail(id: string): SourceDetail;
  range(range: SourceRange): { data: SourceDetail[]; total: number };
  /** Details of the sources that still exist. */
  details(ids: Iterable<string>): SourceDetail[];
  stop(ids: readonly string[]): Promise<void>;
  passages(id: string, first: number, limit: number, options: Cancellable): Promise<SourcePassage[]>;
  /** Throws `conflict` before any text was extracted. */
  text(id: string, range: { start: number; end: number }): Promise<ExtractedText>;
}

export interface SourcesOptions {
  readonly sources: SourceStore;
  readonly dataspaces: DataspaceStore;
  readonly files: SourceFiles;
  readonly index: KnowledgeIndex;
  readonly queue: IndexingQueue;
  readonly changes: KnowledgeChanges;
  readonly embedder: () => TextEmbedder;
}

/** The public fields of a source. */
function toSource(stored: StoredSource): Source {
  const { id, name, fileName, mediaType, bytes, status, failureReason, dataspaceId, createdAt } = stored;
  return { id, name, fileName, mediaType, bytes, status, failureReason, dataspaceId, createdAt };
}

function detailOf(stored: StoredSource, { queue, embedder }: SourcesOptions): SourceDetail {
  const { passages, pages, characters, embeddingModel } = stored;
  const isOutdated = embeddingModel !== null && embeddingModel !== embedder().model;
  const progress = queue.progressOf(stored);
  return { ...toSource(stored), progress, passages, pages, characters, embeddingModel, isOutdated };
}

/** The public fields of a passage of the index. */
function toPassage({ position, text, start, end, page, heading }: SourcePassage): SourcePassage {
  return { position, text, start, end, page, heading };
}

export function createSources(options: SourcesOptions): Sources {
  const { sources, files, index, queue, changes } = options;
  const toDetail = (stored: StoredSource) => detailOf(stored, options);

  return {
    incoming: files.incoming,
    async create(form, file, { signal }) {
      const created = await keepSource({ ...form, file }, options, { signal });
      changes.changed(created.id);
      queue.wake();
      return toSource(created);
    },
    list(query) {
      const { data, continuationToken } = sources.list(query);
      return { data: data.map(toSource), continuationToken };
    },
    read: (id) => toSource(sources.read(id)),
    async remove(id) {
      const { id: removed } = sources.read(id);
      sources.remove(removed);
      changes.removed(removed);
      await queue.cancel([removed]);
      await clearRemoved([removed], options);
    },
    reindex(id) {
      const source = sources.read(id);
      if (source.status === 'Processing') return toSource(source);
      const requeued = sources.requeue(source.id);
      changes.changed(source.id);
      queue.wake();
      return toSource(requeued);
    },
    detail: (id) => toDetail(sources.read(id)),
    range(range) {
      const { data, total } = sources.range(range);
      return { data: data.map(toDetail), total };
    },
    details: (ids) => [...ids].flatMap((id) => sources.find(id) ?? []).map(toDetail),
    async stop(ids) {
      for (const id of ids) {
        const source = sources.read(id);
        sources.fail(source.id, source.revision, stoppedReason);
      }
      changes.changed(...ids);
      await queue.cancel(ids);
    },
    async passages(id, first, limit, { signal }) {
      const found = await index.passages({ sourceId: sources.read(id).id, first, limit }, { signal });
      return found.map(toPassage);
    },
    async text(id, range) {
      const text = await files.readText(sources.read(id).id, range);
      if (text) return text;
      throw new AppError('conflict', 'The text of this source is not extracted yet. Wait until the source is ready.');
    },
  };
}
