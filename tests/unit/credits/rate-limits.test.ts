import { expect, test } from 'vitest';
import { createRateLimits } from '../../../electron/credits/rate-limits.ts';

function setUp() {
  let time = 0;
  return { limits: createRateLimits(() => time), wait: (seconds: number) => void (time += seconds * 1000) };
}

const key = { id: 'a', requestsPerMinute: 2 as number | null, tokensPerMinute: null as number | null };
const limited = (seconds: number) => expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: seconds });

test('a key has its requests in every minute, which starts with the first one', () => {
  const { limits, wait } = setUp();
  limits.takeRequest(key);
  wait(20);
  limits.takeRequest(key);
  expect(() => limits.takeRequest(key)).toThrow(limited(40));
  limits.takeRequest({ ...key, id: 'b' });
  wait(39.5);
  expect(() => limits.takeRequest(key)).toThrow(limited(1));
  wait(0.5);
  limits.takeRequest(key);
  expect(limits.headersFor(key)).toEqual({
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '60',
  });
});

test("reserves tokens before a run, and replaces the estimate with the provider's count", () => {
  const { limits } = setUp();
  const own = { ...key, requestsPerMinute: null, tokensPerMinute: 100 };
  const run = limits.reserveTokens(own, 60);
  expect(() => limits.reserveTokens(own, 60)).toThrow(limited(60));
  run.correct(30);
  run.correct(1000);
  expect(limits.headersFor(own)['ratelimit-remaining']).toBe('70');
  limits.reserveTokens(own, 60).correct(0);
  expect(limits.headersFor(own)['ratelimit-remaining']).toBe('70');
});

test("a run larger than the limit gets a separate minute, and doesn't count in the next", () => {
  const { limits, wait } = setUp();
  const own = { ...key, requestsPerMinute: null, tokensPerMinute: 100 };
  const run = limits.reserveTokens(own, 5000);
  expect(() => limits.reserveTokens(own, 1)).toThrow(limited(60));
  wait(60);
  run.correct(4000);
  expect(limits.headersFor(own)['ratelimit-remaining']).toBe('100');
});

test('a run that ends in a later minute takes nothing off what other runs use in it', () => {
  const { limits, wait } = setUp();
  const own = { ...key, requestsPerMinute: null, tokensPerMinute: 1000 };
  const run = limits.reserveTokens(own, 900);
  const longer = limits.reserveTokens(own, 50);
  wait(60);
  limits.reserveTokens(own, 800).correct(800);
  run.correct(50);
  expect(limits.headersFor(own)['ratelimit-remaining']).toBe('200');
  longer.correct(80);
  expect(limits.headersFor(own)['ratelimit-remaining']).toBe('170');
});

test('the headers contain the limit that is reached first', () => {
  const { limits } = setUp();
  const own = { ...key, requestsPerMinute: 10, tokensPerMinute: 100 };
  limits.takeRequest(own);
  expect(limits.headersFor(own)).toMatchObject({ 'ratelimit-limit': '10', 'ratelimit-remaining': '9' });
  limits.reserveTokens(own, 50);
  expect(limits.headersFor(own)).toMatchObject({ 'ratelimit-limit': '100', 'ratelimit-remaining': '50' });
  expect(limits.headersFor({ ...own, requestsPerMinute: null, tokensPerMinute: null })).toEqual({});
});
