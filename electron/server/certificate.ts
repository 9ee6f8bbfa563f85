import { X509Certificate, createPrivateKey, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** PEM texts for Node's TLS. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const day = 86_400_000;

/** Clients reject certificates that are valid for longer than 398 days. */
const lifetime = 397 * day;

/** A certificate with less time left is replaced, so that a running host never serves an expired one. */
const renewal = 30 * day;

/** File names below the data folder. Callers trust the certificate, for example with `curl --cacert`. */
const certificateFile = 'certificate.pem';
const keyFile = 'key.pem';

function isUsable({ key, cert }: Certificate, now: number): boolean {
  try {
    const certificate = new X509Certificate(cert);
    return (
      certificate.validToDate.getTime() - now > renewal &&
      ['127.0.0.1', '::1'].every((address) => certificate.checkIP(address) !== undefined) &&
      certificate.checkHost('localhost') !== undefined &&
      certificate.checkPrivateKey(createPrivateKey(key))
    );
  } catch {
    return false;
  }
}

async function readCertificate(folder: string): Promise<Certificate | null> {
  try {
    const [key, cert] = await Promise.all(
      [keyFile, certificateFile].map((name) => readFile(join(folder, name), 'utf8')),
    );
    return { key: key as string, cert: cert as string };
  } catch {
    return null;
  }
}

async function writePrivately(folder: string, name: string, text: string): Promise<void> {
  const temporary = join(folder, `${name}.${randomUUID()}`);
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, join(folder, name));
}

async function makeCertificate(now: number): Promise<Certificate> {
  // Imported here: a stored certificate needs none of its 600 KB.
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'Touchstone on this machine' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // A little in the past, because clocks of virtual machines can be slow.
    notBeforeDate: new Date(now - day),
    notAfterDate: new Date(now - day + lifetime),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
          { type: 2, value: 'localhost' },
        ],
      },
    ],
  });
  return { key: made.private, cert: made.cert };
}

/**
 * The certificate of this data folder: the stored one while it is valid for another month, otherwise a new one. Stored in `tls/`,
 * readable only by its owner. `now` is in milliseconds since 1970.
 */
export async function readOrMakeCertificate(dataDirectory: string, now: number): Promise<Certificate> {
  const folder = join(dataDirectory, 'tls');
  const stored = await readCertificate(folder);
  if (stored && isUsable(stored, now)) return stored;
  const made = await makeCertificate(now);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writePrivately(folder, keyFile, made.key);
  await writePrivately(folder, certificateFile, made.cert);
  return made;
}
