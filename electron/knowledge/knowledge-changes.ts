/** Changed and removed sources. A removed one is not among the changed ones. */
export interface ChangedSources {
  readonly changed: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** Notifies listeners of changes, and combines those of a short time. */
export interface KnowledgeChanges {
  changed(...sourceIds: string[]): void;
  removed(...sourceIds: string[]): void;
  subscribe(listener: (changes: ChangedSources) => void): () => void;
  close(): void;
}

/** Combines two changes. A removed source stays removed: IDs are never reused. */
export function mergeChanges(before: ChangedSources, after: ChangedSources): ChangedSources {
  const removed = new Set([...before.removed, ...after.removed]);
  const changed = [...before.changed, ...after.changed].filter((id) => !removed.has(id));
  return { changed: new Set(changed), removed };
}

/** `intervalMs` is the min time between two notifications. */
export function createKnowledgeChanges(intervalMs: number): KnowledgeChanges {
  const none: ChangedSources = { changed: new Set(), removed: new Set() };
  const listeners = new Set<(changes: ChangedSources) => void>();
  let pending: ChangedSources | null = null;
  let timer: NodeJS.Timeout | null = null;

  function tell(): void {
    timer = null;
    if (!pending) return;
    const changes = pending;
    pending = null;
    timer = setTimeout(tell, intervalMs).unref();
    for (const listener of listeners) listener(changes);
  }

  function note(changes: ChangedSources): void {
    if (listeners.size === 0) return;
    pending = mergeChanges(pending ?? none, changes);
    timer ??= setTimeout(tell, 0);
  }

  return {
    changed: (...sourceIds) => note({ changed: new Set(sourceIds), removed: new Set() }),
    removed: (...sourceIds) => note({ changed: new Set(), removed: new Set(sourceIds) }),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      if (timer) clearTimeout(timer);
      listeners.clear();
    },
  };
}
