import { join } from 'node:path';
import type { StartChild } from '../child-process/child.ts';
import type { Log } from '../log.ts';
import type { Embeddings } from '../on-device/embeddings.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { Storage } from '../storage/storage.ts';
import { createKnowledge, type Knowledge } from './create-knowledge.ts';
import { createKnowledgeIndex } from './index/create-knowledge-index.ts';
import { createSourceReader } from './parsing/source-reader.ts';
import { createRetrieval, type Retrieval } from './retrieval/create-retrieval.ts';
import { createSourceFiles } from './source-files.ts';
import { createTextEmbedders } from './text-embedder.ts';

export interface KnowledgeWork {
  readonly knowledge: Knowledge;
  readonly retrieval: Retrieval;
  close(): Promise<void>;
}

export interface KnowledgeWorkOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'dataspaces' | 'sources' | 'settings'>;
  readonly embeddings: Embeddings;
  readonly providers: Pick<Providers, 'provider' | 'endpointProvider'>;
  readonly startChild: StartChild;
  readonly log: Log;
}

/** Dataspaces, their sources, and the search in them, with the threads that read and index. */
export async function createKnowledgeWork(options: KnowledgeWorkOptions): Promise<KnowledgeWork> {
  const { dataDirectory, storage, embeddings, providers, startChild, log } = options;
  const settings = () => storage.settings.read().embeddings;
  const embedder = createTextEmbedders({ settings, embeddings, providers });
  const index = createKnowledgeIndex({ directory: dataDirectory });
  const reader = createSourceReader({ startChild });
  const sourceName = (id: string) => storage.sources.find(id)?.name ?? null;
  const pagesOf = createSourceFiles(join(dataDirectory, 'sources')).readPages;
  const retrieval = createRetrieval({ index, embedder, sourceName, pagesOf, log });
  const knowledge = await createKnowledge({ dataDirectory, storage, reader, index, embedder, log });
  // Which sources are outdated follows from the choice of the embedding model.
  const unsubscribe = storage.settings.subscribe(knowledge.refresh);
  return {
    knowledge,
    retrieval,
    async close() {
      unsubscribe();
      await knowledge.close();
      await reader.close();
      await index.close();
    },
  };
}
