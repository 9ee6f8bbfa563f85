import { readFileSync, statSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { AppError } from '../../shared/app-error.ts';
import type { TeamAddress } from '../../shared/team-address.ts';

const maxFileBytes = 10 * 1_048_576;

/** The certificates of authorities of the address as PEM; null for those that Node trusts. Throws `invalid_request` if the file can't be read. */
export function readAuthorities({ authorities, certificates = null }: TeamAddress): string | null {
  if (certificates !== null || authorities === null) return certificates;
  try {
    // Reading a pipe would wait for ever.
    const file = statSync(authorities);
    if (!file.isFile() || file.size > maxFileBytes) throw new Error('no certificate file');
    return readFileSync(authorities, 'utf8');
  } catch {
    throw new AppError(
      'invalid_request',
      `The certificate file ${authorities} can't be read, or is larger than 10 MB. Check sslrootcert in the address.`,
    );
  }
}

/** The options of Node's TLS for the address. Throws `invalid_request` if the certificates can't be read. */
export function tlsOptions(address: TeamAddress): ConnectionOptions | false {
  if (!address.isEncrypted) return false;
  const ca = readAuthorities(address);
  return { rejectUnauthorized: true, servername: address.host, ...(ca !== null && { ca }) };
}
