import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { Suspense } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { ErrorBoundary } from '../../../../renderer/components/error-boundary.tsx';
import { lazyPart } from '../../../../renderer/components/lazy-part.tsx';

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

test('a part whose files did not come says so, and is there once they come', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const answers = [Promise.reject(new TypeError('404')), Promise.reject(new TypeError('404'))];
  for (const answer of answers) answer.catch(() => undefined);
  const load = vi.fn(() => answers.shift() ?? Promise.resolve(() => <p>Here it is</p>));
  const Part = lazyPart(load);
  render(
    <ErrorBoundary name="Audit">
      <Suspense fallback={<p>Opening</p>}>
        <Part />
      </Suspense>
    </ErrorBoundary>,
  );
  for (const attempt of [1, 2]) {
    expect(await screen.findByText('Audit could not be loaded')).toBeDefined();
    expect(load).toHaveBeenCalledTimes(attempt);
    fireEvent.click(screen.getByRole('button', { name: 'Open again' }));
  }
  expect(await screen.findByText('Here it is')).toBeDefined();
});
