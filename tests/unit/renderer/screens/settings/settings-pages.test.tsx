// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import type { ReactElement } from 'react';
import { ApiKeysPage } from '../../../../../renderer/screens/settings/api-keys-page.tsx';
import { DataPage } from '../../../../../renderer/screens/settings/data-page.tsx';
import { EmbeddingsPage } from '../../../../../renderer/screens/settings/embeddings-page.tsx';
import { EndpointsPage } from '../../../../../renderer/screens/settings/endpoints-page.tsx';
import { LocalServerPage } from '../../../../../renderer/screens/settings/local-server-page.tsx';
import { OnDevicePage } from '../../../../../renderer/screens/settings/on-device-page.tsx';
import { ServiceModelsPage } from '../../../../../renderer/screens/settings/service-models-page.tsx';
import { SettingsScreen } from '../../../../../renderer/screens/settings/settings-screen.tsx';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { issueApiKey } from '../../../../../shared/contract/api-keys.ts';
import { addEndpoint, testEndpoint } from '../../../../../shared/contract/providers.ts';
import { readSettings, updateSettings } from '../../../../../shared/contract/settings.ts';
import { holdCalls } from '../../../../support/hold-calls.ts';
import { startListingProvider } from '../../../../support/listing-provider.ts';
import { openWindow, type OpenWindow, type OpenWindowOptions } from '../../../../support/open-window.tsx';

let opened: OpenWindow;

async function open(page: ReactElement, options: OpenWindowOptions = {}): Promise<void> {
  opened = await openWindow(page, options);
}

const press = async (name: string | RegExp) => fireEvent.click(await screen.findByRole('button', { name }));
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

afterEach(() => opened.close());

describe('an API key', () => {
  test('is shown once, when it is created', async () => {
    await open(<ApiKeysPage />);
    await screen.findByText('No API keys');
    await press('Create API key');
    fill('Name', 'nightly-report');
    fill('Credit limit', '10,000');
    await press('Create key');
    const shown = await screen.findByText(/^ts_/);
    const key = shown.textContent ?? '';
    await press('Done');
    expect(document.documentElement.outerHTML).not.toContain(key);
    const row = screen.getByText('nightly-report').closest('tr') as HTMLElement;
    expect(row.textContent).toContain('10,000');
  });

  test('is shown when its form is left before it is created', async () => {
    await open(<ApiKeysPage />);
    await screen.findByText('No API keys');
    const held = holdCalls(opened.window.host.client, issueApiKey);
    await press('Create API key');
    fill('Name', 'nightly-report');
    await press('Create key');
    await waitFor(() => expect(held.count()).toBe(1));
    await press('Cancel');
    held.release();
    await screen.findByText(/^ts_/);
  });

  test('that is created after its page is left is named, to revoke it', async () => {
    useToasts.setState({ toasts: [] });
    await open(<SettingsScreen />, { address: '/settings/api-keys' });
    const held = holdCalls(opened.window.host.client, issueApiKey);
    fireEvent.click((await screen.findAllByRole('button', { name: 'Create API key' }))[0]!);
    fill('Name', 'nightly-report');
    await press('Create key');
    await waitFor(() => expect(held.count()).toBe(1));
    opened.navigate('/settings/privacy');
    held.release();
    await waitFor(() =>
      expect(useToasts.getState().toasts.map(({ text }) => text)).toEqual([
        expect.stringMatching(/^Created the key "nightly-report" after you left its page/),
      ]),
    );
  });

  test('needs a name, a scope and a limit that is a number', async () => {
    await open(<ApiKeysPage />);
    await press('Create API key');
    fill('Credit limit', 'many');
    // Only `run` is selected at first.
    const scopes = screen.getAllByRole('checkbox');
    expect(scopes.map((scope) => scope.getAttribute('aria-checked'))).toEqual(['true', 'false', 'false']);
    fireEvent.click(scopes[0]!);
    await press('Create key');
    expect(screen.getByText(/Enter the name/)).toBeTruthy();
    expect(screen.getByText(/Must be a whole number from 0/)).toBeTruthy();
    expect(screen.getByText('Select at least one scope')).toBeTruthy();
    expect(opened.window.requests).not.toContain('POST /window/api-keys');
  });

  test('is revoked after a confirmation, and then listed among the revoked', async () => {
    await open(<ApiKeysPage />);
    await press('Create API key');
    fill('Name', 'old-script');
    await press('Create key');
    await press('Done');
    await press('Revoke old-script');
    await press('Revoke key');
    fireEvent.click(await screen.findByLabelText('Show 1 revoked'));
    const row = screen.getByText('old-script').closest('tr') as HTMLElement;
    expect(within(row).queryByRole('button', { name: 'Revoke old-script' })).toBeNull();
  });

  test('gets other limits', async () => {
    await open(<ApiKeysPage />);
    await press('Create API key');
    fill('Name', 'support');
    await press('Create key');
    await press('Done');
    await press('Edit limits of support');
    fill('Credit limit', '250');
    fill('Requests per minute', '60');
    fill('Tokens per minute', '9000');
    await press('Save');
    await waitFor(() =>
      expect(screen.getByText('support').closest('tr')?.textContent).toContain('25060 requests/min9,000 tokens/min'),
    );
  });
});

describe('a compatible endpoint', () => {
  test('is added and tested in one step, changed and removed', async () => {
    await using provider = await startListingProvider('', ['llama3.2', 'qwen3']);
    await open(<EndpointsPage />);
    await press('Add endpoint');
    fill('Name', 'workshop');
    fill('Base URL', provider.baseAddress);
    await press('Save and test');
    const row = await screen.findByRole('group', { name: 'workshop' });
    await within(row).findByText('Reachable');
    await within(row).findByText(/, 2 models/);
    fireEvent.click(within(row).getByRole('button', { name: 'Remove workshop' }));
    await press('Remove endpoint');
    await screen.findByText(/No endpoints/);
  });

  test('has prices for its models, validated before they are sent and removed if both are empty', async () => {
    await using provider = await startListingProvider('', ['llama3.2', 'qwen3']);
    await open(<EndpointsPage />, {
      prepare: async (client) => {
        await client.call(addEndpoint, { body: { name: 'workshop', baseAddress: provider.baseAddress } });
        await client.call(testEndpoint, { parameters: { name: 'workshop' } });
      },
    });
    const saved = async () => (await opened.window.host.client.call(readSettings)).endpointPrices;
    await press('Prices of workshop');
    await screen.findByLabelText('Input price of llama3.2');
    fill('Input price of llama3.2', '0.25');
    await press('Save prices');
    expect(screen.getByText('Enter both prices or neither')).toBeTruthy();
    fill('Output price of llama3.2', '1e3');
    await press('Save prices');
    expect(screen.getByText('Must be a number from 0 to 100,000')).toBeTruthy();
    expect(await saved()).toEqual([]);
    fill('Output price of llama3.2', '1.5');
    await press('Save prices');
    await waitFor(() => expect(screen.queryByRole('form', { name: 'Prices of workshop' })).toBeNull());
    expect(await saved()).toEqual([{ model: 'workshop/llama3.2', inputPrice: 0.25, outputPrice: 1.5 }]);
    await press('Prices of workshop');
    expect((await screen.findByLabelText<HTMLInputElement>('Input price of llama3.2')).value).toBe('0.25');
    fill('Input price of llama3.2', '');
    fill('Output price of llama3.2', ' ');
    await press('Save prices');
    await waitFor(async () => expect(await saved()).toEqual([]));
  });

  test('rejects an invalid name or address field by field before it is sent', async () => {
    await open(<EndpointsPage />);
    await press('Add endpoint');
    fill('Name', 'my gateway');
    fill('Base URL', 'localhost:11434');
    await press('Save and test');
    expect(screen.getByText(/^Must be 1 to 64 letters/)).toBeTruthy();
    expect(screen.getByText(/^Must be an http or https address/)).toBeTruthy();
    expect(opened.window.requests).not.toContain('POST /window/endpoints');
  });
});

test('a service model is routed to another model by typing its name', async () => {
  await open(<ServiceModelsPage />, { environment: { OPENAI_API_KEY: 'sk-from-the-environment' } });
  await screen.findAllByText(/No on-device model installed/);
  await waitFor(() => expect(opened.window.requests).toContain('GET /window/models'));
  await press(/^Route of hl-gpt-4o-mini/);
  const search = await screen.findByPlaceholderText('Search models');
  fireEvent.change(search, { target: { value: 'gpt-4o-mini openai' } });
  fireEvent.click(await screen.findByRole('option', { name: /^gpt-4o-mini/ }));
  await screen.findByRole('button', { name: 'Route of hl-gpt-4o-mini: OpenAI, gpt-4o-mini' });
  const saved = async () => (await opened.window.host.client.call(readSettings)).serviceRoutes;
  await waitFor(async () =>
    expect(await saved()).toEqual({
      'hl-gpt-4o-mini': { kind: 'provider', aiSystem: 'OpenAi', model: 'gpt-4o-mini' },
      'hl-gpt-4.1-mini': { kind: 'on-device' },
    }),
  );
});

test('on-device models are listed with size, memory and licence before a download', async () => {
  await open(<OnDevicePage />);
  const card = await screen.findByRole('group', { name: /TinyLlama/ });
  expect(card.textContent).toMatch(/322\.6 MB.*460 MB.*Apache-2\.0/);
  expect(screen.queryByText('Choose a file')).toBeNull();
});

describe('the local server', () => {
  test('is switched on and off if the host can, and shows where it listens', async () => {
    await open(<LocalServerPage />, {
      capabilities: ['local-server-switch'],
      prepare: (client) =>
        client.call(updateSettings, { body: { localServer: { isEnabled: false, port: 0, isTls: false } } }),
    });
    await screen.findByText('Off');
    const toggle = screen.getByLabelText('Enable local server');
    fireEvent.click(toggle);
    const address = await screen.findByText(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${address.textContent}/openapi.json`)).status).toBe(200);
    fireEvent.click(toggle);
    await screen.findByText('Off');
  });

  test('has no switch on a host that always listens', async () => {
    await open(<LocalServerPage />);
    await screen.findByText(/^Always on/);
    expect(screen.queryByRole('switch')).toBeNull();
  });
});

test('a backup is created, listed, and restored at the next start after a confirmation', async () => {
  await open(<DataPage />);
  await press('Back up now');
  await press(/^Restore .*\.sqlite$/);
  await press('Restore at next start');
  await screen.findByText(/will be restored at the next start/);
  expect(screen.queryByText('Open folder')).toBeNull();
});

test('a trace collector that came with a database is confirmed before anything is sent to it', async () => {
  const traceExport = { address: 'https://traces.example/v1/traces', hasContent: true };
  await open(<DataPage />, {
    prepare: (_client, { storage }) => Promise.resolve(storage.settings.update({ traceExport })),
  });
  await screen.findByText('Send prompts to traces.example?');
  await press('Use this address');
  await screen.findByText('Sent 0 runs');
});

describe('the list of pages', () => {
  test('finds a page by its content and opens the first one with Enter', async () => {
    await open(<SettingsScreen />, { address: '/settings/appearance' });
    const find = screen.getByLabelText('Search settings');
    fireEvent.change(find, { target: { value: 'ollama' } });
    const list = screen.getByRole('navigation', { name: 'Settings' });
    expect(
      within(list)
        .getAllByRole('link')
        .map(({ textContent }) => textContent),
    ).toEqual(['Compatible endpoints']);
    fireEvent.submit(find);
    await screen.findByRole('heading', { name: 'Compatible endpoints', level: 2 });
    expect(opened.addresses.at(-1)).toBe('/settings/endpoints');
  });

  test('opens its first page at an address without a page', async () => {
    await open(<SettingsScreen />, { address: '/settings' });
    await screen.findByRole('heading', { name: 'Providers and keys', level: 2 });
    expect(opened.addresses.at(-1)).toBe('/settings/providers');
  });
});

describe('embeddings', () => {
  const stored = async () => (await opened.window.host.client.call(readSettings)).embeddings;

  test('run on this device, or at a provider once one of its models is selected', async () => {
    await open(<EmbeddingsPage />);
    const maker = await screen.findByLabelText('Embedding provider');
    expect(screen.queryByLabelText('Model')).toBeNull();
    fireEvent.change(maker, { target: { value: 'OpenAi' } });
    expect((screen.getByLabelText('Model') as HTMLInputElement).value).toBe('text-embedding-3-small');
    expect(await stored()).toEqual({ kind: 'on-device' });
    fill('Model', ' text-embedding-3-large ');
    await press('Switch');
    await screen.findByText('This provider is in use');
    await waitFor(async () => {
      expect(await stored()).toEqual({ kind: 'provider', aiSystem: 'OpenAi', model: 'text-embedding-3-large' });
    });
  });

  test('of a compatible endpoint need its name before that of the model', async () => {
    await open(<EmbeddingsPage />);
    fireEvent.change(await screen.findByLabelText('Embedding provider'), { target: { value: 'OpenAiCompatible' } });
    fill('Model', 'nomic-embed-text');
    await press('Switch');
    expect(screen.getByText('Must be endpoint/model')).toBeTruthy();
    expect(await stored()).toEqual({ kind: 'on-device' });
    fill('Model', 'ollama/nomic-embed-text');
    await press('Switch');
    await screen.findByText('This provider is in use');
  });
});
