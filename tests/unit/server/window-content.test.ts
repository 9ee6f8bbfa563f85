import { expect, test } from 'vitest';
import { contentSecurityPolicy, isWindowPath } from '../../../electron/server/window-content.ts';

test('the window can load itself and nothing else', () => {
  const directives = Object.fromEntries(
    contentSecurityPolicy.split('; ').map((directive) => {
      const [name, ...sources] = directive.split(' ');
      return [name, sources.join(' ')];
    }),
  );
  expect(directives).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'font-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
});

test.each([
  ['/', true],
  ['/assets/main.js', true],
  ['/favicon.ico', true],
  ['/favicon-32.png', true],
  ['/assets', false],
  ['/index.html', false],
  ['/api/completions', false],
  ['/window/host', false],
  ['', false],
])('%s is a path of the window: %s', (path, expected) => {
  expect(isWindowPath(path)).toBe(expected);
});
