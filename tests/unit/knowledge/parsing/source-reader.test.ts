// @module-tag slow
import { fork } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ParsedSource, SourceReaderOptions } from '../../../../electron/knowledge/parsing/parsed-source.ts';
import { createSourceReader } from '../../../../electron/knowledge/parsing/source-reader.ts';
import { fixture, writeSource } from './test-files.ts';
import { patience } from '../../../support/patience.ts';

const { signal } = new AbortController();

function startReader(options?: SourceReaderOptions) {
  const reader = createSourceReader(options);
  onTestFinished(() => reader.close());
  return reader;
}

/** How many processes this one starts from here on. */
function countProcesses(): () => number {
  let started = 0;
  const onChild = () => (started += 1);
  subscribe('child_process', onChild);
  onTestFinished(() => void unsubscribe('child_process', onChild));
  return () => started;
}

const text = (content: string) => ({
  path: writeSource('a.txt', content),
  fileName: 'a.txt',
  mediaType: 'text/plain' as const,
});
const report = { path: fixture('report.pdf'), fileName: 'report.pdf', mediaType: 'application/pdf' as const };

/** The parser searches its whole stack of open elements at each of these end tags: minutes of work. */
const slow = (endTags = 2_000_000) => ({
  path: writeSource('a.html', '<div>'.repeat(14_000) + '</x>'.repeat(endTags)),
  fileName: 'a.html',
  mediaType: 'text/html' as const,
});

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

/** What holds of every source that was read. */
function expectSound({ text: whole, pages, passages }: ParsedSource): void {
  for (const [index, passage] of passages.entries()) {
    expect(passage.ordinal).toBe(index);
    expect(whole.slice(passage.start, passage.end)).toBe(passage.text);
    const page = pages?.find(({ start, end }) => passage.start >= start && passage.start < end)?.page ?? null;
    expect(passage.page).toBe(page);
  }
}

describe('the reader of sources', () => {
  test('returns passages with exact offsets, pages, headings and tokens', async () => {
    const reader = startReader();
    const parsed = await reader.readSource(report, { signal });
    expectSound(parsed);
    expect(parsed.pages?.length).toBe(3);
    expect(parsed.passages.map(({ page, heading }) => [page, heading])).toEqual([
      [1, 'Report of the assay office'],
      [1, 'Report of the assay office › Methods'],
      [1, 'Report of the assay office › Methods'],
      [2, 'Report of the assay office › Results'],
      [expect.any(Number), 'Report of the assay office › Outlook'],
    ]);
    expect(parsed.passages.every(({ tokens }) => tokens > 40 && tokens < 256)).toBe(true);
  });

  test('reads many files in two processes at most', async () => {
    const processes = countProcesses();
    const reader = startReader();
    const words = Array.from({ length: 12 }, (_, index) => `Word ${index}.`);
    const read = await Promise.all(words.map((word) => reader.readSource(text(word), { signal })));
    expect(read.map((parsed) => parsed.passages.map((passage) => passage.text))).toEqual(words.map((word) => [word]));
    await expect(reader.readSource({ ...text('{'), mediaType: 'application/json' }, { signal })).rejects.toThrow(
      'Invalid JSON at line 1',
    );
    expect(processes()).toBe(2);
  });

  test('reads one file after the other in the same process', async () => {
    const processes = countProcesses();
    const reader = startReader();
    for (const word of ['One.', 'Two.', 'Three.']) await reader.readSource(text(word), { signal });
    expect(processes()).toBe(1);
  });

  test('reads other files while a slow one is being read', async () => {
    const reader = startReader();
    const controller = new AbortController();
    const slowRead = reader.readSource(slow(), { signal: controller.signal });
    let isSlowDone = false;
    const slowEnd = slowRead.catch((error: unknown) => error).finally(() => (isSlowDone = true));
    for (const word of ['One.', 'Two.', 'Three.'])
      expect((await reader.readSource(text(word), { signal })).text).toBe(word);
    expect(isSlowDone).toBe(false);
    controller.abort();
    expect(await slowEnd).toMatchObject({ name: 'AbortError' });
  });

  test('reports its progress', async () => {
    const reader = startReader();
    const fractions: number[] = [];
    await reader.readSource(report, { signal, onProgress: (fraction) => fractions.push(fraction) });
    expect(fractions.length).toBeGreaterThan(1);
    expect(fractions).toEqual(fractions.toSorted((one, other) => one - other));
    expect(fractions.every((fraction) => fraction > 0 && fraction <= 1)).toBe(true);
  });

  test('stops at once when the signal aborts, also in the middle of work, and then reads the next file', async () => {
    const reader = startReader();
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await expect(reader.readSource(slow(), { signal: controller.signal, onProgress })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect((await reader.readSource(text('Next.'), { signal })).text).toBe('Next.');
  });

  test('does not start a queued file that is stopped', async () => {
    const reader = startReader();
    const [first, second] = [new AbortController(), new AbortController()];
    const running = [1, 2].map(() => reader.readSource(slow(), { signal: first.signal }));
    const queued = reader.readSource(text('Never.'), { signal: second.signal });
    second.abort();
    await expect(queued).rejects.toMatchObject({ name: 'AbortError' });
    const ends = running.map((read) => expect(read).rejects.toMatchObject({ name: 'AbortError' }));
    first.abort();
    await Promise.all(ends);
  });

  test('ends a file that takes too long, with the reason', async () => {
    const reader = startReader({ deadlineSeconds: 0.2 });
    await expect(reader.readSource(slow(), { signal })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'Reading the file took longer than 0.2 seconds. Split it into smaller files.',
    });
  });

  test('ends a file that needs too much heap, with the reason', async () => {
    const reader = startReader({ memoryMegabytes: 200 });
    const list = { path: writeSource('a.json', `[${'[1],'.repeat(8_000_000)}1]`), fileName: 'a.json' };
    await expect(reader.readSource({ ...list, mediaType: 'application/json' }, { signal })).rejects.toMatchObject({
      message: 'Reading the file needs more than 200 MB of memory. Split it into smaller files.',
    });
  });

  test('stops active files when it is closed, and accepts no more', async () => {
    const reader = startReader();
    const progress = Promise.withResolvers<void>();
    const under = reader.readSource(slow(), { signal, onProgress: () => progress.resolve() });
    const stopped = expect(under).rejects.toMatchObject({ name: 'AbortError' });
    await progress.promise;
    await reader.close();
    await stopped;
    await expect(reader.readSource(text('Late.'), { signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('leaves no process behind when the host is killed in the middle of work', async () => {
    const host = fork(join(import.meta.dirname, '../../../support/source-reading-process.ts'), [slow(5_000_000).path]);
    const [{ processId }] = (await once(host, 'message')) as [{ processId: number }];
    onTestFinished(() => {
      if (isRunning(processId)) process.kill(processId, 'SIGKILL');
    });
    host.kill('SIGKILL');
    await once(host, 'exit');
    await vi.waitFor(() => expect(isRunning(processId)).toBe(false), patience);
  });

  test('reports a missing file', async () => {
    const reader = startReader();
    const missing = { path: '/nowhere/a.txt', fileName: 'a.txt', mediaType: 'text/plain' as const };
    await expect(reader.readSource(missing, { signal })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
