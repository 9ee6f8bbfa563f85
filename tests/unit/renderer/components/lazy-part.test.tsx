import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { ErrorBoundary } from '../../../../renderer/components/error-boundary.tsx';
import { lazyPart } from '../../../../renderer/components/lazy-part.tsx';

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

test("a part whose files didn't load says so, and appears once they load", async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const answers = [Promise.reject(new TypeError('404')), Promise.reject(new TypeError('404'))];
  for (const answer of answers) answer.catch(() => undefined);
  const load = vi.fn(() => answers.shift() ?? Promise.resolve(() => <p>Here it is</p>));
  const Part = lazyPart('Audit', load);
  render(
    <ErrorBoundary name="Audit">
      <Part />
    </ErrorBoundary>,
  );
  for (const attempt of [1, 2]) {
    expect(await screen.findByText("Couldn't load Audit")).toBeDefined();
    expect(load).toHaveBeenCalledTimes(attempt);
    fireEvent.click(screen.getByRole('button', { name: 'Reload this screen' }));
  }
  expect(await screen.findByText('Here it is')).toBeDefined();
});

test('a part that opens while the styles of another one load waits no longer than they do', async () => {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  document.head.append(link);
  // As the bundler's loader does, once for all parts that need the sheet.
  const styles = new Promise((resolve) => link.addEventListener('load', resolve));
  const Part = lazyPart('Audit', async () => {
    await styles;
    return () => <p>Here it is</p>;
  });
  render(<Part />);
  expect(screen.getByLabelText('Loading Audit')).toBeDefined();
  // They are requested again, because they may have failed.
  expect(link.isConnected).toBe(false);
  fireEvent.load(document.head.querySelector('link[rel="stylesheet"]') as HTMLLinkElement);
  expect(await screen.findByText('Here it is')).toBeDefined();
});

test('a part that was loaded before is shown without a placeholder', async () => {
  const load = vi.fn(() => Promise.resolve(() => <p>Here it is</p>));
  const Part = lazyPart('Audit', load);
  await Part.load();
  render(<Part />);
  expect(screen.queryByLabelText('Loading Audit')).toBeNull();
  expect(screen.getByText('Here it is')).toBeDefined();
  expect(load).toHaveBeenCalledOnce();
});

test('a part that is loaded before it is shown interrupts no styles that still load', async () => {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  document.head.append(link);
  await lazyPart('Audit', () => Promise.resolve(() => null)).load();
  expect(link.isConnected).toBe(true);
  link.remove();
});

test('a part that could not be loaded before is loaded again when it is shown', async () => {
  const answers = [Promise.reject(new TypeError('404'))];
  const Part = lazyPart('Audit', () => answers.shift() ?? Promise.resolve(() => <p>Here it is</p>));
  await expect(Part.load()).rejects.toThrow('The part could not be loaded.');
  render(<Part />);
  expect(await screen.findByText('Here it is')).toBeDefined();
});
