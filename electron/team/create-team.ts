import { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import type { TeamInput, TeamState } from '../../shared/contract/team.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret, type Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { formatTeamAddress, parseTeamAddress, type TeamAddress } from './address.ts';
import { createTeamAudit, type TeamAudit } from './team-audit.ts';
import { createTeamClient, type TeamEvent } from './team-client.ts';

/** The team database of this host. */
export interface Team {
  /** The audit of all hosts. Its methods throw `conflict` without a connection. */
  readonly audit: TeamAudit;
  /** Whether a team database is set. */
  isOn(): boolean;
  /** Whether the API serves the team's records, because the host was started with `--team`. */
  readonly servesApi: boolean;
  /** Its host and port for the page about privacy; null without a team database. */
  contactedAddress(): string | null;
  state(): TeamState;
  test(input: TeamInput): Promise<{ failure: string | null; readOnlyReason: string | null }>;
  /** Stores the address and the password in the keychain and starts to copy. Throws `invalid_request` for an invalid address. */
  connect(input: TeamInput): Promise<TeamState>;
  disconnect(): Promise<TeamState>;
  close(): Promise<void>;
}

export interface TeamOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'windowCallerId' | 'hasTeam' | 'setHasTeam' | 'flush'> & {
    readonly audit: AuditStore;
    readonly apiKeys: Pick<Storage['apiKeys'], 'list'>;
  };
  readonly keyStore: KeyStore;
  /** The address of the command line, which overrides the settings. */
  readonly address: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** Both are in the keychain, so that a database from somebody else never has runs copied to an address of theirs. */
const storedTarget = z.object({ address: z.string(), password: z.string().nullable() });

interface Target {
  readonly address: TeamAddress;
  readonly password: string | null;
}

const noProgress: TeamEvent = { status: 'off', waiting: 0, copied: 0, rejected: 0, message: null };

export function createTeam(options: TeamOptions): Team {
  const { storage, keyStore, log } = options;
  const account = `team:${storage.windowCallerId}`;
  let target: Target | null = null;
  let progress = noProgress;
  let since: number | null = null;
  const client = createTeamClient(options.dataDirectory, { onEvent: note, onCrash: startAgain });

  function note(event: TeamEvent): void {
    if (target === null) return;
    if (event.status !== progress.status || event.message !== progress.message) {
      since = Date.now();
      if (event.message !== null) log(event.message);
    }
    progress = event;
  }

  function startAgain(reason: Error): void {
    log('The copying to the team database stopped and starts again.', reason);
    const used = target;
    // A thread that fails at its start must not start in a loop.
    if (used !== null) setTimeout(() => target === used && start(used), 5000).unref();
  }

  function start(next: Target): void {
    if (next.password !== null) addKnownSecret(next.password);
    target = next;
    note({ ...noProgress, status: 'connecting' });
    // It holds the process alive only while it runs calls.
    client.notify('start', next);
  }

  function parsed({ address: text, password }: TeamInput): Target {
    const address = parseTeamAddress(text);
    const isSame = target !== null && formatTeamAddress(target.address) === formatTeamAddress(address);
    const stored = isSame ? target!.password : null;
    const result = { address, password: password ?? address.password ?? stored };
    if (result.password !== null) addKnownSecret(result.password);
    return result;
  }

  function readStored(): Target | null {
    if (!storage.hasTeam()) return null;
    try {
      const text = keyStore.read(account);
      if (text === null) {
        log("The team database's password isn't in the keychain. Enter it again in Settings, Team database.");
        return null;
      }
      const { address, password } = storedTarget.parse(JSON.parse(text));
      return { address: parseTeamAddress(address), password };
    } catch (failure) {
      // The keychain's own message has the remedy, and neither it nor a parse failure is passed on with the secret.
      log(failure instanceof AppError ? failure.message : "The team database's address in the keychain is damaged.");
      return null;
    }
  }

  function fixedTarget(): Target | null {
    if (options.address === null) return null;
    const address = parseTeamAddress(options.address);
    return { address, password: address.password ?? options.environment['PGPASSWORD'] ?? null };
  }

  function state(): TeamState {
    const { address = null, password = null } = target ?? {};
    return {
      address: address === null ? null : formatTeamAddress(address),
      isFixed: options.address !== null,
      hasPassword: password !== null,
      keychain: keyStore.title,
      ...progress,
      since: since === null ? null : new Date(since).toISOString(),
    };
  }

  function requireChangeable(): void {
    if (options.address === null) return;
    throw new AppError('conflict', 'The team database is set on the command line. Restart without --team to change it.');
  }

  const first = fixedTarget() ?? readStored();
  if (first !== null) start(first);

  return {
    audit: createTeamAudit({
      client,
      windowCallerId: storage.windowCallerId,
      flush: storage.flush,
      keys: storage.apiKeys.list,
    }),
    isOn: () => target !== null,
    servesApi: options.address !== null,
    contactedAddress() {
      if (target === null || target.address.host.startsWith('/')) return null;
      const { host, port } = target.address;
      return `postgres://${host.includes(':') ? `[${host}]` : host}:${port}`;
    },
    state,
    async test(input) {
      const asked = parsed(input);
      try {
        const { readOnlyReason } = await client.call('test', asked);
        return { failure: null, readOnlyReason };
      } catch (failure) {
        if (!(failure instanceof AppError)) throw failure;
        return { failure: failure.message, readOnlyReason: null };
      }
    },
    async connect(input) {
      requireChangeable();
      const next = parsed(input);
      keyStore.write(account, JSON.stringify({ address: formatTeamAddress(next.address), password: next.password }));
      storage.setHasTeam(true);
      progress = noProgress;
      start(next);
      return state();
    },
    async disconnect() {
      requireChangeable();
      storage.setHasTeam(false);
      keyStore.remove(account);
      target = null;
      progress = noProgress;
      since = null;
      if (client.isRunning) await client.call('stop', null);
      return state();
    },
    close: () => client.dispose(),
  };
}
