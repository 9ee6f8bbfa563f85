/** The parts of an absolute address, as those of a `URL`. */
export type Address = Readonly<Pick<URL, 'href' | 'origin' | 'protocol' | 'host' | 'pathname' | 'search'>>;

const maxKnown = 256;
const maxCharacters = 256;

const knownAddresses = new Map<string, Address>();

/**
 * As `new URL`, and throws as it does. Most addresses of requests and providers repeat, and another program's call needs them four times, for 4 µs
 * each. One with a query or a user isn't kept: it may have a key.
 */
export function parseAddress(text: string): Address {
  const known = knownAddresses.get(text);
  if (known) return known;
  const { href, origin, protocol, host, pathname, search } = new URL(text);
  const address = { href, origin, protocol, host, pathname, search };
  if (search !== '' || text.includes('@') || text.length > maxCharacters) return address;
  if (knownAddresses.size >= maxKnown) knownAddresses.clear();
  knownAddresses.set(text, address);
  return address;
}
