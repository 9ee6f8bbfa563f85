import type { PromptChange } from '../../shared/contract/prompt-library.ts';
import { createChangeNotifier } from '../common/change-notifier.ts';
import type { Prompts } from './create-prompts.ts';

/** Users make single changes, programs make many at once. */
const tellMilliseconds = 100;

/** Counts the changes of prompts and labels, and notifies subscribers. */
export interface PromptChanges {
  count(): number;
  changed(removedId?: string): void;
  subscribe(listener: (change: PromptChange) => void): () => void;
}

export function createPromptChanges(): PromptChanges {
  let count = 0;
  let listeners = 0;
  let removedIds: string[] = [];
  const notifier = createChangeNotifier((): PromptChange => {
    const change = { changes: count, removedIds };
    removedIds = [];
    return change;
  }, tellMilliseconds);
  return {
    count: () => count,
    changed(removedId) {
      count += 1;
      if (removedId !== undefined && listeners > 0) removedIds.push(removedId);
      notifier.changed();
    },
    subscribe(listener) {
      const unsubscribe = notifier.subscribe(listener);
      listeners += 1;
      return () => {
        listeners -= 1;
        unsubscribe();
      };
    },
  };
}

/** Wraps the prompts. Every change of a prompt or label calls `changed`. */
export function noticeChanges(prompts: Prompts, onChange: (removedId?: string) => void): Prompts {
  const noticed = <Result>(result: Result, removedId?: string): Result => {
    onChange(removedId);
    return result;
  };
  return {
    ...prompts,
    create: (input) => noticed(prompts.create(input)),
    createAll: (inputs, options) => noticed(prompts.createAll(inputs, options)),
    addVersion: (id, input) => noticed(prompts.addVersion(id, input)),
    update: (id, change) => noticed(prompts.update(id, change)),
    remove: (id) => noticed(prompts.remove(id), id.toLowerCase()),
    setLabel: (id, label, input) => noticed(prompts.setLabel(id, label, input)),
    removeLabel: (id, label) => noticed(prompts.removeLabel(id, label)),
  };
}
