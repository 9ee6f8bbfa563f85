import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';

const builtWindow = join(import.meta.dirname, '../../out/window');

export interface FirstPaint {
  /** Milliseconds from the start of the navigation to the first contentful paint. */
  readonly paintMs: number;
  /** Bytes, compressed with gzip, of the files that had arrived before it, and their names with these bytes. */
  readonly bytes: number;
  readonly files: readonly (readonly [name: string, bytes: number])[];
}

/** What a page that has just been loaded needed for its first paint. Files that the page did not wait for but that came earlier count. */
export async function readFirstPaint(page: Page): Promise<FirstPaint> {
  const { paintMs, paths } = await page.evaluate(async () => {
    const observed = await new Promise<PerformanceEntry>((resolve) =>
      new PerformanceObserver((list) => {
        const entry = list.getEntriesByName('first-contentful-paint')[0];
        if (entry) resolve(entry);
      }).observe({ type: 'paint', buffered: true }),
    );
    const loaded = performance
      .getEntriesByType('resource')
      .filter((entry) => (entry as PerformanceResourceTiming).responseEnd <= observed.startTime)
      .map(({ name }) => new URL(name).pathname);
    return { paintMs: observed.startTime, paths: ['/index.html', ...loaded] };
  });
  const files = paths
    .filter((path) => path === '/index.html' || path.startsWith('/assets/') || path.startsWith('/favicon'))
    .map((path) => [path, gzipSync(readFileSync(join(builtWindow, path))).byteLength] as const);
  return { paintMs, bytes: files.reduce((sum, [, bytes]) => sum + bytes, 0), files };
}
