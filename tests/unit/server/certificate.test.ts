import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOrMakeCertificate } from '../../../electron/server/certificate.ts';
import { temporaryFolder } from '../../support/http-clients.ts';

const now = Date.UTC(2026, 10, 20);
const day = 86_400_000;

test('a certificate is for this machine only, for a year, and no authority', async () => {
  const { cert } = await readOrMakeCertificate(await temporaryFolder(), now);
  const certificate = new X509Certificate(cert);
  expect({
    names: certificate.subjectAltName,
    ca: certificate.ca,
    begins: certificate.validFromDate.getTime(),
    ends: certificate.validToDate.getTime(),
    purposes: certificate.keyUsage,
    type: certificate.publicKey.asymmetricKeyType,
  }).toEqual({
    names: 'IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:localhost',
    ca: false,
    begins: now - day,
    ends: now + 396 * day,
    purposes: ['1.3.6.1.5.5.7.3.1'],
    type: 'ec',
  });
});

test('only its owner can read the stored one', async () => {
  const folder = await temporaryFolder();
  const made = await readOrMakeCertificate(folder, now);
  const modes = await Promise.all(
    ['tls', 'tls/key.pem', 'tls/certificate.pem'].map(async (name) => (await stat(join(folder, name))).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o600, 0o600]);
  expect(await readFile(join(folder, 'tls/key.pem'), 'utf8')).toBe(made.key);
});

test('the stored one is used until a month before its end, then replaced', async () => {
  const folder = await temporaryFolder();
  const first = await readOrMakeCertificate(folder, now);
  expect(await readOrMakeCertificate(folder, now + 365 * day)).toEqual(first);
  const second = await readOrMakeCertificate(folder, now + 367 * day);
  expect(second.cert).not.toBe(first.cert);
  expect(await readOrMakeCertificate(folder, now + 367 * day)).toEqual(second);
});

test.each(['key.pem', 'certificate.pem'])('a damaged %s is replaced', async (name) => {
  const folder = await temporaryFolder();
  const first = await readOrMakeCertificate(folder, now);
  await writeFile(join(folder, 'tls', name), 'damaged');
  const second = await readOrMakeCertificate(folder, now);
  expect(second.cert).not.toBe(first.cert);
  expect(new X509Certificate(second.cert).checkHost('localhost')).toBe('localhost');
});

test('a key that belongs to another certificate is replaced', async () => {
  const [folder, other] = [await temporaryFolder(), await temporaryFolder()];
  await readOrMakeCertificate(folder, now);
  const { key } = await readOrMakeCertificate(other, now);
  await writeFile(join(folder, 'tls/key.pem'), key);
  expect((await readOrMakeCertificate(folder, now)).key).not.toBe(key);
});
