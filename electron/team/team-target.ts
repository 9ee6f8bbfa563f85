import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import type { TeamInput, TeamState } from '../../shared/contract/team.ts';
import { formatTeamAddress, parseTeamAddress, type TeamAddress } from '../../shared/team-address.ts';
import type { KeyStore } from '../key-store/key-store.ts';
import { addKnownSecret, type Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { readAuthorities } from './tls-options.ts';

export interface TeamTarget {
  readonly address: TeamAddress;
  readonly password: string | null;
  readonly authority: TeamState['authority'];
}

export interface TargetOptions {
  readonly dataDirectory: string;
  readonly storage: Pick<Storage, 'hasTeam' | 'setHasTeam'>;
  readonly keyStore: KeyStore;
  /** Of the keychain. */
  readonly account: string;
  /** The address of the command line, which overrides that of the settings. */
  readonly team?: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/**
 * In the keychain, so that a database from somebody else never has runs copied to an address of theirs. Certificates can be too long for
 * it: their file is in the data folder, and counts only with this hash.
 */
const storedTarget = z.object({
  address: z.string(),
  password: z.string().nullable(),
  authority: z.object({ name: z.string(), sha256: z.string() }).nullish(),
});

const maxCertificates = 500;
const certificateBlock = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const fileIn = (dataDirectory: string): string => join(dataDirectory, 'team-authority.pem');

/** Only the certificates: a file may also have a private key. Throws `invalid_request`. */
function readCertificates(text: string): { certificates: string; expiresAt: string } {
  const blocks = text.match(certificateBlock) ?? [];
  const reject = (issue: string) =>
    new AppError('invalid_request', `The certificate file ${issue}`, { details: [{ field: 'authority', issue }] });
  if (blocks.length === 0)
    throw reject('has no certificate. Choose one in PEM form, which begins with BEGIN CERTIFICATE.');
  if (blocks.length > maxCertificates)
    throw reject(`has more than ${maxCertificates} certificates. Choose a smaller one.`);
  try {
    const ends = blocks.map((block) => new X509Certificate(block).validToDate.getTime());
    return { certificates: blocks.join('\n'), expiresAt: new Date(Math.min(...ends)).toISOString() };
  } catch {
    throw reject('is damaged. Export it again in PEM form.');
  }
}

function describeAuthority(address: TeamAddress, name: string | null): TeamState['authority'] {
  if (!address.isEncrypted) return null;
  try {
    const text = readAuthorities(address);
    if (text === null) return null;
    const { expiresAt } = readCertificates(text);
    return { name: name ?? basename(address.authorities ?? ''), expiresAt, isGiven: address.certificates != null };
  } catch {
    // Connecting reports it.
    return null;
  }
}

function fixedTarget(text: string, environment: TargetOptions['environment']): TeamTarget {
  const address = parseTeamAddress(text);
  const password = address.password ?? environment['PGPASSWORD'] ?? null;
  return { address, password, authority: describeAuthority(address, null) };
}

/** Throws an `AppError` for a file that is missing or isn't the one that was given. */
function storedCertificates(dataDirectory: string, sha256: string): string {
  try {
    const text = readFileSync(fileIn(dataDirectory), 'utf8');
    if (hashOf(text) === sha256) return text;
  } catch {
    // As one that was changed.
  }
  throw new AppError(
    'conflict',
    "The certificate file of the team database isn't the one that was chosen. Connect again in Settings, Team database.",
  );
}

function readStored({ dataDirectory, storage, keyStore, account, log }: TargetOptions): TeamTarget | null {
  if (!storage.hasTeam()) return null;
  try {
    const text = keyStore.read(account);
    if (text === null) {
      const remedy = 'Enter it again in Settings, Team database';
      log(
        keyStore.source === 'memory'
          ? `The team database's address was only in memory, because no keychain was found. ${remedy}, or start with --team.`
          : `The team database's password isn't in the keychain. ${remedy}.`,
      );
      return null;
    }
    const { address: stored, password, authority } = storedTarget.parse(JSON.parse(text));
    const certificates = authority ? storedCertificates(dataDirectory, authority.sha256) : null;
    const address = { ...parseTeamAddress(stored), certificates };
    return { address, password, authority: describeAuthority(address, authority?.name ?? null) };
  } catch (failure) {
    // The keychain's own message has the remedy. That of a parse failure could contain the password.
    log(failure instanceof AppError ? failure.message : "The team database's address in the keychain is damaged.");
    return null;
  }
}

/** The team database of the command line, otherwise of the settings; null without one. */
export function firstTarget(options: TargetOptions): TeamTarget | null {
  return options.team == null ? readStored(options) : fixedTarget(options.team, options.environment);
}

/** The input, with the stored password if the address is unchanged and no other is given. Throws `invalid_request`. */
export function targetOf({ address: text, password, authority }: TeamInput, current: TeamTarget | null): TeamTarget {
  const parsed = parseTeamAddress(text);
  const isSame = current !== null && formatTeamAddress(current.address) === formatTeamAddress(parsed);
  const stored = authority === undefined && parsed.isEncrypted && parsed.authorities === null ? current : null;
  const certificates = authority ? readCertificates(authority.certificates).certificates : stored?.address.certificates;
  const address = { ...parsed, certificates: certificates ?? null };
  if (address.isEncrypted) readAuthorities(address);
  const name = authority?.name ?? stored?.authority?.name ?? null;
  const target = {
    address,
    password: password ?? parsed.password ?? (isSame ? current.password : null),
    authority: describeAuthority(address, name),
  };
  if (target.password !== null) addKnownSecret(target.password);
  return target;
}

export function storeTarget(
  { dataDirectory, storage, keyStore, account }: TargetOptions,
  { address, password, authority }: TeamTarget,
): void {
  const { certificates = null } = address;
  if (certificates !== null) writeFileSync(fileIn(dataDirectory), certificates, { mode: 0o600 });
  const stored = certificates === null ? null : { name: authority?.name ?? '', sha256: hashOf(certificates) };
  keyStore.write(account, JSON.stringify({ address: formatTeamAddress(address), password, authority: stored }));
  if (certificates === null) rmSync(fileIn(dataDirectory), { force: true });
  storage.setHasTeam(true);
}

export function forgetTarget({ dataDirectory, storage, keyStore, account }: TargetOptions): void {
  storage.setHasTeam(false);
  keyStore.remove(account);
  rmSync(fileIn(dataDirectory), { force: true });
}
