import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import { downloadPath, sessionHeader } from '../../shared/window-socket.ts';
import type { RequestHead } from './request-head.ts';
import { isWindowPath, readWindowFile, windowHeaders } from './window-content.ts';
import { downloadAuditExport } from '../../shared/contract/audit-exports.ts';
import { createExportDownload } from '../../shared/contract/host-specific.ts';
import { type Handler, implement } from '../api/api.ts';

export interface BrowserWindowOptions {
  /** Folder of the built window. */
  readonly directory: string;
  /** One-time token that opens the window. At least 256 random bits. */
  readonly token: string;
  /** Prints a new token, which replaces a used one, in the terminal. */
  readonly onNewToken: (token: string) => void;
  readonly downloads: DownloadTickets;
  readonly port: number;
  readonly isTls: boolean;
}

/** Compares digests, which have the same length, so that the comparison takes the same time for every guess. */
function isSame(guess: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(guess), digest(secret));
}

function cookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.split('='));
  return new Map(pairs.map(([name, ...value]) => [(name ?? '').trim(), value.join('=').trim()]));
}

const notSignedIn =
  'This browser is not signed in. Open the newest address that Touchstone printed in the terminal, in this browser. ' +
  'Your unsaved text is kept.';

function page(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Touchstone</title>
${head}<h1>${title}</h1>
<p>${body}</p>
</html>
`;
}

const lockedPage = page(
  'This window is locked',
  '',
  'Open the newest address that Touchstone printed in the terminal. It ends in <code>?token=</code> and a code. ' +
    'Each address works once.',
);

/**
 * The window in a browser. The token of a printed address works once. The browser gets a cookie and a session secret for it, and the
 * address bar no longer shows it. The cookie alone opens only `/`, because browsers send it to every port of this machine. The secret is
 * isolated by origin, and the API needs both. Both end with the host.
 */
export interface BrowserWindow {
  /** The response to a request for a page or a file of the window; null for requests to the API. */
  respond(head: RequestHead): Promise<Response | null>;
  /**
   * Whether the window sent a request to the API: it has the cookie and the secret, and the browser reports that it comes from the same
   * origin. A request with an API key is a program's, even if it has a cookie, too.
   */
  isFromWindow(head: RequestHead, secret?: string): boolean;
  /** Whether a browser with our cookie sent the request. Such a connection is no stranger, but that alone gives no access. */
  isFromBrowser(head: RequestHead): boolean;
  /** The path behind a one-time download address; null for any other address. */
  redeemDownload(head: RequestHead): string | null;
  /**
   * The error for a browser that isn't signed in: its page is from an earlier host, or it has the cookie without the secret. Null for
   * all other callers.
   */
  rejection(head: RequestHead): AppError | null;
}

export function createBrowserWindow(options: BrowserWindowOptions): BrowserWindow {
  /** Contains the port, because browsers share cookies between the ports of a host name. */
  const cookieName = `touchstone_${options.port}`;
  const cookie = randomBytes(32).toString('base64url');
  const secret = randomBytes(32).toString('base64url');
  /** Null after use, until another one is needed. */
  let token: string | null = options.token;

  async function respond(head: RequestHead): Promise<Response | null> {
    if (!isReading(head.method)) return null;
    const [path = '/', query] = head.target.split('?', 2);
    if (!isWindowPath(path)) return null;
    if (path === '/') {
      const guess = new URLSearchParams(query).get('token');
      if (guess !== null && head.method === 'GET' && takeToken(guess)) return signIn();
      if (!hasCookie(head)) return locked();
      // A used token, in a browser that is signed in.
      if (guess !== null)
        return createResponse(null, 303, { ...windowHeaders, location: '/', 'cache-control': 'no-store' });
    }
    const file = await readWindowFile(options.directory, path);
    return file && createResponse(file.body, 200, file.headers);
  }

  function rejection(head: RequestHead): AppError | null {
    const { headers } = head;
    // A followed link has no custom header. Public endpoints stay public.
    if (hasApiKey(head) || headers['sec-fetch-mode'] === 'navigate') return null;
    const isOwnPage = headers['sec-fetch-site'] === 'same-origin';
    if (hasCookie(head) ? hasSecret(headers[sessionHeader]) : !isOwnPage) return null;
    renewToken();
    return new AppError('unauthorized', notSignedIn);
  }

  function isFromOwnPage(head: RequestHead): boolean {
    if (hasApiKey(head)) return false;
    const site = head.headers['sec-fetch-site'];
    if (site !== undefined ? site !== 'same-origin' : head.origin === undefined && !isReading(head.method))
      return false;
    return hasCookie(head);
  }

  function hasSecret(value: string | undefined): boolean {
    return value !== undefined && isSame(value, secret);
  }

  function hasCookie(head: RequestHead): boolean {
    const value = cookies(head.headers['cookie']).get(cookieName);
    return value !== undefined && isSame(value, cookie);
  }

  function takeToken(guess: string): boolean {
    if (token === null || !isSame(guess, token)) return false;
    token = null;
    return true;
  }

  /** Only if the last one was used, so that repeated requests can't fill the terminal. */
  function renewToken(): void {
    if (token !== null) return;
    token = randomBytes(32).toString('base64url');
    options.onNewToken(token);
  }

  function signIn(): Response {
    const secure = options.isTls ? '; Secure' : '';
    const head = `<meta name="touchstone-session" content="${secret}">\n<script src="/assets/sign-in.v1.js"></script>\n`;
    const text =
      'If this page stays, allow scripts and site data for this address, then open the next address from the terminal.';
    return createResponse(page('Signing in', head, text), 200, {
      ...htmlHeaders,
      'set-cookie': `${cookieName}=${cookie}; HttpOnly; SameSite=Strict; Path=/${secure}`,
    });
  }

  function locked(): Response {
    renewToken();
    return createResponse(lockedPage, 401, htmlHeaders);
  }

  return {
    respond,
    isFromWindow: (head, guess = head.headers[sessionHeader]) => isFromOwnPage(head) && hasSecret(guess),
    isFromBrowser: isFromOwnPage,
    redeemDownload: (head) =>
      head.method === 'GET' && isFromOwnPage(head) ? options.downloads.redeem(head.target) : null,
    rejection,
  };
}

const htmlHeaders: Readonly<Record<string, string>> = {
  ...windowHeaders,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
};

function hasApiKey({ headers }: RequestHead): boolean {
  return headers['authorization'] !== undefined || headers['x-hl-api-key'] !== undefined;
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function createResponse(
  body: Buffer<ArrayBuffer> | string | null,
  status: number,
  headers: Record<string, string>,
): Response {
  return new Response(body, { status, headers: { ...headers, 'x-request-id': randomUUID() } });
}

const lifetimeMs = 60_000;

/** More than anyone downloads in a minute. The oldest ticket is dropped first. */
const maxTickets = 100;

/** One-time addresses, each for one GET request of the window. */
export interface DownloadTickets {
  issue(target: string): string;
  /** The target of an address; null if the address isn't a ticket, was used or has expired. */
  redeem(address: string): string | null;
}

export function createDownloadTickets(now = () => performance.now()): DownloadTickets {
  const tickets = new Map<string, { target: string; expiresAt: number }>();

  function issue(target: string): string {
    const [oldest] = tickets.keys();
    if (oldest !== undefined && tickets.size >= maxTickets) tickets.delete(oldest);
    const ticket = randomBytes(32).toString('base64url');
    tickets.set(ticket, { target, expiresAt: now() + lifetimeMs });
    return downloadPath + ticket;
  }

  function redeem(address: string): string | null {
    if (!address.startsWith(downloadPath)) return null;
    const ticket = address.slice(downloadPath.length);
    const issued = tickets.get(ticket);
    tickets.delete(ticket);
    return issued && issued.expiresAt >= now() ? issued.target : null;
  }

  return { issue, redeem };
}

export function downloadHandlers(tickets: DownloadTickets): Handler[] {
  return [
    implement(createExportDownload, ({ parameters }) => ({
      address: tickets.issue(downloadAuditExport.path.replace('{id}', parameters.id)),
    })),
  ];
}
