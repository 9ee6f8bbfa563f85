import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ItemsPanel } from '../../../../../renderer/screens/audit/reviews/agreement-items.tsx';
import type { ItemAgreement, ReviewAgreement } from '../../../../../shared/contract/review-agreement.ts';
import type { ReviewQueue } from '../../../../../shared/contract/review-queues.ts';

afterEach(cleanup);

const measured = (question: string, change: Partial<ItemAgreement>): ItemAgreement => ({
  rubricItemId: question,
  question,
  kind: 'score',
  ratedItems: 62,
  percent: 0.9,
  kappa: null,
  alpha: null,
  interval: null,
  matrix: null,
  reason: null,
  passValue: null,
  flaggedValue: null,
  pairs: [],
  against: [],
  ...change,
});

function show(items: readonly ItemAgreement[]): HTMLElement {
  const agreement = { items } as unknown as ReviewAgreement;
  const props = { agreement, selected: items[0]!, pair: null, comparisons: [], onItem: () => {}, onPair: () => {} };
  render(<ItemsPanel queue={{} as ReviewQueue} {...props} />);
  return screen.getByRole('region', { name: 'Agreement per item' });
}

test('the scale names where alpha becomes tentative, at the place of the mark in each bar', () => {
  const panel = show([
    measured('Useful?', { alpha: 0.81, interval: [0.7, 0.9] }),
    measured('Polite?', { alpha: -0.2, interval: [-0.5, 0.1] }),
  ]);
  const marks = [...panel.querySelectorAll<HTMLElement>('.alpha__scale i')];
  expect(marks.map((mark) => [mark.textContent, mark.style.left])).toEqual([
    ['0', '0%'],
    ['0.67', '66.7%'],
    ['1', '100%'],
  ]);
  const bars = [...panel.querySelectorAll<HTMLElement>('.alpha__bar')].map(({ style }) =>
    ['--low', '--at', '--high', '--reference'].map((name) =>
      Math.round(Number.parseFloat(style.getPropertyValue(name))),
    ),
  );
  // Below 0 people agree less than by chance, and the bar starts at 0.
  expect(bars).toEqual([
    [70, 81, 90, 67],
    [0, 0, 10, 67],
  ]);
});

test.each([
  [0.8, 'Reliable', 'reliable'],
  [0.799, 'Tentative', 'enough for tentative conclusions'],
  [0.667, 'Tentative', 'enough for tentative conclusions'],
  [0.666, 'Too low', 'too low to rely on'],
  [-0.1, 'Too low', 'too low to rely on'],
])('an alpha of %d is %s', (alpha, verdict, meaning) => {
  const panel = show([measured('Useful?', { alpha })]);
  expect(screen.getByRole('button', { name: /Useful/ }).textContent).toContain(verdict);
  expect(panel.querySelector('[role=status]')!.textContent).toContain(`: ${meaning}.`);
});

test('an item without alpha has no bar, and says why', () => {
  const panel = show([measured('Useful?', { reason: 'All values are equal.' }), measured('Why?', { kind: 'text' })]);
  expect(panel.querySelector('.alpha__bar')).toBeNull();
  screen.getByRole('button', { name: /All values are equal/ });
  screen.getByRole('button', { name: /Text, not measured/ });
});
