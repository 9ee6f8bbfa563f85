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
      isPaused: false,
      levels: { ...defaultSettings.recorder.levels, 'openai-chat': 'metadata' },
      redaction: [],
      onFailure: 'block',
    }),
  );
});

test('custom patterns are added when the host accepts them, and removed', async () => {
  opened = await openWindow(<RecordingPage />);
  const saved = async () => (await opened.window.host.client.call(readSettings)).recorder.redaction;
  fireEvent.click(await screen.findByRole('checkbox', { name: 'E-mail addresses' }));
  await waitFor(async () => expect(await saved()).toEqual([{ kind: 'email' }]));
  const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
  fill('Name', 'Claim');
  fill('Regular expression', 'NW-(');
  fireEvent.click(screen.getByRole('button', { name: 'Add pattern' }));
  await screen.findByText(/Is not a valid regular expression/);
  expect(await saved()).toEqual([{ kind: 'email' }]);
  fill('Regular expression', String.raw`NW-\d{5}`);
  fireEvent.click(screen.getByRole('button', { name: 'Add pattern' }));
  await waitFor(async () =>
    expect(await saved()).toEqual([
      { kind: 'email' },
      { kind: 'pattern', name: 'Claim', pattern: String.raw`NW-\d{5}` },
    ]),
  );
  fireEvent.click(await screen.findByRole('button', { name: 'Remove pattern Claim' }));
  await waitFor(async () => expect(await saved()).toEqual([{ kind: 'email' }]));
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
