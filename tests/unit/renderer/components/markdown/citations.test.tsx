import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { CitedText } from '../../../../../renderer/components/markdown/citation-button.tsx';
import { MarkdownView } from '../../../../../renderer/components/markdown/markdown-view.tsx';
import type { Citation } from '../../../../../shared/contract/completions.ts';
import { standInForLayout } from '../../../../support/layout-stand-ins.ts';

const citations: Citation[] = [
  { index: 1, sourceId: 's1', sourceName: 'kestrel.md', text: 'The torque is 42.', relevance: 0.9, start: 8, end: 60 },
  {
    index: 2,
    sourceId: 's2',
    sourceName: 'hangar.pdf',
    text: 'Doors: six.',
    relevance: 0.5,
    page: 3,
    start: 0,
    end: 11,
  },
];

function show(text: string): readonly string[] {
  standInForLayout();
  const { hook, history } = memoryLocation({ path: '/playground', record: true });
  render(
    <Router hook={hook}>
      <CitedText citations={citations}>
        <MarkdownView text={text} isGrowing={false} />
      </CitedText>
    </Router>,
  );
  return history;
}

const marks = () => screen.queryAllByRole('button', { name: /^\[\d\]$/ }).map(({ textContent }) => textContent);

afterEach(cleanup);

test('numbers of passages are separate buttons inside any text', () => {
  show('- It takes **42** [1].\n- Doors open at six [1, 2].');
  expect(marks()).toEqual(['[1]', '[1]', '[2]']);
});

test('a number without a passage stays plain text, and so do code and links', () => {
  show('Nothing at [7]. `a[1]` and [a link [1]](https://example.test) stay.');
  expect(marks()).toEqual([]);
  expect(document.body.textContent).toContain('Nothing at [7]. a[1] and a link [1] stay.');
});

test('a number shows its passage, which links to its position in the source', () => {
  const addresses = show('Doors open at six [2].');
  fireEvent.click(screen.getByRole('button', { name: '[2]' }));
  const passage = screen.getByRole('dialog', { name: 'Passage 2' });
  expect(passage.textContent).toContain('hangar.pdfPage 350 % relevantDoors: six.');
  fireEvent.click(screen.getByRole('button', { name: 'Open source' }));
  expect(addresses.at(-1)).toBe('/knowledge/sources/s2/0-11');
});
