import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { ApiKeysPage } from '../../../../../renderer/screens/settings/api-keys-page.tsx';
import { RecordingPage } from '../../../../../renderer/screens/settings/recording-page.tsx';
import { listApiKeys } from '../../../../../shared/contract/api-keys.ts';
import { defaultSettings, readSettings } from '../../../../../shared/contract/settings.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
afterEach(() => opened.close());

const choose = async (group: string, name: string) =>
  fireEvent.click(within(await screen.findByRole('radiogroup', { name: group })).getByRole('radio', { name }));

test('what is recorded of each API, and what happens if recording fails', async () => {
  opened = await openWindow(<RecordingPage />);
  const saved = async () => (await opened.window.host.client.call(readSettings)).recorder;
  await choose('Recorded of OpenAI chat completions', 'Metadata');
  await waitFor(async () => expect((await saved()).levels['openai-chat']).toBe('metadata'));
  fireEvent.click(screen.getByRole('switch', { name: "Block calls that can't be recorded" }));
  await screen.findByText('0 calls, 0 recorded, 0 failed to record');
  await waitFor(async () =>
    expect(await saved()).toEqual({
      levels: { ...defaultSettings.recorder.levels, 'openai-chat': 'metadata' },
      redaction: [],
      onFailure: 'block',
    }),
  );
});

test('a key has a level of its own', async () => {
  opened = await openWindow(<ApiKeysPage />);
  fireEvent.click(await screen.findByRole('button', { name: 'Create API key' }));
  fireEvent.change(screen.getByLabelText('Name'), { target: { value: 'agent' } });
  await choose('Recorded of its OpenAI and Anthropic calls', 'Nothing');
  fireEvent.click(screen.getByRole('button', { name: 'Create key' }));
  await screen.findByText(/^ts_/);
  expect((await opened.window.host.client.call(listApiKeys)).data).toMatchObject([
    { name: 'agent', recordLevel: 'none' },
  ]);
});
