/** The window's own scheme and address. Nothing else is ever shown in it. */
export const windowScheme = 'app';
export const windowOrigin = `${windowScheme}://touchstone`;

/** The scheme of links that the operating system gives to this application. */
export const linkScheme = 'touchstone';

/** The address inside the window that a `touchstone://open/...` link names; null for every other text. */
export function addressOfLink(link: string): string | null {
  const start = `${linkScheme}://open`;
  // Control characters and spaces have no place in a link; nothing longer than this comes from a person.
  if (link.length > 8000 || !link.startsWith(`${start}/`) || /[\s\p{Cc}]/u.test(link)) return null;
  return link.slice(start.length);
}

/** Whether an address is a page of the window; not whether it begins like one. */
export function isWindowAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, host, username, password } = new URL(address);
  return protocol === `${windowScheme}:` && host === 'touchstone' && username === '' && password === '';
}

/** Whether an address may be given to the system's browser: plain web addresses alone, no `file:` and no other program's. */
export function isExternalAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}
