import type { Dataspace } from '../../shared/contract/dataspaces.ts';
import type { DataspaceSummary } from '../../shared/contract/knowledge-window.ts';
import type { DataspaceStore } from '../storage/knowledge/dataspace-store.ts';
import type { SourceStore } from '../storage/knowledge/source-store.ts';
import { clearRemoved, type Sources, type SourcesOptions } from './create-sources.ts';

/** Every method that takes an id throws `not_found` for an unknown one. */
export interface Dataspaces extends Pick<DataspaceStore, 'list' | 'create' | 'read' | 'find'> {
  /** Removes it with its sources, which are in no search that begins after this was called. */
  remove(id: string): Promise<void>;
  rename(id: string, name: string): DataspaceSummary;
  /** Newest first. */
  summaries(): DataspaceSummary[];
  /** Stops what is `Processing`. */
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

  /** Changes of a dataspace itself are told as changes of nothing: every notice brings all dataspaces. */
  function told<Value>(value: Value): Value {
    changes.changed();
    return value;
  }

  return {
    list: dataspaces.list,
    find: dataspaces.find,
    read: dataspaces.read,
    create: (name): Dataspace => told(dataspaces.create(name)),
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
      return told(summary(id));
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
