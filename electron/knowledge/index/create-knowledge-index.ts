import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../common/worker-url.ts';
import type { IndexAnswer, IndexCalls, IndexLoss, IndexMessage, IndexMethod } from './index-calls.ts';
import type { KnowledgeIndex } from './knowledge-index.ts';

/** Opens the index of a data folder, in a thread that begins when it is first needed. */
export function createKnowledgeIndex({ directory }: { readonly directory: string }): KnowledgeIndex {
  const pending = new Map<number, PromiseWithResolvers<never>>();
  const notCancelled = new AbortController().signal;
  const lossListeners: (() => void)[] = [];
  let worker: Worker | null = null;
  let lastId = 0;
  let isClosed = false;

  function settle({ id, result, failure, code }: IndexAnswer): void {
    const waiting = pending.get(id);
    pending.delete(id);
    // While it is closing it is waited for, whatever else it still says.
    if (pending.size === 0 && !isClosed) worker?.unref();
    if (failure === undefined) waiting?.resolve(result as never);
    else waiting?.reject(Object.assign(new Error(`The knowledge index failed: ${failure}`), { code }));
  }

  function startedWorker(): Worker {
    if (worker) return worker;
    const started = new Worker(workerUrl(import.meta.url, 'knowledge-index-thread'), {
      workerData: { directory },
      // A debugger's or test runner's own options are not for this thread.
      execArgv: [],
    });
    const onEnd = (error: Error) => {
      if (worker !== started) return;
      // The next call begins a new one.
      worker = null;
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    };
    started.on('message', (message: IndexAnswer | IndexLoss) => {
      if (message !== 'lost') settle(message);
      else for (const listener of lossListeners) listener();
    });
    started.on('error', onEnd);
    started.on('exit', () => onEnd(new Error('The thread of the knowledge index ended.')));
    return (worker = started);
  }

  function post(message: IndexMessage): void {
    startedWorker().postMessage(message);
  }

  async function call<Method extends IndexMethod>(
    method: Method,
    input: Parameters<IndexCalls[Method]>[0] | null,
    signal: AbortSignal = notCancelled,
  ): Promise<ReturnType<IndexCalls[Method]>> {
    signal.throwIfAborted();
    if (isClosed) throw new Error('The knowledge index is closed.');
    const id = (lastId += 1);
    const waiting = Promise.withResolvers<never>();
    pending.set(id, waiting);
    post({ id, method, input });
    // While an answer is awaited the process must not end.
    worker?.ref();
    const cancel = () => {
      waiting.reject(signal.reason);
      worker?.postMessage({ cancel: id } satisfies IndexMessage);
      settle({ id });
    };
    signal.addEventListener('abort', cancel, { once: true });
    return waiting.promise.finally(() => signal.removeEventListener('abort', cancel));
  }

  return {
    begin: (revision, { signal }) => call('begin', revision, signal),
    add: (batch, { signal }) => call('add', batch, signal),
    finish: (revision, { signal }) => call('finish', revision, signal),
    removeSources: (sourceIds) => call('removeSources', sourceIds),
    removeDataspace: (dataspaceId) => call('removeDataspace', dataspaceId),
    sources: () => call('sources', null),
    search: (query, { signal }) => call('search', query, signal),
    passages: (page, { signal }) => call('passages', page, signal),
    read: (places, { signal }) => call('read', places, signal),
    onLost: (listener) => void lossListeners.push(listener),
    async close() {
      isClosed = true;
      if (worker === null) return;
      const ending = worker;
      const ended = new Promise((resolve) => void ending.once('exit', resolve));
      ending.ref();
      ending.postMessage('close' satisfies IndexMessage);
      await ended;
    },
  };
}
