import { act, cleanup, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => vi.resetModules());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.doUnmock('../../../../../renderer/components/markdown/markdown-view.tsx');
});

const loadFresh = () => import('../../../../../renderer/components/markdown/lazy-markdown.tsx');

test('an answer is shown as it came until the parser is there, and as Markdown then', async () => {
  const { LazyMarkdown } = await loadFresh();
  render(<LazyMarkdown text="# Opening hours" isGrowing={false} />);
  expect(screen.getByText('# Opening hours')).toBeDefined();
  expect(await screen.findByRole('heading', { name: 'Opening hours' })).toBeDefined();
});

test('an answer is Markdown from its first frame if the parser is there', async () => {
  const { LazyMarkdown, prefetchMarkdown } = await loadFresh();
  prefetchMarkdown();
  await vi.dynamicImportSettled();
  expect(renderToString(<LazyMarkdown text="# Opening hours" isGrowing={false} />)).toContain('class="heading-1"');
});

test('an answer stays as it came if the host gives no more files, and the next answer tries again', async () => {
  let isMissing = true;
  vi.doMock('../../../../../renderer/components/markdown/markdown-view.tsx', () => {
    if (isMissing) throw new TypeError('404');
    return { MarkdownView: ({ text }: { text: string }) => <h1>{text.slice(2)}</h1> };
  });
  const { LazyMarkdown } = await loadFresh();
  const first = render(<LazyMarkdown text="# Opening hours" isGrowing={false} />);
  await vi.dynamicImportSettled();
  expect(screen.getByText('# Opening hours')).toBeDefined();
  first.unmount();
  isMissing = false;
  render(<LazyMarkdown text="# Opening hours" isGrowing={false} />);
  expect(await screen.findByRole('heading', { name: 'Opening hours' })).toBeDefined();
});

const longText = (word: string): string =>
  Array.from({ length: 4000 }, (_, line) => `${word} ${line}, which is a paragraph.`).join('\n\n');

/** Frames that come when a test says so. */
function stubFrames(): { next: () => void; drawAll: () => void } {
  const waiting = new Map<number, FrameRequestCallback>();
  let handle = 0;
  vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => {
    waiting.set((handle += 1), callback);
    return handle;
  });
  vi.stubGlobal(
    'cancelAnimationFrame',
    vi.fn((cancelled: number) => waiting.delete(cancelled)),
  );
  const next = () =>
    act(() => {
      const callbacks = [...waiting.values()];
      waiting.clear();
      for (const callback of callbacks) callback(0);
    });
  const drawAll = () => {
    while (waiting.size > 0) next();
  };
  return { next, drawAll };
}

async function renderReplaceable(text: string) {
  const { prefetchMarkdown, ReplaceableMarkdown } = await loadFresh();
  prefetchMarkdown();
  await vi.dynamicImportSettled();
  const frames = stubFrames();
  const shown = (id: string, content: string) => <ReplaceableMarkdown id={id} text={content} isGrowing={false} />;
  const { container, rerender } = render(shown('first', text));
  frames.drawAll();
  const removed = () => container.querySelectorAll('.markdown.is-removed p').length;
  const visible = () => container.querySelectorAll('.markdown:not(.is-removed) p').length;
  return { ...frames, container, removed, visible, replace: (id: string, to: string) => rerender(shown(id, to)) };
}

test('a long answer goes in parts when another one takes its place', async () => {
  const { next, drawAll, container, removed, visible, replace } = await renderReplaceable(longText('Parcel'));
  expect(visible()).toBe(4000);
  replace('second', '');
  expect([removed(), visible()]).toEqual([4000, 0]);
  next();
  const afterOne = removed();
  expect(afterOne).toBeLessThan(4000);
  expect(afterOne).toBeGreaterThan(3000);
  replace('second', 'The parcel is late.');
  expect(screen.getByText('The parcel is late.').closest('.is-removed')).toBeNull();
  drawAll();
  expect(container.querySelectorAll('.markdown')).toHaveLength(1);
  expect([removed(), visible()]).toEqual([0, 1]);
});

test('an answer that grows does not put off the removal of the one before', async () => {
  const { replace, next, removed } = await renderReplaceable(longText('Parcel'));
  replace('second', '');
  vi.mocked(cancelAnimationFrame).mockClear();
  replace('second', 'The parcel');
  replace('second', 'The parcel is late.');
  expect(cancelAnimationFrame).not.toHaveBeenCalled();
  next();
  expect(removed()).toBeLessThan(4000);
});

test('a long answer that comes back while it goes is whole again', async () => {
  const { next, drawAll, removed, visible, replace } = await renderReplaceable(longText('Parcel'));
  replace('second', longText('Letter'));
  next();
  replace('first', longText('Parcel'));
  expect(visible()).toBe(4000);
  drawAll();
  expect([removed(), visible()]).toEqual([0, 4000]);
});

test('a short answer goes at once', async () => {
  const { removed, visible, replace } = await renderReplaceable('The parcel is late.');
  replace('second', 'It is here.');
  expect([removed(), visible()]).toEqual([0, 1]);
});
