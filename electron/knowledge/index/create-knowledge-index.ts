import { createWorkerClient, startThread } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { KnowledgeIndex } from './knowledge-index.ts';
import type { IndexMethods } from './knowledge-index-thread.ts';

/** Opens the index of a data folder in a thread that starts with the first call. */
export function createKnowledgeIndex({ directory }: { readonly directory: string }): KnowledgeIndex {
  const lossListeners: (() => void)[] = [];
  const { call, dispose } = createWorkerClient<IndexMethods>({
    name: 'The knowledge index',
    start: () => startThread(workerUrl(import.meta.url, 'knowledge-index-thread'), { data: { directory } }),
    onEvent() {
      for (const listener of lossListeners) listener();
    },
  });
  return {
    begin: (revision, options) => call('begin', revision, options),
    add: (batch, options) => call('add', batch, options),
    finish: (revision, options) => call('finish', revision, options),
    removeSources: (sourceIds) => call('removeSources', sourceIds),
    removeDataspace: (dataspaceId) => call('removeDataspace', dataspaceId),
    sources: () => call('sources', null),
    search: (query, options) => call('search', query, options),
    passages: (page, options) => call('passages', page, options),
    read: (references, options) => call('read', references, options),
    onLost: (listener) => void lossListeners.push(listener),
    close: dispose,
  };
}
