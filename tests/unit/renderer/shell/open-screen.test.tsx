import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { Square } from 'lucide-react';
import { useEffect, type ComponentType } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Router, useLocation } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { ErrorBoundary } from '../../../../renderer/components/error-boundary.tsx';
import { OpenScreen } from '../../../../renderer/shell/shell.tsx';
import type { Screen } from '../../../../renderer/shell/screens.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function screenOf(id: string, name: string, component: ComponentType): Screen {
  return { id, name, component: Object.assign(component, { load: () => Promise.resolve() }), icon: Square, keys: '' };
}

const quiet = screenOf('audit', 'Audit', () => <p>The audit</p>);

/** The frame of the window around the screen of the address, without anything else. */
function openAt(address: string, screens: readonly Screen[]) {
  const { hook, navigate, history } = memoryLocation({ path: address, record: true });
  function Frame() {
    const [location] = useLocation();
    return (
      <>
        <p>The frame</p>
        <OpenScreen screen={screens.find(({ id }) => location.split('/')[1] === id)} />
      </>
    );
  }
  render(
    <ErrorBoundary name="Touchstone">
      <Router hook={hook}>
        <Frame />
      </Router>
    </ErrorBoundary>,
  );
  return { go: navigate, addresses: history };
}

/** What React calls as the cleanup is a promise, as with an effect that returns the value of `scrollIntoView`. */
function WithoutCleanup() {
  const [location] = useLocation();
  // oxlint-disable-next-line touchstone/effect-returns-cleanup -- the mistake that the rule is about
  useEffect(() => Promise.resolve(location) as unknown as () => void, [location]);
  return <p>At {location}</p>;
}

const broken = screenOf('knowledge', 'Knowledge', WithoutCleanup);

test('a crash replaces the screen, and reloading it leaves the address that crashed', async () => {
  const { go, addresses } = openAt('/knowledge/one', [broken, quiet]);
  go('/knowledge/two');
  expect(await screen.findByText('Knowledge crashed')).toBeTruthy();
  expect(screen.getByText('The frame')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Reload this screen' }));
  expect(await screen.findByText('At /knowledge')).toBeTruthy();
  expect(addresses.at(-1)).toBe('/knowledge');
  go('/audit');
  expect(await screen.findByText('The audit')).toBeTruthy();
});

test('a screen that crashes at every address but its own is shown again', async () => {
  const part = screenOf('knowledge', 'Knowledge', function Part() {
    const [location] = useLocation();
    if (location !== '/knowledge') throw new Error('Not this one');
    return <p>Works</p>;
  });
  openAt('/knowledge/one', [part]);
  expect(await screen.findByText('Not this one')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Reload this screen' }));
  expect(await screen.findByText('Works')).toBeTruthy();
});

test('another address clears a crash, and a crash there is shown too', async () => {
  const part = screenOf('knowledge', 'Knowledge', function Part() {
    const [location] = useLocation();
    if (location.endsWith('!')) throw new Error(location);
    return <p>At {location}</p>;
  });
  const { go } = openAt('/knowledge/one!', [part]);
  expect(await screen.findByText('/knowledge/one!')).toBeTruthy();
  go('/knowledge/two!');
  expect(await screen.findByText('/knowledge/two!')).toBeTruthy();
  go('/knowledge/three');
  expect(await screen.findByText('At /knowledge/three')).toBeTruthy();
});

test('a screen whose cleanup crashes is left for the next screen, repeatedly', async () => {
  const { go } = openAt('/knowledge', [broken, quiet]);
  for (let round = 0; round < 10; round += 1) {
    go('/knowledge');
    expect(await screen.findByText('At /knowledge')).toBeTruthy();
    go('/audit');
    expect(await screen.findByText('The audit')).toBeTruthy();
    expect(screen.getByText('The frame')).toBeTruthy();
  }
});

test('a crash is shown even if the cleanup crashes too', async () => {
  const part = screenOf('knowledge', 'Knowledge', function Part() {
    const [location] = useLocation();
    if (location.endsWith('!')) throw new Error('boom');
    return <WithoutCleanup />;
  });
  const { go } = openAt('/knowledge', [part, quiet]);
  go('/knowledge/one!');
  expect(await screen.findByText('Knowledge crashed')).toBeTruthy();
  go('/audit');
  expect(await screen.findByText('The audit')).toBeTruthy();
});
