import { fireEvent, render, screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { RepeatChoice } from '../../../../../renderer/screens/compare/results/cell-answer.tsx';
import { ResultCharts } from '../../../../../renderer/screens/compare/results/result-charts.tsx';

test('the charts have the repeats of all variants if the first has none', () => {
  const variant = (name: string, rates: readonly number[]) => {
    const rate = { mean: 0.5, interval: null, rows: 4 };
    const repeatRates = rates.map((repeats) => ({ repeats, anyPasses: rate, allPass: rate }));
    const none = { passRate: null, score: null, cost: null, latency: null, differences: null };
    return { ...none, name, repeatRates };
  };
  const variants = [variant('old', []), variant('new', [1, 2]), variant('newest', [1, 2, 3])];
  render(<ResultCharts report={{ baseline: 'old', variants } as never} />);
  const [head, ...rows] = within(screen.getByRole('region', { name: 'Repeats' })).getAllByRole('row');
  expect(
    within(head!)
      .getAllByRole('columnheader')
      .slice(1)
      .map(({ textContent }) => textContent),
  ).toEqual(['At least 1 of 2 passes', 'All 2 pass', 'At least 1 of 3 passes', 'All 3 pass']);
  expect(rows.map(({ textContent }) => textContent)).toEqual(['old––––', 'new50 %50 %––', 'newest50 %50 %50 %50 %']);
});

test('every repeat of a cell can be chosen', () => {
  const choose = vi.fn();
  const { rerender } = render(<RepeatChoice repeats={3} value={1} onValueChange={choose} />);
  fireEvent.click(screen.getByRole('radio', { name: '3' }));
  rerender(<RepeatChoice repeats={100} value={57} onValueChange={choose} />);
  const list = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Repeat' });
  expect(list.value).toBe('57');
  fireEvent.change(list, { target: { value: '100' } });
  expect(choose.mock.calls).toEqual([[3], [100]]);
});
