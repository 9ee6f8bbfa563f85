import { expect, test } from 'vitest';
import { createCredits, type CreditReservation } from '../../../electron/credits/credits.ts';
import type { AuthenticatedKey } from '../../../electron/storage/storage.ts';
import { fc } from '../../support/fast-check.ts';

function key(change: Partial<AuthenticatedKey> = {}): AuthenticatedKey {
  return {
    id: 'key',
    callerId: 'caller',
    scopes: ['run'],
    creditLimit: 3,
    creditsUsed: 1,
    creditsElsewhere: 0,
    isShared: false,
    requestsPerMinute: null,
    tokensPerMinute: null,
    recordLevel: 'all',
    ...change,
  };
}

/** Without sharing, nobody has to be asked. */
function createLocalCredits() {
  const { use, reserve } = createCredits();
  return { use, reserve: (who: AuthenticatedKey | null) => reserve(who) as CreditReservation };
}

const exhausted = expect.objectContaining({
  code: 'credits_exhausted',
  status: 402,
  message: expect.stringContaining('Whoever runs this Touchstone can raise the limit'),
});

test("active runs count as used, so that parallel requests can't overspend", () => {
  const credits = createLocalCredits();
  const [first, second] = [credits.reserve(key()), credits.reserve(key())];
  expect([first.consumed, first.remaining(), second.remaining()]).toEqual([1, 0, 0]);
  expect(() => credits.reserve(key())).toThrow(exhausted);
});

test('a run that costs nothing returns its credit, once', () => {
  const credits = createLocalCredits();
  const reservation = credits.reserve(key({ creditsUsed: 2 }));
  reservation.release();
  reservation.release();
  expect([reservation.consumed, reservation.remaining()]).toEqual([0, 1]);
  credits.reserve(key({ creditsUsed: 2 }));
  expect(() => credits.reserve(key({ creditsUsed: 2 }))).toThrow(exhausted);
});

test('a raised limit applies at once, and one below the used credits leaves nothing', () => {
  const credits = createLocalCredits();
  credits.reserve(key({ creditLimit: 2 }));
  expect(credits.reserve(key({ creditLimit: 9 })).remaining()).toBe(6);
  expect(() => credits.reserve(key({ creditLimit: 0 }))).toThrow(exhausted);
});

test('a key without a limit, and the window, never run out', () => {
  const credits = createLocalCredits();
  for (const who of [key({ creditLimit: null }), null]) {
    const reservation = credits.reserve(who);
    expect([reservation.consumed, reservation.remaining()]).toEqual([1, null]);
    reservation.release();
  }
  expect(credits.reserve(key({ id: 'other' })).remaining()).toBe(1);
});

test('reservations never exceed the limit, in any order of reserving and releasing', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(), { nil: null })), fc.nat(6), (actions, creditLimit) => {
      const credits = createLocalCredits();
      const out: ReturnType<typeof credits.reserve>[] = [];
      for (const pick of actions) {
        if (pick !== null && out.length > 0) out.splice(pick % out.length, 1)[0]!.release();
        else if (out.length < creditLimit) out.push(credits.reserve(key({ creditLimit, creditsUsed: 0 })));
        else expect(() => credits.reserve(key({ creditLimit, creditsUsed: 0 }))).toThrow(exhausted);
      }
      for (const reservation of out) expect(reservation.remaining()).toBe(creditLimit - out.length);
    }),
  );
});
