import { expect, test } from 'vitest';
import { callerName } from '../../../../../renderer/components/run-filter/filter-fields.ts';
import type { AuditFacets } from '../../../../../shared/contract/audit.ts';

const [windowCallerId, job, unknown] = [
  'aaaa0000-0000-4000-8000-000000000001',
  'bbbb0000-0000-4000-8000-000000000002',
  'cccc0000-0000-4000-8000-000000000003',
] as const;

test('a caller is this window, the name of an API key, or a short id', () => {
  const callers = [
    { callerId: windowCallerId, name: null, runs: 3 },
    { callerId: job, name: 'Nightly job', runs: 2 },
    { callerId: unknown, name: null, runs: 1 },
  ];
  const facets = { windowCallerId, callers } as unknown as AuditFacets;
  expect([windowCallerId, job, unknown].map((id) => callerName(id, facets))).toEqual([
    'This window',
    'Nightly job',
    'cccc…0003',
  ]);
});
