import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { excerptStart, MarkedText } from '../../../../renderer/components/marked-text.tsx';

const passage =
  'The workshop in Leipzig repairs bicycles of every age and make. The workshop has been there since 1987, and most of ' +
  'its customers come back. On Saturdays the workshop closes at four, on all other days at six. Keys are with the neighbour.';

test('an excerpt starts a little before the position with the most terms, at a word', () => {
  const start = excerptStart(passage, 'When does the workshop close on Saturdays?', 120);
  expect(passage.slice(start)).toMatch(/^most of its customers come back\. On Saturdays/);
  const { container } = render(<MarkedText text={passage} query="workshop Saturdays" characters={120} />);
  expect(container.textContent).toMatch(/^… most of its customers/);
  expect([...container.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['Saturdays', 'workshop']);
});

test('a text whose start has as many matches is shown from its start, and so is one without a match', () => {
  expect(
    ['Which bicycles does Leipzig repair?', 'the workshop', 'unheard of', 'is it?'].map((query) =>
      excerptStart(passage, query, 120),
    ),
  ).toEqual([0, 0, 0, 0]);
});
