import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { createUpdates } from '../../../../../electron/shell/updates.ts';
import { PrivacyPage } from '../../../../../renderer/screens/settings/privacy-page.tsx';
import { readPrivacy } from '../../../../../shared/contract/privacy.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

test('the page lists every location and every host, with its state', async () => {
  opened = await openWindow(<PrivacyPage />, {
    environment: { GROQ_API_KEY: 'k', HTTPS_PROXY: 'http://proxy.example:3128' },
    prepare: async (client, { storage }) => {
      await client.call(addEndpoint, { body: { name: 'lan', baseAddress: 'http://192.0.2.7:8000/v1' } });
      storage.providerCache.addEndpoint({ name: 'foreign', baseAddress: 'https://foreign.example/v1' });
    },
  });
  const hosts = within(await screen.findByRole('region', { name: 'Contacted hosts' }));
  await hosts.findByText('Endpoint lan');
  const privacy = await opened.window.host.client.call(readPrivacy);
  const text = document.body.textContent;
  for (const { addresses } of privacy.hosts) for (const address of addresses) expect(text).toContain(address);
  for (const { path } of privacy.locations) expect(text).toContain(path ?? "In this browser's profile");
  expect(text).toContain('In memory, until Touchstone quits');
  expect(text).toContain('datasets, comparisons, judges');
  expect(text).toContain('Datasets, comparisons and judges stay until a program deletes them over the API');

  const stateOf = (title: string) => hosts.getByText(title).closest('.setting')!.textContent;
  expect(stateOf('Groq')).toContain('Key set');
  expect(stateOf('OpenAI')).toContain('No key, not contacted');
  expect(stateOf('Endpoint foreign')).toContain('Not confirmed');
  expect(stateOf('Endpoint lan')).toContain('Not encrypted');
  expect(stateOf('Proxy')).not.toContain('Not encrypted');
});

test('an application with an update server lists it, and whether it is contacted', async () => {
  const loadUpdater = () => new Promise<never>(() => {});
  const updates = createUpdates({ feed: 'https://updates.example/touchstone', loadUpdater, log: () => {} });
  opened = await openWindow(<PrivacyPage />, { capabilities: ['updates'], handlers: updates.handlers });
  updates.follow(opened.window.storage.settings);
  const row = async () => (await screen.findByText('Update server')).closest('.setting')!.textContent;
  expect(await row()).toMatch(/updates\.example.*Off, not contacted$/);
  opened.window.storage.settings.update({ updates: { isEnabled: true } });
  await opened.queryClient.invalidateQueries();
  await waitFor(async () => expect(await row()).toMatch(/On$/));
  updates.close();
});
