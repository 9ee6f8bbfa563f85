import { fileURLToPath } from 'node:url';
import { protocol, type Session } from 'electron';
import { readWindowFile, windowHeaders } from '../server/window-content.ts';
import { isWindowAddress, windowScheme } from './window-address.ts';

const windowDirectory = fileURLToPath(new URL('../window', import.meta.url));

/** Must be called before the application is ready. */
export function registerWindowScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: windowScheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** Serves the built window, with the same files and headers as the headless host gives a browser. */
export function serveWindowFiles(session: Session): void {
  session.protocol.handle(windowScheme, async (request) => {
    const file = isWindowAddress(request.url)
      ? await readWindowFile(windowDirectory, new URL(request.url).pathname)
      : null;
    if (!file) return new Response('Not found', { status: 404, headers: windowHeaders });
    return new Response(file.body, { headers: file.headers });
  });
}
