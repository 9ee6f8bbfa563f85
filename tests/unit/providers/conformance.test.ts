import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { capabilities } from '../../../shared/contract/capability-tests.ts';
import {
  type ConformanceColumn,
  runConformance,
  tableFile,
  writeConformance,
} from '../../support/conformance-table.ts';

let columns: ConformanceColumn[];
beforeAll(async () => {
  columns = await runConformance();
});

it('finds one result of every capability for every provider', () => {
  for (const { results } of columns)
    expect(results.map(({ capability }) => capability).toSorted()).toEqual([...capabilities].toSorted());
});

it('is what docs/conformance.md says; npm run tool -- conformance writes it', async () => {
  expect(readFileSync(tableFile, 'utf8')).toBe(await writeConformance(columns));
});
