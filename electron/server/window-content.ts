import { readFile, realpath } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/**
 * The window may load only its own files. Text that a model wrote can't load scripts, styles or images, and can't send data anywhere.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of everything that a browser shows. */
export const windowHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

/** The paths of the window's files. All others belong to the API. */
export function isWindowPath(path: string): boolean {
  return path === '/' || path.startsWith('/assets/') || path.startsWith('/favicon');
}

/** The absolute path of a file in the built window; null for anything outside it, including through a symbolic link. */
async function findFile(directory: string, path: string): Promise<string | null> {
  try {
    const name = path === '/' ? 'index.html' : decodeURIComponent(path);
    if (/[\0\\]/.test(name)) return null;
    const [root, file] = await Promise.all([realpath(directory), realpath(join(directory, name))]);
    return file.startsWith(root + sep) ? file : null;
  } catch {
    return null;
  }
}

/**
 * A file of the built window with its headers, or null. `path` is escaped. File names in `assets` contain a hash of the content, so
 * browsers may cache them forever.
 */
export async function readWindowFile(
  directory: string,
  path: string,
): Promise<{ body: Buffer<ArrayBuffer>; headers: Record<string, string> } | null> {
  const mediaType = mediaTypes[path === '/' ? '.html' : extname(path)];
  if (!isWindowPath(path) || !mediaType) return null;
  const file = await findFile(directory, path);
  if (!file) return null;
  const body = await readFile(file).catch(() => null);
  if (!body) return null;
  const isHashed = path.startsWith('/assets/');
  return {
    body,
    headers: {
      ...windowHeaders,
      'content-type': mediaType,
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    },
  };
}
