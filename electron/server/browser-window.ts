import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { RequestHead } from './request-head.ts';
import { isWindowPath, readWindowFile, windowHeaders } from './window-content.ts';

export interface BrowserWindowOptions {
  /** Folder of the built window. */
  readonly directory: string;
  /** Start-up token: who knows it may open the window. At least 256 random bits. */
  readonly token: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Digests have one length, so that the comparison takes the same time for every guess. */
function isSame(guess: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(guess), digest(secret));
}

function cookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.split('='));
  return new Map(pairs.map(([name, ...value]) => [(name ?? '').trim(), value.join('=').trim()]));
}

const strangeBrowser =
  'This browser is not signed in: Touchstone was restarted. Open the address that it printed in the terminal in this browser. ' +
  'Your unsaved text is kept.';

const lockedPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Touchstone</title>
<h1>This window is locked</h1>
<p>Open the address that Touchstone printed in the terminal when it started. It ends in <code>?token=</code> and a code.</p>
</html>
`;

/**
 * The window in a browser. The token in the address printed at the start is exchanged for a cookie at once, so that it stays
 * neither in the address bar nor in a `Referer`; the cookie dies with the host.
 */
export class BrowserWindow {
  readonly #options: BrowserWindowOptions;
  /** Named with the port: browsers share cookies between the ports of one name. */
  readonly #cookieName: string;
  readonly #session = randomBytes(32).toString('base64url');

  constructor(options: BrowserWindowOptions) {
    this.#options = options;
    this.#cookieName = `touchstone_${options.port}`;
  }

  /** The answer to a request for a page or a file of the window; null for everything that is the API's. */
  async answer(head: RequestHead): Promise<Response | null> {
    if (head.method !== 'GET' && head.method !== 'HEAD') return null;
    const [path = '/', query] = head.target.split('?', 2);
    if (!isWindowPath(path)) return null;
    const token = path === '/' ? new URLSearchParams(query).get('token') : null;
    if (token !== null) return isSame(token, this.#options.token) ? this.#signIn() : locked();
    if (path === '/' && !this.#hasCookie(head)) return locked();
    const file = await readWindowFile(this.#options.directory, path);
    return file && answerWith(file.body, 200, file.headers);
  }

  /**
   * Whether the window itself sent a request to the API: it has the cookie, and the browser says that one of its own pages
   * asked. A page on another port of this machine is the same site, so that `SameSite` alone would let it in. A request with
   * an API key is a program's, whatever cookie comes with it.
   */
  isFromWindow(head: RequestHead): boolean {
    const { headers, method } = head;
    if (headers['authorization'] !== undefined || headers['x-hl-api-key'] !== undefined) return false;
    const site = headers['sec-fetch-site'];
    if (site !== undefined ? site !== 'same-origin' : head.origin === undefined && !isReading(method)) return false;
    return this.#hasCookie(head);
  }

  /** Why a page of ours whose cookie ended with an earlier host gets no answer; null for everybody else. */
  refusal(head: RequestHead): AppError | null {
    const { headers } = head;
    if (headers['sec-fetch-site'] !== 'same-origin' || headers['sec-fetch-mode'] === 'navigate') return null;
    if (headers['authorization'] !== undefined || headers['x-hl-api-key'] !== undefined) return null;
    return this.#hasCookie(head) ? null : new AppError('unauthorized', strangeBrowser);
  }

  #hasCookie(head: RequestHead): boolean {
    const value = cookies(head.headers['cookie']).get(this.#cookieName);
    return value !== undefined && isSame(value, this.#session);
  }

  #signIn(): Response {
    const secure = this.#options.isTls ? '; Secure' : '';
    return answerWith(null, 303, {
      ...windowHeaders,
      location: '/',
      'cache-control': 'no-store',
      'set-cookie': `${this.#cookieName}=${this.#session}; HttpOnly; SameSite=Strict; Path=/${secure}`,
    });
  }
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function locked(): Response {
  return answerWith(lockedPage, 401, {
    ...windowHeaders,
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
  });
}

function answerWith(
  body: Buffer<ArrayBuffer> | string | null,
  status: number,
  headers: Record<string, string>,
): Response {
  return new Response(body, { status, headers: { ...headers, 'x-request-id': randomUUID() } });
}
