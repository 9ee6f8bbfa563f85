import { isLoopback } from '../../shared/address-safety.ts';

/** The address of an update server of a package. Null unless it has TLS: a check of the download needs an honest description. */
export function readUpdateAddress(text: string): string | null {
  const address = URL.parse(text);
  if (!address || address.username !== '' || address.password !== '' || address.search !== '' || address.hash !== '')
    return null;
  const isSafe = address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address.href));
  return isSafe ? address.href : null;
}
