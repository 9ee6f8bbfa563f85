import { AppError } from '../../shared/app-error.ts';
import type { WorkerClient } from '../common/worker-client.ts';
import type { CreditLeases } from '../credits/credits.ts';
import type { Log } from '../log.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import type { SharedKeys } from '../storage/shared-keys.ts';
import type { KeysEvent } from './key-exchange.ts';
import type { TeamMethods } from './team-client.ts';

/** The host's side of API keys that several hosts share. */
export interface KeySharing {
  readonly leases: CreditLeases;
  /** How long reserved credits stay reserved when this host isn't heard of. */
  readonly leaseMs: number;
  /** Whether credits have been reserved since the start. */
  readonly hasLeases: boolean;
  note(event: KeysEvent): void;
  /**
   * Throws `team_unavailable` if the keys haven't been compared with the team database for too long. A host that reaches it and may not
   * share keys goes on with those that only it has.
   */
  requireKnown(key: AuthenticatedKey | null): void;
}

export interface KeySharingOptions {
  readonly client: () => WorkerClient<TeamMethods>;
  readonly keys: SharedKeys;
  /** How long this host accepts the keys that it knows while the team database can't be reached. */
  readonly offlineMs: number;
  readonly log: Log;
  readonly now?: () => number;
}

/** How long shared keys work while the team database can't be reached. */
export const defaultTeamOfflineMinutes = 60;

/** Runs that started before the end of the offline time may still end. */
const leaseMarginMs = 10 * 60_000;

export function createKeySharing(options: KeySharingOptions): KeySharing {
  const { client, keys, offlineMs, log, now = () => performance.now() } = options;
  let lostAt: number | null = now();
  let failure = 'It has not been reached since the start.';
  let hasLeases = false;
  /** Stays set while the database is away. */
  let isRejected = false;
  let reclaim: (keyId: string | null) => void = () => {};

  const isLocal = (key: AuthenticatedKey): boolean => isRejected && !key.isShared;
  const isTooLong = (): boolean => lostAt !== null && now() - lostAt > offlineMs;

  return {
    leaseMs: offlineMs + leaseMarginMs,
    get hasLeases() {
      return hasLeases;
    },
    leases: {
      isLocal,
      acquire(request) {
        hasLeases = true;
        return client().call('acquireCredits', request);
      },
      lower: (keyId, ceiling) => client().notify('lowerCredits', { keyId, ceiling }),
      onReclaim(listener) {
        reclaim = listener;
      },
    },
    note({ failure: reason, isRejected: rejected, changes }) {
      isRejected = rejected || (isRejected && reason !== null);
      if (reason !== null) {
        failure = reason;
        lostAt ??= now();
        log(`API keys and credits aren't shared at the moment. ${reason}`);
        return;
      }
      lostAt = null;
      if (changes === null) return;
      keys.store(changes.team, changes.changed);
      keys.forget(changes.missing);
      keys.storeUse(changes.uses);
      changes.reclaimed.forEach(reclaim);
    },
    requireKnown(key) {
      if (!isTooLong() || (isRejected && !key?.isShared)) return;
      // Other hosts may use what this one had in reserve.
      reclaim(null);
      const minutes = Math.round(offlineMs / 60_000);
      throw new AppError(
        'team_unavailable',
        `This host accepts no API keys, because it hasn't reached the team database for more than ${minutes} minutes (--team-offline-minutes). ${failure}`,
        { retryAfterSeconds: 5 },
      );
    },
  };
}
