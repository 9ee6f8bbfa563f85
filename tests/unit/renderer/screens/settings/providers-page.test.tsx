import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { EndpointForm } from '../../../../../renderer/screens/settings/endpoint-form.tsx';
import { ProvidersPage } from '../../../../../renderer/screens/settings/providers-page.tsx';
import { createMemoryKeyStore } from '../../../../../electron/key-store/key-store.ts';
import { AppError } from '../../../../../shared/app-error.ts';
import { addEndpoint, addModel, listEndpoints } from '../../../../../shared/contract/providers.ts';
import { startListingProvider, type ListingProvider } from '../../../../support/listing-provider.ts';
import { openWindow, type OpenWindow, type OpenWindowOptions } from '../../../../support/open-window.tsx';

const goodKey = 'sk-good-0123456789abcdef';
let opened: OpenWindow | undefined;
let provider: ListingProvider | undefined;

async function open(address = '/settings/providers', options: OpenWindowOptions = {}): Promise<void> {
  provider = await startListingProvider(goodKey, ['gpt-4o', 'gpt-4o-mini', 'gpt-6-luna']);
  const providerBases = { OpenAi: provider.baseAddress };
  opened = await openWindow(<ProvidersPage />, { address, providerBases, ...options });
}

/** A keychain with a good key for OpenAI. It is locked at first. */
function lockedKeychain() {
  const lock = { isLocked: true };
  const read = (account: string): string | null => {
    if (lock.isLocked) throw new AppError('provider_not_configured', "Couldn't read the key. Unlock the keyring.");
    return account === 'OpenAi' ? goodKey : null;
  };
  return { lock, keyStore: { ...createMemoryKeyStore(), title: 'keyring', source: 'keychain' as const, read } };
}

const row = (name: string) => screen.findByRole('group', { name });

async function saveKey(key: string): Promise<void> {
  const openAi = await row('OpenAI');
  fireEvent.change(within(openAi).getByLabelText('API key of OpenAI'), { target: { value: key } });
  fireEvent.click(within(openAi).getByText('Save and test'));
}

afterEach(async () => {
  await opened?.close();
  await provider?.[Symbol.asyncDispose]();
  opened = provider = undefined;
});

describe('the key of a provider', () => {
  test('is saved and tested in one step, and never shown on the page afterwards', async () => {
    await open();
    const openAi = await row('OpenAI');
    expect(openAi.textContent).toContain('No key');
    fireEvent.click(within(openAi).getByText('Add key'));
    await saveKey(`  ${goodKey}\n`);
    await within(openAi).findByText('Key set');
    await within(openAi).findByText(/Tested .*, 3 models/);
    expect(new Set(provider?.keys)).toEqual(new Set([goodKey]));
    expect(document.documentElement.outerHTML).not.toContain(goodKey);
    expect(screen.queryByLabelText('API key of OpenAI')).toBeNull();
  });

  test('that the provider rejects shows the reason, with the raw response', async () => {
    await open();
    fireEvent.click(within(await row('OpenAI')).getByText('Add key'));
    await saveKey('sk-wrong');
    const openAi = await row('OpenAI');
    await within(openAi).findByText('Rejected');
    fireEvent.click(within(openAi).getByText('Show response'));
    expect(within(openAi).getByText(/HTTP 401 after/)).toBeTruthy();
    expect(openAi.textContent).not.toContain('sk-wrong');
  });

  test('with a space in it never leaves the window', async () => {
    await open();
    fireEvent.click(within(await row('OpenAI')).getByText('Add key'));
    await saveKey('sk two parts');
    expect(screen.getByText(/Keys contain no spaces/)).toBeTruthy();
    expect(opened?.window.requests.filter((request) => request.startsWith('PUT'))).toEqual([]);
  });

  test('is removed only after a confirmation', async () => {
    await open();
    fireEvent.click(within(await row('OpenAI')).getByText('Add key'));
    await saveKey(goodKey);
    const openAi = await row('OpenAI');
    fireEvent.click(await within(openAi).findByLabelText('Remove API key of OpenAI'));
    expect(opened?.window.requests).not.toContain('DELETE /window/providers/OpenAi/key');
    fireEvent.click(screen.getByText('Remove key'));
    await within(openAi).findByText('No key');
  });

  test('opens its form at the address of its provider', async () => {
    await open('/settings/providers/Cohere');
    const field = await screen.findByLabelText('API key of Cohere');
    expect(document.activeElement).toBe(field);
  });

  test('opens its form while the page is open, and again after Cancel', async () => {
    await open();
    await row('Groq');
    for (const name of ['Groq', 'Cohere', 'Cohere']) {
      opened!.navigate(`/settings/providers/${name}`);
      const field = await screen.findByLabelText(`API key of ${name}`);
      expect(document.activeElement).toBe(field);
      fireEvent.click(within(await row(name)).getByText('Cancel'));
      expect(opened!.addresses.at(-1)).toBe('/settings/providers');
      await waitFor(() => expect(screen.queryByLabelText(`API key of ${name}`)).toBeNull());
    }
  });

  test('that the keychain does not release says how to fix that, until a test can read it', async () => {
    const { lock, keyStore } = lockedKeychain();
    await open('/settings/providers', {
      keyStore,
      endpoints: [{ name: 'gateway', baseAddress: 'http://127.0.0.1:9' }],
    });
    const gateway = await row('gateway');
    within(gateway).getByText('Key unreadable');
    within(gateway).getByText('Unlock the keyring.', { exact: false });
    fireEvent.click(within(gateway).getByText('Edit'));
    within(gateway).getByText('Leave empty to keep the current key');
    const openAi = await row('OpenAI');
    within(openAi).getByText('Key unreadable');
    // Once for all providers.
    expect(screen.getAllByText('Unlock the keyring.', { exact: false })).toHaveLength(1);
    within(openAi).getByText('Replace');
    within(openAi).getByLabelText('Remove API key of OpenAI');
    lock.isLocked = false;
    fireEvent.click(within(openAi).getByText('Test'));
    await within(openAi).findByText('Key set');
    await within(openAi).findByText(/Tested .*, 3 models/);
    expect(openAi.textContent).not.toContain('Unlock');
  });

  test('shows without a keychain that it lasts until Touchstone quits', async () => {
    await open();
    await screen.findByText(/Keys are kept in memory until Touchstone quits/);
  });
});

test('rejects an invalid base address in its field, and uses and shows a valid one', async () => {
  await open();
  const groq = await row('Groq');
  fireEvent.click(within(groq).getByLabelText('Base URL of Groq'));
  const field = within(groq).getByLabelText('Base URL of Groq', { selector: 'input' });
  fireEvent.change(field, { target: { value: 'nordwind' } });
  fireEvent.click(within(groq).getByText('Save'));
  expect(within(groq).getByText(/must be an http or https address/)).toBeTruthy();
  fireEvent.change(field, { target: { value: 'https://models.nordwind.example/v1' } });
  fireEvent.click(within(groq).getByText('Save'));
  await within(groq).findByText(/at models\.nordwind\.example/);
});

test('saves time limits on blur, but not invalid ones', async () => {
  await open();
  const field = await screen.findByLabelText('Seconds until the first byte');
  fireEvent.change(field, { target: { value: 'soon' } });
  fireEvent.blur(field);
  expect(field.getAttribute('aria-invalid')).toBe('true');
  fireEvent.change(field, { target: { value: '90' } });
  fireEvent.blur(field);
  await waitFor(() =>
    expect(opened?.window.requests.filter((request) => request === 'PATCH /window/settings')).toHaveLength(1),
  );
});

test('removes a model name that was added', async () => {
  opened = await openWindow(<ProvidersPage />, {
    prepare: (client) => client.call(addModel, { body: { aiSystem: 'OpenAi', model: 'gpt-7-preview' } }),
  });
  fireEvent.click(await screen.findByLabelText('Remove gpt-7-preview of OpenAI'));
  await waitFor(() => expect(screen.queryByText('gpt-7-preview')).toBeNull());
});

test('saves a new key of an endpoint whose address has a form that is no longer accepted', async () => {
  const name = 'shop';
  const baseAddress = 'http://127.0.0.1:9/v1?tier=2';
  const endpoint = { name, baseAddress, keySource: null, keyFailure: null, confirmation: null, lastTest: null };
  let isDone = false;
  opened = await openWindow(<EndpointForm endpoint={endpoint} onDone={() => (isDone = true)} />, {
    prepare: (client) => client.call(addEndpoint, { body: { name, baseAddress: 'http://127.0.0.1:9/v1' } }),
  });
  fireEvent.change(screen.getByLabelText('API key'), { target: { value: goodKey } });
  fireEvent.click(screen.getByText('Save and test'));
  await waitFor(() => expect(isDone).toBe(true));
  const { data } = await opened.window.host.client.call(listEndpoints);
  expect(data).toMatchObject([{ name, keySource: 'memory', baseAddress: 'http://127.0.0.1:9/v1' }]);
});

test('rejects a changed address of a form that is no longer accepted', async () => {
  const endpoint = {
    name: 'shop',
    baseAddress: 'http://127.0.0.1:9/v1?tier=2',
    keySource: null,
    keyFailure: null,
    confirmation: null,
    lastTest: null,
  };
  opened = await openWindow(<EndpointForm endpoint={endpoint} onDone={() => {}} />);
  fireEvent.change(screen.getByLabelText('Base URL'), { target: { value: 'http://127.0.0.1:9/v1?tier=3' } });
  fireEvent.click(screen.getByText('Save and test'));
  expect(screen.getByLabelText('Base URL').getAttribute('aria-invalid')).toBe('true');
  expect(opened.window.requests.filter((request) => request.startsWith('PATCH'))).toEqual([]);
});
