import { describe, expect, test, vi } from 'vitest';
import { createRedactor, type MatchListener } from '../../../../electron/audit/evidence/redaction.ts';
import type { RedactionRule } from '../../../../shared/contract/audit-exports.ts';

const builtIn: RedactionRule[] = [{ kind: 'email' }, { kind: 'phone' }, { kind: 'card' }, { kind: 'account' }];

function redact(text: string, rules: RedactionRule[] = builtIn): string {
  return createRedactor(rules).text(text);
}

describe('rules replace', () => {
  test.each([
    ['Write to jane.doe+x@mail.example.co.uk today', 'Write to [e-mail] today'],
    ['jörg@exämple.de, MAX@EXAMPLE.COM.', '[e-mail], [e-mail].'],
    ['Call +49 (0)30 1234567 or 0170/1234567', 'Call [phone] or [phone]'],
    ['(212) 555-0182 and 212-555-0182 and 0044 20 7946 0958', '[phone] and [phone] and [phone]'],
    ['08780201-fax, 08780201-f13e', '[phone]-fax, [phone]-f13e'],
    ['4111 1111 1111 1111 12/27', '[card] 12/27'],
    ['card 5500-0000-0000-0004, amex 378282246310005', 'card [card], amex [card]'],
    ['[7,4111111111111111] in 2026. 4111111111111111 paid.4111111111111111', '[7,[card]] in 2026. [card] paid.[card]'],
    ['DE89 3704 0044 0532 0130 00 is mine', '[account] is mine'],
    ['gb82west12345698765432', '[account]'],
    ['{"a":"Call\\n+49 30 1234567","b":"ann\\u0061\\u0040example.com"}', '{"a":"Call\\n[phone]","b":"[e-mail]"}'],
    ['{"a":"\\nDE89 3704 0044 0532 0130 00\\tj\\u00f6rg@example.com"}', '{"a":"\\n[account]\\t[e-mail]"}'],
    ['MT73 MALT 01100 01234 konto 12345678 99', '[account]'],
    ['Kontonummer: 12345678, account no. 123-456-789', 'Kontonummer: [account], account no. [account]'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe("rules don't replace", () => {
  test.each([
    'on 2026-11-20 at 12:30:45, 01.02.2026, 2026-11-20T09:30:00.000Z',
    'order 123456789 of 1,234,567.89 EUR from 192.168.10.100',
    '4111111111111112 fails the check',
    '{"probability":0.5493117033550109}',
    'DE88 is a road, AB12CDEF34567890123 is no IBAN of a country',
    '550e8400-e29b-41d4-a716-446655440000',
    '08780201-f13e-48c0-a429-50cfe93a1f18 00780201-A13E-48C0-A429-50CFE93A1F18',
    'user@localhost and @mention',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

test('numbers with check digits take precedence over the other rules, in any order of rules', () => {
  const rules: RedactionRule[] = [{ kind: 'phone' }, { kind: 'card' }, { kind: 'account' }];
  expect(redact('DE89 3704 0044 0532 0130 00', rules)).toBe('[account]');
});

test('custom patterns match with and without case, and insert their replacement', () => {
  const pattern = { kind: 'pattern', name: 'order', pattern: '\\bNW-\\d+' } as const;
  expect(redact('NW-12 nw-34 é NW-5 \u{1F600} NW-6', [pattern])).toBe('[order] [order] é [order] \u{1F600} [order]');
  expect(redact('NW-12 nw-34', [{ ...pattern, isCaseSensitive: true, replacement: '$&' }])).toBe('$& nw-34');
});

test.each([
  ['[', 'is not a valid regular expression: missing closing ]: `[`'],
  ['(a)\\1', 'is not a valid regular expression: invalid escape sequence: `\\1`'],
  ['(?=a)', 'is not a valid regular expression: invalid or unsupported Perl syntax: `(?=`'],
  ['((a{100}){100}){100}', 'is not a valid regular expression: invalid repeat count: `{100}`'],
  ['x*', 'must not match empty text'],
])('rejects the pattern %s by name', (pattern, issue) => {
  const rules: RedactionRule[] = [{ kind: 'email' }, { kind: 'pattern', name: 'own', pattern }];
  expect(() => createRedactor(rules)).toThrow(
    expect.objectContaining({ code: 'invalid_request', details: [{ field: 'rules[1].pattern', issue }] }),
  );
});

test('searches every text, number and name of a value, and loses nothing if names become equal', () => {
  const redactor = createRedactor(builtIn);
  const value = {
    to: ['a@example.com', { card: 4111111111111111, amount: 12.5, share: 0.5493117033550109 }],
    'b@example.com': 1,
    'c@example.com': 2,
  };
  expect(redactor.value(value)).toEqual({
    to: ['[e-mail]', { card: '[card]', amount: 12.5, share: 0.5493117033550109 }],
    '[e-mail]': 1,
    '[e-mail] (2)': 2,
  });
  expect(redactor.value(JSON.parse('{"__proto__": "a@example.com"}'))).toEqual(JSON.parse('{"__proto__": "[e-mail]"}'));
  expect(redactor.counts).toEqual([4, 0, 1, 0]);
});

test('numbers many names that become equal without trying every number for each', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `${index}@example.com`);
  const value = Object.fromEntries([['[e-mail] (3)', 'first'], ...names.map((name) => [name, 1])]);
  const tries = vi.spyOn(Object, 'hasOwn');
  const redacted = Object.keys(createRedactor(builtIn).value(value) as object);
  const { length } = tries.mock.calls.filter(([, name]) => String(name).startsWith('[e-mail]'));
  tries.mockRestore();
  expect(redacted).toHaveLength(1001);
  expect(redacted.slice(0, 4)).toEqual(['[e-mail] (3)', '[e-mail]', '[e-mail] (2)', '[e-mail] (4)']);
  expect(redacted.at(-1)).toBe('[e-mail] (1001)');
  expect(length).toBeGreaterThan(1000);
  expect(length).toBeLessThan(3000);
});

test('reports every position with the text around it', () => {
  const found: string[] = [];
  const listener: MatchListener = (rule, text, { start, end }) => found.push(`${rule}: ${text.slice(start, end)}`);
  createRedactor(builtIn).text('a@example.com, +49 30 123456', listener);
  expect(found).toEqual(['0: a@example.com', '1: +49 30 123456']);
});

test('hostile texts for regular expressions take no longer than others', () => {
  const patterns: RedactionRule[] = [{ kind: 'pattern', name: 'own', pattern: '(a+)+$' }, ...builtIn];
  // With backtracking the first of these alone would outlast the test's time limit many times.
  const hostile = ['a', '1 ', '@', 'a@', '+1', 'DE89', 'A1 ', 'konto ', '4 ', 'a.', '0', '4-'].map((part) =>
    part.repeat(100_000 / part.length),
  );
  for (const text of hostile) expect(createRedactor(patterns).text(`${text}!`).length).toBeGreaterThan(0);
});

describe('keys and tokens', () => {
  const secret: RedactionRule[] = [{ kind: 'secret' }];
  const bodyOf = (length: number) => 'aB3xYz'.repeat(Math.ceil(length / 6)).slice(0, length);

  test.each([
    [`use sk-proj-${bodyOf(40)}.`, 'use [key].'],
    [`ANTHROPIC_API_KEY=sk-ant-api03-${bodyOf(60)}`, 'ANTHROPIC_API_KEY=[key]'],
    [`?key=AIza${bodyOf(35)}&x=1`, '?key=[key]&x=1'],
    [`AKIAIOSFODNN7EXAMPLE, ghp_${bodyOf(36)}, ts_${bodyOf(40)}`, '[key], [key], [key]'],
    [`Authorization: Bearer ${bodyOf(30)}+/=`, 'Authorization: Bearer [key]'],
    [`eyJ${bodyOf(20)}.${bodyOf(30)}.${bodyOf(20)}`, '[key]'],
    [`Bearer ${bodyOf(450)} and access_token=${bodyOf(450)}&$top=1`, 'Bearer [key] and access_token=[key]'],
    ['{"password": "hunter2hunter"}', '{"password": "[key]"}'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest', '[key]\nrest'],
    ['-----BEGIN PRIVATE KEY-----\nabc', '[key]'],
  ])('replaces %s', (text, expected) => {
    expect(redact(text, secret)).toBe(expected);
  });

  test.each([
    'sk-a-long-name-with-hyphens-only, ts_node and task-2026-11-20-release',
    'const apiKey = process.env.API_KEY; password: string; token = readToken()',
    'password="${PASSWORD_1}"',
    '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----',
    '550e8400-e29b-41d4-a716-446655440000 and 9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d',
  ])("doesn't replace %s", (text) => {
    expect(redact(text, secret)).toBe(text);
  });

  test.each([
    'sk-',
    'eyJ',
    'eyJaaaaaaaa.',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    'bearer ',
    'password=',
    'password=1',
    'a',
    '\\',
  ])('reads a megabyte of %j at once', (part) => {
    const text = part.repeat(Math.ceil(1_048_576 / part.length));
    expect(redact(text, secret).length).toBeLessThanOrEqual(text.length);
  });
});
