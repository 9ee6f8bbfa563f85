import type { SourceStore } from '../storage/knowledge/source-store.ts';
import type { KnowledgeIndex } from './index/knowledge-index.ts';
import type { SourceFiles } from './source-files.ts';

export interface ReconcileOptions {
  readonly sources: SourceStore;
  readonly files: SourceFiles;
  readonly index: KnowledgeIndex;
}

/** Clears what sources that are gone have left behind; begun again at the next start if the process ends within it. */
export async function clearRemoved(ids: readonly string[], { sources, files, index }: ReconcileOptions): Promise<void> {
  if (ids.length === 0) return;
  await index.removeSources(ids);
  await files.remove(ids);
  sources.cleared(ids);
}

/**
 * Brings the index in line with what the database says, whatever the process was doing when it ended: the index forgets
 * sources that are unknown, and sources are read again of which it knows nothing.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { sources, index } = options;
  await clearRemoved(sources.removed(), options);
  const kept = sources.kept();
  // The index is not even opened for those who have no use for it.
  if (kept.length === 0) return;
  const indexed = await index.sources();
  const unknown = indexed.filter(({ sourceId }) => sources.find(sourceId) === null);
  await index.removeSources([...new Set(unknown.map(({ sourceId }) => sourceId))]);
  const findable = new Set(indexed.filter(({ isFinished }) => isFinished).map(({ sourceId }) => sourceId));
  for (const { id, status } of kept) {
    if (status === 'Ready' && !findable.has(id)) sources.requeue(id);
  }
}
