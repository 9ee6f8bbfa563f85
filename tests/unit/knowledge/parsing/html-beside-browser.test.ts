// @vitest-environment jsdom
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { readSourceText } from './test-files.ts';

const root = join(import.meta.dirname, '../../../..');
const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`);

const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];

describe('HTML beside a browser', () => {
  test.each(['README.md', ...decisions])('%s as a page has all visible words, in their order', async (file) => {
    const page = `<body>${marked.parse(readFileSync(join(root, file), 'utf8'), { async: false })}</body>`;
    const { body } = new DOMParser().parseFromString(page, 'text/html');
    // Names of columns are repeated in each row, and alternative texts are only shown where pictures are not.
    for (const element of body.querySelectorAll('table, img')) element.remove();
    const withoutNumbers = (text: string) => wordsOf(text.replaceAll(/^(?:\d+\.|-) /gm, ''));
    const { text } = await readSourceText('a.html', `<meta charset="utf-8">${body.outerHTML}`);
    expect(withoutNumbers(text)).toEqual(wordsOf(body.textContent));
  });
});
