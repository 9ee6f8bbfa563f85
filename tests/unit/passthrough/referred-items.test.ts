import { expect, test } from 'vitest';
import { withReferredItems } from '../../../electron/passthrough/referred-items.ts';
import type { ReadRequest } from '../../../electron/passthrough/read-call.ts';
import type { Storage } from '../../../electron/storage/storage.ts';

/** A request with references to items, and a storage that has a text for each of them. */
function refer(count: number) {
  const ids = Array.from({ length: count }, (_, index) => `msg_${index}`);
  const content = ids.map((itemId) => ({ type: 'text', text: `[item_reference] ${itemId}`, itemId }));
  const request = {
    messages: [{ role: 'assistant', content }],
    messageKeys: ['key'],
    firstNew: 0,
    configuration: { item_reference: ids },
  };
  let reads = 0;
  const storage = {
    threads: {
      findItem: () => {
        reads += 1;
        return { runId: 'run', item: { text: [0, 1], call: null } };
      },
    },
    runs: { readAnswer: () => ({ content: 'x', toolCalls: [] }) },
  };
  const read = withReferredItems(
    request as unknown as ReadRequest,
    (id) => id,
    storage as unknown as Pick<Storage, 'runs' | 'threads'>,
  );
  return { ids, read, reads };
}

test('references to items become what they were', () => {
  const { read, reads } = refer(3);
  expect(reads).toBe(3);
  expect(read).toMatchObject({
    messages: [{ role: 'assistant', content: [{ type: 'text', text: 'xxx' }] }],
    configuration: {},
  });
  expect(read.configuration).not.toHaveProperty('item_reference');
});

test('more references than a conversation has stay as they are, without a query each', () => {
  const { ids, read, reads } = refer(4097);
  expect(reads).toBe(0);
  expect(read.configuration).toEqual({ item_reference: ids });
  expect(read.messages[0]!.content[4096]).toEqual({ type: 'text', text: '[item_reference] msg_4096' });
});
