import { join } from 'node:path';
import type { KnowledgeChange } from '../../shared/contract/knowledge-window.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { createDataspaces, type Dataspaces } from './create-dataspaces.ts';
import { createSources, reconcile, type Sources } from './create-sources.ts';
import type { KnowledgeIndex } from './index/knowledge-index.ts';
import { IndexingQueue } from './indexing-queue.ts';
import { createKnowledgeChanges, type ChangedSources } from './knowledge-changes.ts';
import type { SourceReader } from './parsing/parsed-source.ts';
import { createSourceFiles } from './source-files.ts';
import type { TextEmbedder } from './text-embedder.ts';

/** Followers hear of changes this often at most, in milliseconds. */
const noticeInterval = 200;

/** What completions are grounded on: dataspaces with their sources. */
export interface Knowledge {
  readonly dataspaces: Dataspaces;
  readonly sources: Sources;
  /** What there is now, as a change. */
  present(): KnowledgeChange;
  /** Describes what has changed as it is now. */
  describe(changes: ChangedSources): KnowledgeChange;
  subscribe(listener: (changes: ChangedSources) => void): () => void;
  /** Tells listeners that what is said of dataspaces may have changed, though no source has. */
  refresh(): void;
  /** Resolves when nothing is being indexed any more; what was not finished goes on at the next start. */
  close(): Promise<void>;
}

export interface KnowledgeOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'dataspaces' | 'sources'>;
  readonly reader: SourceReader;
  readonly index: KnowledgeIndex;
  /** The present one. */
  readonly embedder: () => TextEmbedder;
  readonly log: Log;
}

/** Puts files in their places that the process before left elsewhere, and then goes on, by itself, with what it left undone. */
export async function createKnowledge(options: KnowledgeOptions): Promise<Knowledge> {
  const { storage, log } = options;
  const files = createSourceFiles(join(options.dataDirectory, 'sources'));
  const changes = createKnowledgeChanges(noticeInterval);
  const shared = { ...options, ...storage, files, changes };
  const queue = new IndexingQueue({ ...shared, onChange: (id) => changes.changed(id) });
  const sources = createSources({ ...shared, queue });
  const dataspaces = createDataspaces({ ...shared, queue }, sources);

  await files.recover((id) => storage.sources.find(id) !== null);
  const compare = () =>
    reconcile(shared).catch((error: unknown) => log('the index could not be compared with the database', error));
  let compared = compare().then(() => queue.start());
  options.index.onLost(() => {
    log('The index of the dataspaces was damaged. It is made again from their sources.');
    compared = compared.then(compare).then(() => {
      changes.changed();
      queue.wake();
    });
  });

  return {
    dataspaces,
    sources,
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
    refresh: () => changes.changed(),
    async close() {
      await compared;
      await queue.close();
      changes.close();
    },
  };
}
