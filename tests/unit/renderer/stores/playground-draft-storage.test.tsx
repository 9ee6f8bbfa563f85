import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDraftStorage, type OtherWindowChanges } from '../../../../renderer/stores/playground-draft-storage.ts';
import { patience } from '../../../support/patience.ts';

interface Draft {
  id: string;
  text: string;
}

const channels: BroadcastChannel[] = [];
let stored: PromiseWithResolvers<Draft[]>;

/** What a request of IndexedDB resolves with. jsdom has no IndexedDB, and a browser can't be made to read slowly. */
function requestOf(result: Promise<unknown>): object {
  const request = { result: undefined as unknown, onsuccess: null as (() => void) | null };
  void result.then((value) => {
    request.result = value;
    request.onsuccess?.();
  });
  return request;
}

beforeEach(() => {
  stored = Promise.withResolvers();
  const order = { ids: ['a'], activeId: 'a', version: 1 };
  const objectStore = () => ({
    getAll: () => requestOf(stored.promise),
    get: () => requestOf(Promise.resolve(order)),
  });
  vi.stubGlobal('indexedDB', { open: () => requestOf(Promise.resolve({ transaction: () => ({ objectStore }) })) });
  const Native = globalThis.BroadcastChannel;
  vi.stubGlobal(
    'BroadcastChannel',
    class extends Native {
      constructor(name: string) {
        super(name);
        channels.push(this);
      }
    },
  );
});

afterEach(() => {
  for (const channel of channels.splice(0)) channel.close();
  vi.unstubAllGlobals();
});

test('changes of other windows wait while older drafts are read', async () => {
  const applied: OtherWindowChanges<Draft>[] = [];
  const storage = createDraftStorage<Draft>('drafts-of-a-test', (changes) => {
    applied.push(changes);
    return changes.changed;
  });
  const heard = Promise.withResolvers<void>();
  new BroadcastChannel('drafts-of-a-test').addEventListener('message', () => heard.resolve());
  const other = new BroadcastChannel('drafts-of-a-test');

  const reading = storage.getItem('drafts');
  const newer = { changed: [{ id: 'a', text: 'newer' }], removedIds: ['b'] };
  other.postMessage(newer);
  await heard.promise;
  await new Promise((resolve) => setTimeout(resolve));
  expect(applied).toEqual([]);

  stored.resolve([{ id: 'a', text: 'older' }]);
  expect(await reading).toEqual({
    state: { drafts: [{ id: 'a', text: 'older' }], activeId: 'a' },
    version: 1,
  });
  // The store has what was read before the changes come.
  expect(applied).toEqual([]);
  await vi.waitFor(() => expect(applied).toEqual([newer]), patience);

  const next = { changed: [], removedIds: ['a'] };
  other.postMessage(next);
  await vi.waitFor(() => expect(applied).toEqual([newer, next]), patience);
});
