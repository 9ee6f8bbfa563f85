import { describe, expect, test } from 'vitest';
import { auditFilter, auditSorts, type AuditFilter } from '../../../../shared/contract/audit.ts';
import { aiSystems } from '../../../../shared/contract/common.ts';
import { runStatuses } from '../../../../shared/contract/conversations.ts';
import { auditAddress, readAuditAddress, readFilter, writeFilter } from '../../../../renderer/shell/audit-address.ts';
import { filterChips } from '../../../../renderer/components/run-filter/filter-fields.ts';
import { fc } from '../../../support/fast-check.ts';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const otherId = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const listed = <Value>(value: fc.Arbitrary<Value>) => fc.uniqueArray(value, { minLength: 1, maxLength: 3 });
const range = fc
  .tuple(fc.integer({ min: -10, max: 10 }), fc.integer({ min: 0, max: 10 }))
  .map(([min, length]) => ({ min, max: min + length }));
const headerName = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/).filter((name) => name !== '__proto__');
const dates = fc
  .uniqueArray(fc.integer({ min: 0, max: 2_000_000_000 }), { minLength: 2, maxLength: 2 })
  .map((seconds) => seconds.toSorted((one, other) => one - other).map((at) => new Date(at * 1000).toISOString()));

const filters: fc.Arbitrary<AuditFilter> = fc
  .record(
    {
      text,
      textIn: fc.constantFrom('prompt', 'answer'),
      dates,
      models: listed(text),
      aiSystems: listed(fc.constantFrom(...aiSystems)),
      statuses: listed(fc.constantFrom(...runStatuses)),
      callerIds: listed(fc.constantFrom(id, otherId)),
      tags: listed(text),
      score: range,
      cost: fc.record({ max: fc.double({ min: 0, max: 100, noNaN: true, noDefaultInfinity: true }) }),
      hasFeedback: fc.boolean(),
      feedback: fc.record({ scoreText: text }),
      appHeaders: fc.dictionary(headerName, fc.oneof(text, fc.constant(null)), {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      }),
      workspaceId: fc.constant(id),
      promptVersionId: fc.constant(otherId),
    },
    { requiredKeys: [] },
  )
  .map(({ dates: span, ...filter }) => ({ ...filter, ...(span && { startDate: span[0], endDate: span[1] }) }));

/** What a router and a browser may do to an address on its way. */
const travels = [
  (address: string) => address,
  (address: string) => decodeURI(address),
  (address: string) => decodeURIComponent(address),
  (address: string) => new URL(`http://window.test/#${address}`).hash.slice(1),
];

describe('the address of a filter', () => {
  test('contains the whole filter, also after it was decoded once too often', () => {
    const parts = fc.record({
      filter: filters,
      sort: fc.constantFrom(...auditSorts),
      span: fc.constant(null),
      conversationId: fc.option(fc.constant(id)),
      runId: fc.option(fc.constant(otherId)),
    });
    fc.assert(
      fc.property(parts, fc.constantFrom(...travels), (address, travel) => {
        const stored = { ...address, runId: address.conversationId && address.runId };
        expect(readAuditAddress(travel(auditAddress(address)))).toEqual({ ...stored, ignored: [] });
      }),
      { numRuns: 500 },
    );
  });

  test('is short and readable for common filters', () => {
    const address = auditAddress({
      filter: { text: 'refund promised', score: { min: -10, max: -4 }, appHeaders: { team: 'nordics', ticket: null } },
      sort: 'newest',
      conversationId: null,
      runId: null,
    });
    expect(address).toBe('/audit/text=refund+promised&score=-10..-4&header=team~3Dnordics&header=ticket');
  });

  test('keeps a relative span by its name, and starts it again every day', () => {
    const now = new Date(2026, 10, 20, 9, 30);
    const filter: AuditFilter = { text: 'refund', startDate: new Date(2026, 10, 14).toISOString() };
    const words = writeFilter(filter, 'newest', 'last-7-days');
    expect(words).toBe('text=refund&from=last-7-days');
    expect(readFilter(words, now)).toEqual({ filter, sort: 'newest', span: 'last-7-days', ignored: [] });
    const tomorrow = readFilter(words, new Date(2026, 10, 21, 0, 1)).filter.startDate;
    expect(tomorrow).toBe(new Date(2026, 10, 15).toISOString());
    expect(filterChips(filter, undefined, 'last-7-days')).toEqual([
      { id: 'span', field: 'dates', name: 'Date', value: 'Last 7 days', without: { text: 'refund' } },
    ]);
  });

  test('with the start of a span and its own end is like any other dates', () => {
    const now = new Date(2026, 10, 20, 9, 30);
    const endDate = new Date(2026, 10, 18).toISOString();
    expect(readFilter(`from=this-month&to=${endDate.replaceAll(':', '~3A')}`, now)).toEqual({
      filter: { startDate: new Date(2026, 10, 1).toISOString(), endDate },
      sort: 'newest',
      span: null,
      ignored: [],
    });
  });

  test('is parsed as far as possible if it is damaged, and lists the ignored parts', () => {
    const broken = '/audit/text=refund&from=2026-02-31T00:00:00Z&status=Lost&colour=red&sort=loudest&score=9..1';
    expect(readAuditAddress(broken)).toEqual({
      filter: { text: 'refund' },
      sort: 'newest',
      span: null,
      conversationId: null,
      runId: null,
      ignored: ['colour', 'sort', 'from', 'status', 'score'],
    });
  });

  test('never fails for any words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (words) => {
        const { filter } = readAuditAddress(`/audit/${words}`);
        expect(auditFilter.safeParse(filter).success).toBe(true);
      }),
    );
  });
});

describe('the chips of a filter', () => {
  test('name every part of it, and each removes exactly itself', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const chips = filterChips(filter, undefined);
        let rest = filter;
        for (const { id: chipId } of chips) {
          const chip = filterChips(rest, undefined).find((one) => one.id === chipId);
          rest = chip?.without ?? rest;
        }
        const { text: _text, textIn: _in, ...others } = rest;
        expect(others).toEqual({});
      }),
    );
  });

  test('describe it in words', () => {
    const chips = filterChips(
      {
        score: { min: -10, max: -4 },
        totalMs: { min: 10_000 },
        models: ['gpt-4o', 'gpt-4o-mini', 'gemini-pro'],
        tags: ['tone', 'made-up'],
        appHeaders: { team: 'nordics', ticket: null },
        hasFeedback: false,
      },
      undefined,
    );
    expect(chips.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'Model: gpt-4o or 2 more',
      'Has feedback: no',
      'Score: −10 to −4',
      'Tags: tone and made-up',
      'Latency: at least 10 s',
      'Header team: nordics',
      'Header ticket: absent',
    ]);
  });
});
