import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Reviewer, ReviewerChange, ReviewerInput } from '../../shared/contract/reviewers.ts';
import { windowVoter } from '../../shared/contract/votes.ts';
import type { ListPage, ListQuery } from '../storage/list-page.ts';
import type { ReviewerStore, StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import type { ApiKeyStore } from '../storage/storage.ts';

/** Who calls. `token` is that of `actAs`, which only the window sends. */
export interface ReviewCaller {
  readonly callerId: string;
  readonly token: string | null;
}

/** Methods with an id throw `not_found`; a taken name or key is `conflict`. */
export interface Reviewers {
  /** Newest first. */
  list(query: ListQuery, caller: ReviewCaller): ListPage<Reviewer>;
  /** Throws `invalid_request` for an unknown API key. */
  create(input: ReviewerInput, caller: ReviewCaller): Promise<Reviewer>;
  /**
   * A reviewer with a PIN changes only for who acts as that reviewer, knows the PIN, or may reset it. Throws `forbidden`, and `rate_limited` after
   * several wrong PINs.
   */
  update(id: string, change: ReviewerChange, caller: ReviewCaller & { readonly mayReset: boolean }): Promise<Reviewer>;
  /** Throws `forbidden` for a reviewer with a PIN, unless the caller acts as that reviewer or may reset it. */
  remove(id: string, caller: ReviewCaller & { readonly mayReset: boolean }): void;
  /** A token with which the window acts as the reviewer. Throws `forbidden` for a wrong PIN, and `rate_limited` after several. */
  actAs(id: string, pin: string | undefined): Promise<{ reviewer: Reviewer; token: string }>;
  /** The reviewer that a caller is; null before the first review. Throws `forbidden` for a token that is no longer valid. */
  find(caller: ReviewCaller): StoredReviewer | null;
  /** As `find`; a caller without one gets one. */
  require(caller: ReviewCaller): StoredReviewer;
}

export interface ReviewersOptions {
  readonly reviewers: ReviewerStore;
  readonly apiKeys: Pick<ApiKeyStore, 'find'>;
}

const hashPin = promisify<string, Buffer, number, Buffer>(scrypt);
const hashBytes = 32;

async function storedPin(pin: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await hashPin(pin, salt, hashBytes);
  return `${salt.toString('base64')}:${hash.toString('base64')}`;
}

async function isPin(stored: string, pin: string): Promise<boolean> {
  const [salt, hash] = stored.split(':').map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer];
  return timingSafeEqual(await hashPin(pin, salt, hashBytes), hash);
}

const maxWrongPins = 5;
const pauseMs = 60_000;
const maxPauseMs = 3_600_000;

/**
 * A PIN has few digits, so guesses must be slow: after five wrong ones there is a pause, and each further one doubles it. Not by the clock of
 * the device, which can be set.
 */
function createPinGuard() {
  const wrong = new Map<string, { count: number; since: number }>();
  return {
    /** Counts before the PIN is compared, so that guesses at the same time don't pass. */
    begin(id: string): void {
      const { count, since } = wrong.get(id) ?? { count: 0, since: 0 };
      const pause = count < maxWrongPins ? 0 : Math.min(maxPauseMs, pauseMs * 2 ** (count - maxWrongPins));
      const seconds = Math.ceil((since + pause - performance.now()) / 1000);
      if (seconds > 0)
        throw new AppError('rate_limited', `The PIN was wrong ${count} times. Try again in ${seconds} seconds.`, {
          retryAfterSeconds: seconds,
        });
      wrong.set(id, { count: count + 1, since: performance.now() });
    },
    noteRight: (id: string) => void wrong.delete(id),
  };
}

/** Throws `forbidden` unless the reviewer has no PIN or this one. */
function createPinCheck() {
  const guard = createPinGuard();
  return async ({ id, name, pinHash }: StoredReviewer, pin: string | undefined, field: string): Promise<void> => {
    if (pinHash === null) return;
    if (pin !== undefined) guard.begin(id);
    if (pin === undefined || !(await isPin(pinHash, pin)))
      throw new AppError(
        'forbidden',
        pin === undefined ? `${name} has a PIN. Give it.` : `This is not the PIN of ${name}.`,
        {
          details: [{ field, issue: pin === undefined ? 'is required' : 'is wrong' }],
        },
      );
    guard.noteRight(id);
  };
}

export function createReviewers({ reviewers: store, apiKeys }: ReviewersOptions): Reviewers {
  const requirePin = createPinCheck();

  function ofToken(token: string): StoredReviewer {
    const found = store.findByToken(token);
    if (found) return found;
    throw new AppError('forbidden', 'The reviewer was removed or has a new PIN. Choose who reviews again.');
  }

  const find = ({ callerId, token }: ReviewCaller) => (token === null ? store.findByCaller(callerId) : ofToken(token));

  const isReviewer = ({ id }: StoredReviewer, caller: ReviewCaller) => find(caller)?.id === id;

  function describe(found: StoredReviewer, caller: ReviewCaller, isYou = isReviewer(found, caller)): Reviewer {
    const { id, name, pinHash, apiKeyId, createdAt } = found;
    return { id, name, hasPin: pinHash !== null, apiKeyId, isYou, createdAt: new Date(createdAt).toISOString() };
  }

  function callerOf(apiKeyId: string): string {
    const key = apiKeys.find(apiKeyId.toLowerCase());
    if (!key) throw invalidField('apiKeyId', 'is not a valid API key');
    return key.callerId;
  }

  return {
    list(query, caller) {
      const { data, continuationToken } = store.list(query);
      return { data: data.map((one) => describe(one, caller)), continuationToken };
    },
    async create({ name, pin, apiKeyId }, caller) {
      const callerId = apiKeyId ? callerOf(apiKeyId) : null;
      const pinHash = pin ? await storedPin(pin) : null;
      return describe(store.create({ name, pinHash, callerId }), caller);
    },
    async update(id, { name, pin, currentPin }, caller) {
      const found = store.read(id);
      // Before the change: a new PIN ends the token of the caller.
      const isYou = isReviewer(found, caller);
      if (!caller.mayReset && !isYou) await requirePin(found, currentPin, 'currentPin');
      store.update(id, { name, pinHash: pin ? await storedPin(pin) : pin });
      return describe(store.read(id), caller, isYou);
    },
    remove(id, caller) {
      const found = store.read(id);
      if (found.pinHash !== null && !caller.mayReset && !isReviewer(found, caller))
        throw new AppError('forbidden', `${found.name} has a PIN. Review under this name, then remove it.`);
      store.remove(id);
    },
    async actAs(id, pin) {
      const found = store.read(id);
      await requirePin(found, pin, 'pin');
      const token = store.tokenOf(found);
      return { reviewer: describe(found, { callerId: '', token }), token };
    },
    find,
    require: (caller) => find(caller) ?? store.ensureForCaller(caller.callerId, windowVoter),
  };
}
