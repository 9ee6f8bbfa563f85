/** The tests of `npm run test:faults`; `npm test` runs them too, with the rest. */
export const faultTests = [
  'tests/unit/storage/kill.test.ts',
  'tests/unit/storage/retry-buffer.test.ts',
  'tests/unit/storage/disk-failure.test.ts',
  'tests/unit/audit/evidence/kill.test.ts',
  'tests/unit/audit/samples/kill.test.ts',
  'tests/unit/audit/retention/kill.test.ts',
  'tests/unit/audit/retention/clock-trust.test.ts',
  'tests/unit/key-store/key-store.test.ts',
  'tests/unit/key-store/keychain-failures.test.ts',
  'tests/unit/knowledge/sources.test.ts',
  'tests/unit/providers/provider-lists.test.ts',
  'tests/unit/providers/size-limits.test.ts',
  'tests/unit/team/kill.test.ts',
  'tests/contract/sources-kill.test.ts',
  'tests/contract/comparisons-kill.test.ts',
  'tests/contract/faults.test.ts',
];

/** Longer runs of the same, which `npm test` leaves out. */
export const faultBenchmarks = ['audit-kills', 'indexing-kills', 'compare-kills', 'team-kills'];
