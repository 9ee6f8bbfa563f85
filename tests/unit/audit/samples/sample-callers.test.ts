import { expect, test } from 'vitest';
import { nameSampleCallers } from '../../../../electron/audit/samples/sample-callers.ts';
import { createSampleSet } from '../../../../electron/audit/samples/sample-set.ts';
import type { AuditFacets } from '../../../../shared/contract/audit.ts';

test("the sample teams have names, and other callers don't", () => {
  const ids = [...new Set([...createSampleSet(Date.UTC(2026, 10, 20))].map(({ callerId }) => callerId))].toSorted();
  const callers = [...ids, 'other'].map((callerId) => ({ callerId, name: null, runs: 1 }));
  const keyed = { callerId: 'key', name: 'Nightly job', runs: 1 };
  const facets = { callers: [...callers, keyed] } as unknown as AuditFacets;
  expect(nameSampleCallers(facets).callers.map(({ name }) => name)).toEqual([
    'Support team',
    'Engineering team',
    'Legal team',
    'Research team',
    'Localisation team',
    'Sales team',
    null,
    'Nightly job',
  ]);
});
