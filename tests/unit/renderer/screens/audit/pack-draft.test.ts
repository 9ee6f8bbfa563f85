import { expect, test } from 'vitest';
import { columnName } from '../../../../../renderer/screens/audit/evidence/pack-draft.ts';
import { replayOf } from '../../../../../renderer/screens/audit/selection-words.ts';

test.each([
  ['conversationId', 'Conversation ID'],
  ['dataspaceIds', 'Dataspace IDs'],
  ['aiSystem', 'Provider'],
  ['firstTokenMs', 'First token (ms)'],
  ['systemMessage', 'System message'],
] as const)('the column %s is called "%s"', (column, name) => {
  expect(columnName(column)).toBe(name);
});

test('a replay of the open run quotes its name', () => {
  const open = { runId: '1', name: 'When are you open?' };
  expect(replayOf({ isAll: false, rows: new Map() }, { filter: {}, source: 'device' }, open).subject).toBe(
    '"When are you open?"',
  );
});
