import { expect, test } from 'vitest';
import { CapturedBytes, captureText } from '../../../electron/provider-exchanges/exchange-log.ts';
import { redactHeaders, redactUrl, secretForms } from '../../../electron/provider-exchanges/redact.ts';
import { maxExchangeBodyBytes } from '../../../shared/contract/provider-exchanges.ts';
import { fc } from '../../support/fast-check.ts';

const key = 'sk-live/with+odd "characters"';
const secrets = secretForms(key);

/** Every character as an escape of JSON. */
function escaped(text: string): string {
  return [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

test('headers that carry credentials lose their value, others only the key', () => {
  const headers: [string, string][] = [
    ['Authorization', 'Bearer abc'],
    ['x-goog-api-key', 'abc'],
    ['Cookie', 'a=1'],
    ['x-ratelimit-remaining-tokens', '12'],
    ['x-trace', `for ${key}`],
  ];
  expect(redactHeaders(headers, secrets)).toEqual([
    ['Authorization', '[redacted]'],
    ['x-goog-api-key', '[redacted]'],
    ['Cookie', '[redacted]'],
    ['x-ratelimit-remaining-tokens', '12'],
    ['x-trace', 'for [redacted]'],
  ]);
});

test.each([
  'Authorization',
  'Proxy-Authorization',
  'x-api-key',
  'api-key',
  'apikey',
  'X-Goog-Api-Key',
  'x-auth-token',
  'x-amz-security-token',
  'ocp-apim-subscription-key',
  'set-cookie',
  'Helicone-Auth',
  'cf-aig-authorization',
  'x-portkey-virtual-key',
  'cf-access-client-secret',
])('the header %s loses its value', (name) => {
  expect(redactHeaders([[name, 'abc']], [])).toEqual([[name, '[redacted]']]);
});

test.each(['idempotency-key', 'x-ratelimit-limit-tokens', 'openai-organization', 'www-authenticate', 'x-author'])(
  'the header %s has no credential',
  (name) => {
    expect(redactHeaders([[name, 'abc']], [])).toEqual([[name, 'abc']]);
  },
);

test('query parameters that carry credentials lose their value, and the URL never contains the key', () => {
  const url = `https://host.test/v1/${encodeURIComponent(key)}/chat?alt=sse&KEY=abc&note=${encodeURIComponent(key)}`;
  expect(redactUrl(url, secrets)).toBe('https://host.test/v1/[redacted]/chat?alt=sse&KEY=[redacted]&note=[redacted]');
});

test('a body contains the key in no form, wherever the chunks end', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constant(key))), fc.integer({ min: 1, max: 9 }), (parts, size) => {
      const text = JSON.stringify(parts) + parts.join('');
      const bytes = Buffer.from(text);
      const captured = new CapturedBytes();
      for (let start = 0; start < bytes.length; start += size) captured.append(bytes.subarray(start, start + size));
      const read = captured.read(secrets);
      expect(read).toEqual(captureText(text, secrets));
      expect(secrets.some((secret) => read.text.includes(secret))).toBe(false);
    }),
  );
});

test.each([
  ['slashes', (text: string) => text.replaceAll('/', String.raw`\/`)],
  ['every character', escaped],
  ['every character, in capitals', (text: string) => escaped(text).replaceAll(/(?<=u)..../g, (c) => c.toUpperCase())],
])('a body that escapes %s does not contain the key', (_what, escape) => {
  const text = `{"error":"Wrong key: ${escape('sk/live-N0pe+')}","path":"a\\/b\\u002d"}`;
  const without = '{"error":"Wrong key: [redacted]","path":"a\\/b\\u002d"}';
  expect(captureText(text, secretForms('sk/live-N0pe+')).text).toBe(without);
});

test('a body that is cut inside an escaped key does not contain its start', () => {
  const start = `"${'x'.repeat(maxExchangeBodyBytes - 20)}`;
  const { text, isCut } = captureText(start + escaped('sk/live-N0pe+'), secretForms('sk/live-N0pe+'));
  expect([isCut, text.includes(String.raw`\u`)]).toEqual([true, false]);
});

test('a body is truncated, and its size is that of the whole', () => {
  const captured = new CapturedBytes();
  const chunk = Buffer.alloc(700_000, 'é');
  for (let count = 0; count < 4; count += 1) captured.append(chunk);
  expect(captured.size).toBe(maxExchangeBodyBytes);
  const { text, ...rest } = captured.read([]);
  expect([text.length <= maxExchangeBodyBytes, rest]).toEqual([true, { bytes: 2_800_000, isCut: true }]);
  const long = captureText('é'.repeat(maxExchangeBodyBytes), []);
  expect([Buffer.byteLength(long.text) <= maxExchangeBodyBytes + 3, long.isCut]).toEqual([true, true]);
});
