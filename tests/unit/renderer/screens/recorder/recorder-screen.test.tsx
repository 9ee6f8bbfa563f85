import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { RecordingRules } from '../../../../../renderer/screens/recorder/recording-rules.tsx';
import { RecorderScreen } from '../../../../../renderer/screens/recorder/recorder-screen.tsx';
import { useComparisonDrafts } from '../../../../../renderer/stores/comparison-drafts.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { createDataset, listDatasets } from '../../../../../shared/contract/datasets.ts';
import { type Message, textMessage } from '../../../../../shared/contract/messages.ts';
import { listPrompts } from '../../../../../shared/contract/prompts.ts';
import { defaultSettings, updateSettings } from '../../../../../shared/contract/settings.ts';
import { recordRun } from '../../../../support/audit-runs.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;

beforeAll(() => {
  globalThis.matchMedia ??= (media) => Object.assign(new EventTarget(), { media, matches: true }) as MediaQueryList;
});
afterEach(() => opened.close());

const conversationId = '11111111-2222-4333-8444-555555555555';
const [question, answer, next] = [
  textMessage('user', 'Which colour has {{the sky}}?'),
  textMessage('assistant', 'Blue.'),
  textMessage('user', 'And at night?'),
];
const frames = {
  count: 3,
  firstMs: 200,
  lastMs: 1200,
  longestGapMs: 800,
  series: [
    { atMs: 200, frames: 2 },
    { atMs: 1200, frames: 1 },
  ],
};
const program = { api: 'openai-chat', client: 'claims-bot/1.0' } as const;

test('explains that there are no calls yet', async () => {
  opened = await openWindow(<RecorderScreen />, { address: '/recorder' });
  await screen.findByText('No calls yet');
  await screen.findByText('Local server off');
});

test('shows what a turn added, and saves a call as a prompt that renders to its messages', async () => {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (_client, window) => {
      const run = { conversationId, origin: program, replacements: null, systemMessage: null, configuration: null };

      await recordRun(window, { ...run, messages: [question], renderedPrompt: 'first' }, { content: 'Blue.' });
      await recordRun(window, { ...run, messages: [question, answer, next] }, { content: 'Black.', frames });
    },
  });
  const detail = within(await screen.findByRole('region', { name: 'One call' }));
  await detail.findByText('turn 2 of 2');
  expect(detail.getByText('2 earlier messages, unchanged')).toBeTruthy();
  expect(detail.getByText('And at night?')).toBeTruthy();
  expect(detail.getByText('3 frames from 200 ms to 1.2 s, longest gap 800 ms')).toBeTruthy();
  fireEvent.click(detail.getByRole('button', { name: 'Previous turn' }));
  await detail.findByText('turn 1 of 2');
  fireEvent.click(detail.getByRole('button', { name: /Save as prompt/ }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Save as prompt' }));
  fireEvent.change(dialog.getByLabelText('Name'), { target: { value: 'Sky' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Save prompt' }));
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(/^\/prompts\/[\da-f-]{36}$/));
  const { data } = await opened.window.host.client.call(listPrompts);
  expect(data).toMatchObject([{ name: 'Sky', latestVersion: { aiSystem: 'OpenAi', model: 'gpt-4o' } }]);
});

test('shows a call whose answer was blocked as blocked', async () => {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (_client, window) => {
      const run = { conversationId, origin: program, messages: [question] };
      await recordRun(window, run, { content: '', finishReason: 'ContentFilter' });
    },
  });
  const calls = within(await screen.findByRole('table', { name: 'Calls' }));
  await calls.findByText('Blocked');
  expect(calls.queryByText('OK')).toBeNull();
});

async function openCall(messages: readonly Message[] = [question]): Promise<ReturnType<typeof within>> {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (client, window) => {
      const run = { conversationId, origin: program, replacements: null, systemMessage: null, configuration: null };
      await recordRun(window, { ...run, messages, renderedPrompt: 'Which colour?' }, { content: 'Blue.' });
      await client.call(createDataset, { body: { name: 'Colours', columns: [{ name: 'q', type: 'text' }], rows: [] } });
    },
  });
  return within(await screen.findByRole('region', { name: 'One call' }));
}

test('compares a call with other models, over a new dataset', async () => {
  const detail = await openCall();
  fireEvent.click(await detail.findByRole('button', { name: /Compare/ }));
  await waitFor(() => expect(opened.addresses.at(-1)).toBe('/compare/new'));
  const setup = useComparisonDrafts.getState().drafts.find(({ id }) => id === 'new')!;
  const { data } = await opened.window.host.client.call(listDatasets, {});
  expect(data.find(({ id }) => id === setup.datasetId)).toMatchObject({ rowCount: 1 });
  expect(setup.variants).toMatchObject([{ prompt: { kind: 'text' }, aiSystem: 'OpenAi', model: 'gpt-4o' }]);
});

test('compares no call with results of tools, which a prompt would leave out', async () => {
  const result = { type: 'toolResult', toolCallId: 'c1', content: 'Blue', isError: false } as const;
  const detail = await openCall([question, { role: 'tool', content: [result] }]);
  fireEvent.click(await detail.findByRole('button', { name: /Compare/ }));
  await waitFor(() =>
    expect(useToasts.getState().toasts.at(-1)?.text).toContain("Variants can't contain results of tools"),
  );
  expect(opened.addresses.at(-1)).toBe('/recorder');
});

test('adds a call to an existing dataset', async () => {
  const detail = await openCall();
  fireEvent.click(await detail.findByRole('button', { name: /Add to dataset/ }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Add to dataset' }));
  fireEvent.click(dialog.getByRole('button', { name: /Dataset/ }));
  fireEvent.click(await screen.findByRole('option', { name: /Colours/ }));
  fireEvent.click(dialog.getByRole('button', { name: 'Add to dataset' }));
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(/^\/compare\/datasets\//));
  const { data } = await opened.window.host.client.call(listDatasets, {});
  expect(data).toMatchObject([{ name: 'Colours', version: 2, rowCount: 1 }]);
});

test('leaves levels that differ from API to API to the settings', async () => {
  opened = await openWindow(<RecordingRules />, {
    address: '/recorder',
    prepare: (client) =>
      client.call(updateSettings, {
        body: {
          recorder: {
            ...defaultSettings.recorder,
            levels: { ...defaultSettings.recorder.levels, 'anthropic-messages': 'none' },
          },
        },
      }),
  });
  expect((await screen.findByRole('link', { name: 'Change in Settings' })).getAttribute('href')).toMatch(/recording$/);
  expect(screen.queryByRole('radio', { name: 'Everything' })).toBeNull();
});
