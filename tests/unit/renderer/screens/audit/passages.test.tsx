import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { Passages } from '../../../../../renderer/screens/audit/detail/run-parts.tsx';
import type { ConversationRun } from '../../../../../shared/contract/conversations.ts';

const source = { sourceId: '5a5a5a5a-5a5a-4a5a-8a5a-5a5a5a5a5a5a', sourceName: 'Handbook.pdf', start: 100, end: 122 };

function show(citations: ConversationRun['citations']): string[] {
  render(<Passages run={{ citations } as ConversationRun} />);
  return screen.queryAllByRole('article').map((passage) => passage.textContent ?? '');
}

afterEach(cleanup);

describe('the passages of a run', () => {
  test('are listed with their source, page and relevance', () => {
    expect(
      show([
        { ...source, index: 1, page: 7, relevance: 0.8715, text: 'Refunds take ten days.' },
        { ...source, index: 2, relevance: 0.5, text: 'Parcels are insured.' },
      ]),
    ).toEqual([
      'Passage 1Handbook.pdf, page 7, relevance 0.87. Refunds take ten days.',
      'Passage 2Handbook.pdf, relevance 0.50. Parcels are insured.',
    ]);
  });

  test('are replaced by a note if an answer had none', () => {
    expect(show([])).toEqual([]);
    expect(screen.getByText('This run used no passages.')).toBeDefined();
  });
});
