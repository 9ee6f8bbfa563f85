import type { Embeddings } from '../on-device/embeddings.ts';
import type { Storage } from '../storage/storage.ts';
import { createKnowledge, type Knowledge } from './create-knowledge.ts';
import { createKnowledgeIndex } from './index/create-knowledge-index.ts';
import { createSourceReader } from './parsing/source-reader.ts';
import { createRetrieval, type Retrieval } from './retrieval/create-retrieval.ts';
import { onDeviceEmbedder } from './text-embedder.ts';

export interface KnowledgeWork {
  readonly knowledge: Knowledge;
  readonly retrieval: Retrieval;
  close(): Promise<void>;
}

export interface KnowledgeWorkOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'dataspaces' | 'sources'>;
  readonly embeddings: Embeddings;
  readonly log: (message: string, error: unknown) => void;
}

/** Dataspaces, their sources, and the search in them, with the threads that read and index. */
export async function createKnowledgeWork(options: KnowledgeWorkOptions): Promise<KnowledgeWork> {
  const { dataDirectory, storage, embeddings, log } = options;
  const onDevice = onDeviceEmbedder(embeddings);
  const embedder = () => onDevice;
  const index = createKnowledgeIndex({ directory: dataDirectory });
  const reader = createSourceReader();
  const sourceName = (id: string) => storage.sources.find(id)?.name ?? null;
  const retrieval = createRetrieval({ index, embedder, sourceName, log });
  const knowledge = await createKnowledge({ dataDirectory, storage, reader, index, embedder, log });
  return {
    knowledge,
    retrieval,
    async close() {
      await knowledge.close();
      await reader.close();
      await index.close();
    },
  };
}
