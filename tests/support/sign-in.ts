import { sessionHeader } from '../../shared/window-socket.ts';

/** What a browser keeps of the page that a one-time address opens, as the headers of the window's requests. */
export function readSession(cookies: string | string[] | null | undefined, page: string): Record<string, string> {
  const secret = /<meta name="touchstone-session" content="([\w-]{43})">/.exec(page)?.[1];
  if (!cookies || !secret) throw new Error(`The host didn't sign this browser in: ${page}`);
  return { cookie: String(cookies).split(';', 1)[0] as string, [sessionHeader]: secret };
}

/** Opens a one-time address as a browser does. */
export async function signIn(windowUrl: string): Promise<Record<string, string>> {
  const response = await fetch(windowUrl);
  return readSession(response.headers.get('set-cookie'), await response.text());
}
