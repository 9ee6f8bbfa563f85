import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { afterEach, expect, test } from 'vitest';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { HostProvider } from '../../../../../renderer/host/host-context.tsx';
import { createQueryClient } from '../../../../../renderer/queries/query-client.ts';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { DataPage } from '../../../../../renderer/screens/settings/data-page.tsx';
import { useLiveRuns } from '../../../../../renderer/stores/live-runs.ts';
import { usePlaygroundView } from '../../../../../renderer/stores/playground-view.ts';
import { useDrafts } from '../../../../../renderer/stores/playground-drafts.ts';
import { readSettings } from '../../../../../shared/contract/settings.ts';
import { openPlayground, type OpenPlayground } from '../../../../support/open-playground.tsx';

let playground: OpenPlayground;
afterEach(() => playground.close());

const side = (name: string) => screen.findByRole('region', { name: `Provider ${name}` });

async function expectExchange(): Promise<void> {
  const request = await side('request');
  expect(request.textContent).toContain('/chat/completions');
  expect(request.textContent).toContain('"model": "kestrel"');
  expect((await side('response')).textContent).toContain('data: [DONE]');
}

/** Shows another screen on the same host. */
function show(part: React.ReactElement, address: string): void {
  cleanup();
  const { hook, searchHook } = memoryLocation({ path: address });
  render(
    <HostProvider value={playground.opened.window.host}>
      <QueryClientProvider client={createQueryClient()}>
        <Tooltip.Provider>
          <Router hook={hook} searchHook={searchHook}>
            {part}
          </Router>
        </Tooltip.Provider>
      </QueryClientProvider>
    </HostProvider>,
  );
}

test('the Provider view shows the sent request of a new run, in the history and in the audit', async () => {
  playground = await openPlayground();
  act(() => usePlaygroundView.setState({ isWireOpen: true, wireView: 'provider' }));
  await screen.findByText('Run the prompt to see what the provider receives.');
  playground.run('Good morning');
  await expectExchange();

  // After a restart only the host knows the run.
  act(() => useLiveRuns.setState({ runs: {} }));
  await expectExchange();
  fireEvent.click(screen.getByRole('radio', { name: 'Request' }));
  await screen.findByText(/frames aren't stored/);

  show(<AuditScreen />, '/audit/all');
  fireEvent.click(await screen.findByRole('radio', { name: 'Provider' }));
  await expectExchange();
});

test('the setting turns storing off, keeps the newest or all, and the view explains why it is empty', async () => {
  playground = await openPlayground();
  playground.run('Good morning');
  await screen.findByRole('group', { name: 'Rate the answer' });
  show(<DataPage />, '/settings/data');
  const group = () => screen.findByRole('radiogroup', { name: 'Store provider requests and raw responses' });
  const { client } = playground.opened.window.host;
  for (const [name, keep, meaning] of [
    ['All runs', 'all', /Stored for every run/],
    ['Last 1,000 runs', 'newest', /Stored for the last 1,000 runs/],
    ['Off', 'none', /what was stored is deleted/],
  ] as const) {
    fireEvent.click(within(await group()).getByRole('radio', { name }));
    await screen.findByText(meaning);
    await waitFor(async () => expect((await client.call(readSettings)).providerExchanges.keep).toBe(keep));
  }
  show(<AuditScreen />, '/audit/all');
  fireEvent.click(await screen.findByRole('radio', { name: 'Provider' }));
  await screen.findByText('No provider request stored');
  await screen.findByText('Storing provider requests is off.');
  screen.getByRole('button', { name: 'Open data settings' });
  expect(useDrafts.getState().drafts[0]?.shownRunId).toBeTruthy();
});
