import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const script = readFileSync(join(import.meta.dirname, '../../../renderer/public/assets/prepare-window.v1.js'), 'utf8');

interface Start {
  readonly address?: string;
  readonly stored?: Readonly<Record<string, string>>;
  readonly isDesktop?: boolean;
}

/** The head of a page in which the script ran. */
function prepare({ address = '', stored = {}, isDesktop = true }: Start) {
  const page = document.implementation.createHTMLDocument();
  const screens = { playground: ['assets/p.js', 'assets/p.css'], audit: ['assets/a.js'] };
  const dataset = { fonts: '["assets/f.woff2"]', screens: JSON.stringify(screens) };
  Object.defineProperty(page, 'currentScript', { value: { dataset } });
  runInNewContext(script, {
    document: page,
    window: isDesktop ? { touchstone: {} } : {},
    location: { hash: address },
    localStorage: { getItem: (key: string) => stored[key] ?? null },
  });
  const links = [...page.head.querySelectorAll('link')];
  return {
    theme: page.documentElement.dataset['theme'],
    links: links.map(({ rel, as, crossOrigin, attributes }) =>
      [rel, as, crossOrigin, attributes.getNamedItem('href')?.value].join(' '),
    ),
  };
}

const font = 'preload font anonymous /assets/f.woff2';
const audit = [font, 'modulepreload script anonymous /assets/a.js'];
const lastScreen = (location: string) => ({ 'touchstone.window': JSON.stringify({ state: { location }, version: 1 }) });

const playground = [font, 'modulepreload script anonymous /assets/p.js', 'preload style anonymous /assets/p.css'];
test('the desktop loads the fonts and the files of the first screen at once', () => {
  expect(prepare({}).links).toEqual(playground);
  expect(prepare({ address: '#/' }).links).toEqual(playground);
  expect(prepare({ stored: lastScreen('/audit/runs/1') }).links).toEqual(audit);
  expect(prepare({ address: '#/audit', stored: lastScreen('/playground') }).links).toEqual(audit);
  for (const address of ['#/nowhere', '#/constructor', '#/audits']) expect(prepare({ address }).links).toEqual([font]);
  expect(prepare({ stored: { 'touchstone.window': '{"state":{"location":1}}' } }).links).toEqual([font]);
});

test('a browser loads what the first paint needs before anything else', () => {
  expect(prepare({ isDesktop: false }).links).toEqual([]);
});

test.each(['light', 'dark'])('the theme %s is applied before the first paint', (theme) => {
  expect(prepare({ stored: { 'touchstone.theme': theme } }).theme).toBe(theme);
});

test.each(['system', '"><script>'])('no other theme is applied: %s', (theme) => {
  expect(prepare({ stored: { 'touchstone.theme': theme } }).theme).toBeUndefined();
});

test.each(['{', 'null', '{"state":{}}'])('a damaged last address is that of the first start: %s', (stored) => {
  expect(prepare({ stored: { 'touchstone.window': stored } }).links).toEqual(playground);
});
