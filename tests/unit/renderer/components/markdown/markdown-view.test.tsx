// @module-tag slow
import { cleanup, render } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { Lexer } from 'marked';
import { afterEach, expect, test, vi } from 'vitest';
import { standInForLayout } from '../../../../support/layout-stand-ins.ts';
import { MarkdownView } from '../../../../../renderer/components/markdown/markdown-view.tsx';

afterEach(cleanup);

function show(text: string, isGrowing: boolean) {
  return (
    <Tooltip.Provider>
      <MarkdownView text={text} isGrowing={isGrowing} />
    </Tooltip.Provider>
  );
}

test('finished blocks keep their elements while the rest grows', () => {
  const { container, rerender } = render(show('First paragraph.\n\n- one\n- two', true));
  const paragraph = container.querySelector('p');
  const item = container.querySelector('li');
  rerender(show('First paragraph.\n\n- one\n- two and more\n\nLast', true));
  expect(container.querySelector('p')).toBe(paragraph);
  expect(container.querySelector('li')).toBe(item);
  expect([...container.querySelectorAll('li, p')].map(({ textContent }) => textContent?.trim())).toEqual([
    'First paragraph.',
    'one',
    'two and more',
    'Last',
  ]);
});

test('numbers of a list continue across its items', () => {
  const { container } = render(show('3. three\n4. four', false));
  expect([...container.querySelectorAll('ol')].map((list) => list.start)).toEqual([3, 4]);
});

test('numbers of three digits have space', () => {
  const numbered = (first: number, count: number): string =>
    Array.from({ length: count }, (_, index) => `${first + index}. item`).join('\n');
  const classes = (text: string) =>
    [...render(show(text, false)).container.querySelectorAll('ol')].map((list) => list.className);
  expect(classes(numbered(99, 2)).at(-1)).toBe('numbers-3');
  expect(classes(numbered(1, 99)).every((name) => name === '')).toBe(true);
  expect(classes(`${numbered(998, 3)}\n\nEnd.`)).toContain('numbers-4');
});

test('raw HTML is shown as text, and neither script nor image is loaded', () => {
  const { container } = render(
    show('<img src=x onerror=alert(1)> <script>alert(1)</script>\n\n![map](https://example.com/a.png)', false),
  );
  expect(container.querySelector('img, script')).toBe(null);
  expect(container.textContent).toContain('<script>alert(1)</script>');
  expect(container.textContent).toContain('map (https://example.com/a.png)');
});

test('links open outside and reveal nothing; an address that would run code is no link', () => {
  const { container } = render(show('[a](https://example.com) [b](javascript:alert(1))', false));
  const links = [...container.querySelectorAll('a')].map((link) => [link.getAttribute('href'), link.rel, link.target]);
  expect(links).toEqual([
    ['https://example.com', 'noopener noreferrer nofollow', '_blank'],
    ['', 'noopener noreferrer nofollow', '_blank'],
  ]);
});

test('the definitions at the end of a text are read once for all blocks', () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const definitions = numbers.map((number) => `[s${number}]: https://example.com/${number}`).join('\n');
  const text = `${numbers.map((number) => `See [s${number}].`).join('\n\n')}\n\n${definitions}`;
  const lex = vi.spyOn(Lexer.prototype, 'lex');
  const { container } = render(show(text, false));
  const readings = lex.mock.calls.filter(([source]) => source.includes(definitions));
  lex.mockRestore();
  expect(container.querySelectorAll('a')).toHaveLength(numbers.length);
  expect(readings).toHaveLength(1);
});

test('a link with its definition at the end works once the answer is complete', () => {
  const text = 'See [the terms][1].\n\nMore.\n\n[1]: https://example.com/terms';
  const { container, rerender } = render(show(text, true));
  expect(container.querySelector('a')).toBe(null);
  rerender(show(text, false));
  expect(container.querySelector('a')?.getAttribute('href')).toBe('https://example.com/terms');
});

test('code keeps every character, can be copied and names its language', () => {
  const code = Array.from({ length: 250 }, (_, index) => `line ${index} <b>`).join('\n');
  const { container, getByRole } = render(show(`\`\`\`ts title="a"\n${code}\n\`\`\``, false));
  expect(container.querySelector('pre')?.textContent).toBe(code);
  expect(container.querySelector('figcaption')?.textContent).toContain('ts');
  expect(getByRole('button', { name: 'Copy code' })).toBeTruthy();
});

test('headings of an answer are below the heading of its panel', () => {
  const { container } = render(show('# One\n\n## Two', false));
  expect([...container.querySelectorAll('h3, h4')].map(({ tagName, textContent }) => [tagName, textContent])).toEqual([
    ['H3', 'One'],
    ['H4', 'Two'],
  ]);
});

test('each block takes its direction from its own first letter, lists and tables as a whole', () => {
  const text = '# حجر\n\nفقرة\n\nA paragraph\n\n- واحد\n\n> اقتباس\n\n| عمود |\n| --- |\n| قيمة |';
  const { container } = render(show(text, false));
  const directed = [...container.querySelectorAll('[dir=auto]')].map(({ tagName }) => tagName.toLowerCase());
  expect(directed).toEqual(['h3', 'p', 'p', 'ul', 'blockquote', 'div']);
});

test('entities are characters, and only outside code', () => {
  const { container } = render(
    show('Ham &amp; eggs &copy; &#x263A; &nosuch; `&amp;` [a &lt; b](https://example.com/?a=1&amp;b=2)', false),
  );
  expect(container.textContent).toBe('Ham & eggs © ☺ &nosuch; &amp; a < b');
  expect(container.querySelector('a')?.getAttribute('href')).toBe('https://example.com/?a=1&b=2');
});

test.each([
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java&#x0A;script:alert(1)',
  '&#106;avascript:alert(1)',
  'javascript&colon;alert(1)',
  'vbscript:x',
  'data:text/html,x',
  'file:///etc/passwd',
  'blob:https://example.com/x',
  'app://window/',
])('a link to %s leads nowhere', (address) => {
  const { container } = render(show(`[a](${address}) <${address}>`, false));
  for (const link of container.querySelectorAll('a')) expect(link.getAttribute('href')).toBe('');
});

test('footnotes, task lists, tables and line breaks', () => {
  const text =
    'See[^note].\\\nEnd\n\n- [x] done\n- [ ] open\n\n| a | b |\n|:-:|--:|\n| **1** | 2 |\n\n[^note]: https://example.com';
  const { container } = render(show(text, false));
  expect(container.querySelector('p')?.innerHTML).toBe('See<sup>note</sup>.<br>End');
  expect([...container.querySelectorAll('input')].map(({ checked, disabled }) => [checked, disabled])).toEqual([
    [true, true],
    [false, true],
  ]);
  expect([...container.querySelectorAll<HTMLElement>('th, td')].map(({ style }) => style.textAlign)).toEqual([
    'center',
    'right',
    'center',
    'right',
  ]);
  expect([...container.querySelectorAll('p')].at(-1)?.textContent).toBe('note: https://example.com');
});

test.each(['>', '- ', '1. ', '*a ', '**a', '[', '![', '_a_', '<b>', '`', '| ', '~~'])(
  'a long answer that consists of %j is shown, also inside a list and a quotation',
  async (mark) => {
    standInForLayout();
    for (const start of ['', '- ', '> ']) {
      const { container, unmount } = render(show(`${start}${mark.repeat(20_000 / mark.length)}\n\nThe end`, false));
      await expect.poll(() => container.textContent).toContain('The end');
      unmount();
    }
  },
);

test('a long paragraph is one paragraph, and a long table one table for the reader', async () => {
  standInForLayout();
  const paragraph = 'Some **bold** words. '.repeat(500);
  const table = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(800)}`;
  const { container } = render(show(`${paragraph}\n\n${table}\nThe end`, false));
  await expect.poll(() => container.textContent).toContain('The end');
  expect(container.querySelectorAll('p').length).toBe(2);
  expect(container.querySelectorAll('strong').length).toBe(500);
  expect(container.querySelectorAll('[aria-label=Table]').length).toBe(1);
  expect(container.querySelectorAll('tbody tr').length).toBe(800);
  expect(container.querySelectorAll('thead').length).toBe(1);
});

test('a long list goes on after its item was divided', async () => {
  const items = Array.from({ length: 400 }, (_, index) => `  - inner item ${index}`).join('\n');
  const { container } = render(show(`- outer\n${items}\n- last\n\nThe end`, false));
  await expect.poll(() => container.textContent).toContain('The end');
  expect(container.querySelectorAll('li').length).toBe(402);
  expect(container.querySelector('pre')).toBe(null);
});
