import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { Tooltip } from 'radix-ui';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { RunFailure } from '../../../../../renderer/screens/playground/answer/answer-body.tsx';
import type { ShownRun } from '../../../../../renderer/screens/playground/answer/shown-run.ts';
import { ProvidersPage } from '../../../../../renderer/screens/settings/providers-page.tsx';
import { AppError } from '../../../../../shared/app-error.ts';
import { confirmProviderAddress, updateProvider } from '../../../../../shared/contract/providers.ts';
import { startListingProvider, type ListingProvider } from '../../../../support/listing-provider.ts';
import { openWindow, type OpenWindow, type OpenWindowOptions } from '../../../../support/open-window.tsx';

const key = 'gsk-0123456789abcdef';
let opened: OpenWindow | undefined;
let provider: ListingProvider;

async function open(options: (provider: ListingProvider) => OpenWindowOptions): Promise<void> {
  provider = await startListingProvider(key, ['llama-3.1-8b-instant']);
  opened = await openWindow(<ProvidersPage />, options(provider));
}

afterEach(async () => {
  await opened?.close();
  await provider?.[Symbol.asyncDispose]();
  opened = undefined;
});

const row = async (name: string) => within(await screen.findByRole('group', { name }));

/** The key comes from the environment, the address from the settings. */
const openGroq = (address: string) =>
  open(({ baseAddress }) => ({
    address,
    // Groq itself is not asked.
    environment: { GROQ_API_KEY: key, HTTPS_PROXY: 'http://127.0.0.1:9' },
    prepare: (client) => client.call(updateProvider, { parameters: { aiSystem: 'Groq' }, body: { baseAddress } }),
  }));

describe('a key for another address', () => {
  test('is sent only after the confirmation in its row, to which a failed run leads', async () => {
    await openGroq('/settings/providers/Groq');
    const groq = await row('Groq');
    const { origin } = new URL(provider.baseAddress);
    expect(groq.getByText(`Use this key for ${origin}?`)).toBeTruthy();
    groq.getByText('https://api.groq.com');
    groq.getByText('Not confirmed');
    expect([groq.queryByText('Test'), groq.queryByLabelText('API key of Groq')]).toEqual([null, null]);
    const confirm = groq.getByRole('button', { name: 'Use this key' });
    expect(document.activeElement).toBe(confirm);
    expect(provider.keys).toEqual([]);
    fireEvent.click(confirm);
    await groq.findByText('Key set');
    await groq.findByText(/Tested .*, 1 model/);
    expect(new Set(provider.keys)).toEqual(new Set([key]));
    expect([groq.queryByText('Use this key'), groq.queryByLabelText('API key of Groq')]).toEqual([null, null]);
    expect(document.activeElement).toBe(groq.getByText('Replace').closest('button'));
  });

  test('stays unsent when the address is reset', async () => {
    await openGroq('/settings/providers');
    const groq = await row('Groq');
    fireEvent.click(groq.getByText('Use default URL'));
    await groq.findByText('Key set');
    expect(provider.keys).toEqual([]);
  });

  test("is not sent to an address that the user hasn't seen", async () => {
    await openGroq('/settings/providers');
    const groq = await row('Groq');
    const { client } = opened!.window.host;
    const wrong = client.call(confirmProviderAddress, {
      parameters: { aiSystem: 'Groq' },
      body: { origin: 'https://api.groq.com' },
    });
    await expect(wrong).rejects.toThrow('The address has changed');
    opened!.window.storage.providerCache.setBaseAddress('Groq', 'http://0.0.0.0:1/v1');
    fireEvent.click(groq.getByText('Use this key'));
    await groq.findByText('The address has changed. Check it and try again.');
    await groq.findByText('Use this key for http://0.0.0.0:1?');
    expect(provider.keys).toEqual([]);
  });
});

test('an endpoint of another database gets nothing before its address is confirmed', async () => {
  await open(({ baseAddress }) => ({
    prepare: async (_client, { storage }) =>
      storage.providerCache.addEndpoint({
        name: 'gateway',
        baseAddress: baseAddress.replace('127.0.0.1', '0.0.0.0'),
      }),
  }));
  const gateway = await row('gateway');
  gateway.getByText(`Send prompts to http://0.0.0.0:${new URL(provider.baseAddress).port}?`);
  gateway.getByText('Not encrypted');
  expect([gateway.queryByText('Test'), provider.keys]).toEqual([null, []]);
  fireEvent.click(gateway.getByText('Use this address'));
  await gateway.findByText('Test');
  expect(provider.keys.length).toBeGreaterThan(0);
  expect(gateway.queryByText(/Send prompts to/)).toBeNull();
});

describe('an address that others on the network can listen to', () => {
  const caution = /^Not encrypted: others on the network can read/;

  test('shows a warning at its field while it is typed, and in the row of a provider', async () => {
    await open(() => ({}));
    const groq = await row('Groq');
    fireEvent.click(groq.getByLabelText('Base URL of Groq'));
    const field = groq.getByLabelText('Base URL of Groq', { selector: 'input' });
    const type = (value: string) => fireEvent.change(field, { target: { value } });
    for (const safe of ['https://gateway.example/v1', 'http://127.0.0.1:8000/v1', 'http://localhost/v1', 'http:']) {
      type(safe);
      expect(groq.queryByText(caution)).toBeNull();
    }
    type('http://gateway.example/v1');
    expect(groq.getByText(caution).id).toBe(field.getAttribute('aria-describedby'));
    fireEvent.click(groq.getByText('Save'));
    await groq.findByText('Not encrypted');
    fireEvent.click(groq.getByText('Add key'));
    groq.getByText(caution);
    groq.getByText('http://gateway.example/v1');
  });

  test('shows a warning in the form of an endpoint', async () => {
    await open(() => ({}));
    fireEvent.click(await screen.findByText('Add endpoint'));
    const form = within(screen.getByRole('form', { name: 'New endpoint' }));
    fireEvent.change(form.getByLabelText('Base URL'), { target: { value: 'http://192.0.2.7:8000/v1' } });
    form.getByText(caution);
    fireEvent.change(form.getByLabelText('Base URL'), { target: { value: 'https://192.0.2.7:8000/v1' } });
    await waitFor(() => expect(form.queryByText(caution)).toBeNull());
  });
});

test('a run that needs a confirmation leads to its row', () => {
  const { hook, history } = memoryLocation({ path: '/', record: true });
  const message =
    "The API key of Groq is for https://api.groq.com and isn't sent to https://b.example. Check the address in Settings, Providers and keys.";
  const run = { aiSystem: 'Groq', model: 'm', text: '', servedBy: null } as unknown as ShownRun;
  const nothing = () => {};
  render(
    <Tooltip.Provider>
      <Router hook={hook}>
        <RunFailure
          failure={{
            code: 'provider_not_configured',
            message,
            error: new AppError('provider_not_configured', message),
          }}
          run={run}
          actions={{ runAgain: nothing, pickModel: nothing, installModel: nothing }}
        />
      </Router>
    </Tooltip.Provider>,
  );
  fireEvent.click(screen.getByText('Check address'));
  expect(history.at(-1)).toBe('/settings/providers/Groq');
});
