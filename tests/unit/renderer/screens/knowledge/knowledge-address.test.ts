import { expect, test } from 'vitest';
import { dataspaceAddress, readKnowledgeAddress, sourceAddress } from '../../../../../renderer/shell/addresses.ts';

test('an address contains a dataspace, a source, or a passage with its offsets', () => {
  const nothing = { dataspaceId: null, sourceId: null, passage: null };
  expect(readKnowledgeAddress('/knowledge')).toEqual(nothing);
  expect(readKnowledgeAddress(dataspaceAddress('d1'))).toEqual({ ...nothing, dataspaceId: 'd1' });
  expect(readKnowledgeAddress(sourceAddress('s1'))).toEqual({ ...nothing, sourceId: 's1' });
  const passage = { start: 20, end: 900 };
  expect(readKnowledgeAddress(sourceAddress('s1', passage))).toEqual({ ...nothing, sourceId: 's1', passage });
});

test('invalid offsets open the source from its start', () => {
  expect(readKnowledgeAddress('/knowledge/sources/s1/x-9')).toEqual({
    dataspaceId: null,
    sourceId: 's1',
    passage: null,
  });
});
