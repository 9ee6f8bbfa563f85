import { join } from 'node:path';
import type { Dataspace } from '../../shared/contract/dataspaces.ts';
import type { DataspaceSummary, KnowledgeChange } from '../../shared/contract/knowledge-window.ts';
import type { DataspaceStore } from '../storage/knowledge/dataspace-store.ts';
import type { SourceStore } from '../storage/knowledge/source-store.ts';
import { clearRemoved, createSources, reconcile, type Sources, type SourcesOptions } from './create-sources.ts';
import type { StartChild } from '../child-process/child.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { createKnowledgeIndex } from './index/create-knowledge-index.ts';
import type { KnowledgeIndex } from './index/knowledge-index.ts';
import { createIndexingQueue } from './indexing-queue.ts';
import { type ChangedSources, createKnowledgeChanges } from './knowledge-changes.ts';
import type { SourceReader } from './parsing/parsed-source.ts';
import { createSourceReader } from './parsing/source-reader.ts';
import { createRetrieval, type Retrieval } from './retrieval/create-retrieval.ts';
import { createSourceFiles } from './source-files.ts';
import type { TextEmbedder } from './text-embedder.ts';

/** Methods with an id throw `not_found` for an unknown one. */
export interface Dataspaces extends Pick<DataspaceStore, 'list' | 'create' | 'read' | 'find'> {
  /** Removes a dataspace and its sources. Later searches don't find them. */
  remove(id: string): Promise<void>;
  rename(id: string, name: string): DataspaceSummary;
  /** Newest first. */
  summaries(): DataspaceSummary[];
  /** Stops `Processing` sources. */
  stop(id: string): Promise<DataspaceSummary>;
  reindex(id: string, which: 'failed' | 'outdated' | 'all'): DataspaceSummary;
}

export function createDataspaces(options: SourcesOptions, sources: Pick<Sources, 'stop' | 'reindex'>): Dataspaces {
  const { dataspaces, index, queue, changes, embedder } = options;

  function summary(id: string): DataspaceSummary {
    const { id: known } = dataspaces.read(id);
    return dataspaces.summaries(embedder().model, known)[0]!;
  }

  const idsOf = (id: string, which: Parameters<SourceStore['idsOf']>[1]) =>
    options.sources.idsOf(dataspaces.read(id).id, which, embedder().model);

  /** A change of a dataspace has no source ids, because every notification has all dataspaces. */
  function notify<Value>(value: Value): Value {
    changes.changed();
    return value;
  }

  return {
    list: dataspaces.list,
    find: dataspaces.find,
    read: dataspaces.read,
    create: (name): Dataspace => notify(dataspaces.create(name)),
    async remove(id) {
      const { id: known } = dataspaces.read(id);
      const removed = dataspaces.remove(known);
      changes.removed(...removed);
      await queue.cancel(removed);
      await index.removeDataspace(known);
      await clearRemoved(removed, options);
    },
    rename(id, name) {
      dataspaces.rename(id, name);
      return notify(summary(id));
    },
    summaries: () => dataspaces.summaries(embedder().model),
    async stop(id) {
      await sources.stop(idsOf(id, 'processing'));
      return summary(id);
    },
    reindex(id, which) {
      for (const sourceId of idsOf(id, which)) sources.reindex(sourceId);
      return summary(id);
    },
  };
}

/** Min time between notifications. */
const noticeInterval = 200;

/** Dataspaces with their sources, which ground completions. */
export interface Knowledge {
  readonly dataspaces: Dataspaces;
  readonly sources: Sources;
  readonly index: KnowledgeIndex;
  readonly retrieval: Retrieval;
  /** The current state, as a change. */
  present(): KnowledgeChange;
  /** The current state of everything that has changed. */
  describe(changes: ChangedSources): KnowledgeChange;
  subscribe(listener: (changes: ChangedSources) => void): () => void;
  /** Resolves when indexing has stopped; unfinished sources continue at the next start. */
  close(): Promise<void>;
}

export interface KnowledgeOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'dataspaces' | 'sources' | 'settings'>;
  /** The embedder of the current settings. */
  readonly embedder: () => TextEmbedder;
  /** Starts the processes that parse files. */
  readonly startChild: StartChild;
  readonly log: Log;
  /** Replaces the reader of files in tests. */
  readonly reader?: SourceReader;
}

/** Recovers files that an earlier process had only partly moved, then continues indexing in the background. */
export async function createKnowledge(options: KnowledgeOptions): Promise<Knowledge> {
  const { dataDirectory, storage, embedder, log } = options;
  const files = createSourceFiles(join(dataDirectory, 'sources'));
  const index = createKnowledgeIndex({ directory: dataDirectory });
  const reader = options.reader ?? createSourceReader(options);
  const sourceName = (id: string) => storage.sources.find(id)?.name ?? null;
  const retrieval = createRetrieval({ index, embedder, sourceName, pagesOf: files.readPages, log });
  const changes = createKnowledgeChanges(noticeInterval);
  const shared = { ...options, ...storage, index, reader, files, changes };
  const queue = createIndexingQueue({ ...shared, onChange: (id) => changes.changed(id) });
  const sources = createSources({ ...shared, queue });
  const dataspaces = createDataspaces({ ...shared, queue }, sources);

  await files.recover((id) => storage.sources.find(id) !== null);
  const compare = () =>
    reconcile(shared).catch((error: unknown) => log('the index could not be compared with the database', error));
  let compared = compare().then(() => queue.start());
  // The embedding model determines which sources are outdated.
  const unsubscribe = storage.settings.subscribe(() => changes.changed());
  index.onLost(() => {
    log('The index of the dataspaces was damaged. It is made again from their sources.');
    compared = compared.then(compare).then(() => {
      changes.changed();
      queue.wake();
    });
  });

  return {
    dataspaces,
    sources,
    index,
    retrieval,
    present: () => ({
      dataspaces: dataspaces.summaries(),
      sources: sources.details(queue.current()),
      removedSourceIds: [],
    }),
    describe: ({ changed, removed }) => ({
      dataspaces: dataspaces.summaries(),
      sources: sources.details(changed),
      removedSourceIds: [...removed],
    }),
    subscribe: changes.subscribe,
    async close() {
      unsubscribe();
      await compared;
      await queue.close();
      changes.close();
      await reader.close();
      await index.close();
    },
  };
}
