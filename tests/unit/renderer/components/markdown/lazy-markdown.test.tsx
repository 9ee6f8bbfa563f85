import { cleanup, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => vi.resetModules());
afterEach(() => {
  cleanup();
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
