/**
 * Names and values as they stand in the address. Only letters, digits and `-_.!*'()+~=&` are used: a router, a browser and
 * a chat program may each decode an address once more than the other, and none of them changes these.
 */
function escapeText(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '~7E').replaceAll('%20', '+').replaceAll('%', '~');
}

function unescapeText(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('%', '%25').replaceAll('+', '%20').replaceAll('~', '%'));
  } catch {
    return null;
  }
}

/** Name and value pairs as one part of an address: `text=refund+promised&model=OpenAi~2Fgpt-4o`. */
export function writePairs(pairs: readonly (readonly [name: string, value: string])[]): string {
  return pairs.map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`).join('&');
}

/** Reads what `writePairs` wrote; what is not a pair is left out. */
export function readPairs(text: string): (readonly [name: string, value: string])[] {
  return text.split('&').flatMap((part) => {
    const [name, value] = part.split('=').map(unescapeText);
    return name && typeof value === 'string' ? [[name, value] as const] : [];
  });
}
