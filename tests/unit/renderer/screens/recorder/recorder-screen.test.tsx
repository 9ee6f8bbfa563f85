// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { RecordingRules } from '../../../../../renderer/screens/recorder/recording-rules.tsx';
import { RecorderScreen } from '../../../../../renderer/screens/recorder/recorder-screen.tsx';
import { useComparisonDrafts } from '../../../../../renderer/stores/comparison-drafts.ts';
import { initialRecorderView, useRecorderView } from '../../../../../renderer/stores/recorder.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { AppError } from '../../../../../shared/app-error.ts';
import { searchAudit } from '../../../../../shared/contract/audit.ts';
import { readConversation } from '../../../../../shared/contract/conversations.ts';
import { addRunsToDataset, createRunDataset } from '../../../../../shared/contract/dataset-import.ts';
import { createDataset, listDatasets } from '../../../../../shared/contract/datasets.ts';
import { type Message, textMessage } from '../../../../../shared/contract/messages.ts';
import { readRecorder } from '../../../../../shared/contract/passthrough.ts';
import {
  createPrompt,
  listPrompts,
  listPromptVersions,
  readPromptVersion,
} from '../../../../../shared/contract/prompts.ts';
import { defaultSettings, readHost, readSettings, updateSettings } from '../../../../../shared/contract/settings.ts';
import { recordRun } from '../../../../support/audit-runs.ts';
import { holdCalls } from '../../../../support/hold-calls.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { sampleOutcome, sampleRun } from '../../../storage/sample-run.ts';

let opened: OpenWindow;

beforeAll(() => {
  globalThis.matchMedia ??= (media) => Object.assign(new EventTarget(), { media, matches: true }) as MediaQueryList;
});
afterEach(async () => {
  useRecorderView.setState(initialRecorderView);
  await opened.close();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

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
      const configuration = { store: false, verbosity: 'low' };
      const run = { conversationId, origin: program, replacements: null, systemMessage: null, configuration };
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

const call = { origin: program, replacements: null, systemMessage: null, configuration: null };

test('a dialog keeps its call while newer calls arrive', async () => {
  const detail = await openCall();
  fireEvent.click(await detail.findByRole('button', { name: /Save as prompt/ }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Save as prompt' }));
  fireEvent.change(dialog.getByLabelText('Name'), { target: { value: 'Sky' } });
  const messages = [question, answer, next];
  await recordRun(opened.window, { ...call, conversationId, messages, renderedPrompt: 'And?' }, { content: 'Black.' });
  await detail.findByText('turn 2 of 2');
  const other = { ...call, messages: [textMessage('user', 'Something else')], createdAt: Date.UTC(2026, 10, 21) };
  await recordRun(opened.window, other, { content: 'Yes.' });
  await waitFor(() => expect(screen.getAllByRole('row', { hidden: true })).toHaveLength(3));
  expect((dialog.getByLabelText('Name') as HTMLInputElement).value).toBe('Sky');
  fireEvent.click(dialog.getByRole('button', { name: 'Save prompt' }));
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(/^\/prompts\//));
  const { client } = opened.window.host;
  const [prompt] = (await client.call(listPrompts)).data;
  const parameters = { id: prompt!.id, versionId: prompt!.latestVersionId };
  expect(JSON.stringify(await client.call(readPromptVersion, { parameters }))).not.toContain('at night');
});

test('what is saved after its dialog is closed opens from a toast', async () => {
  useToasts.setState({ toasts: [] });
  const detail = await openCall();
  const held = holdCalls(opened.window.host.client, addRunsToDataset);
  fireEvent.click(await detail.findByRole('button', { name: /Add to dataset/ }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Add to dataset' }));
  fireEvent.click(dialog.getByRole('button', { name: /Dataset/ }));
  fireEvent.click(await screen.findByRole('option', { name: /Colours/ }));
  fireEvent.click(dialog.getByRole('button', { name: 'Add to dataset' }));
  await waitFor(() => expect(held.count()).toBe(1));
  fireEvent.click(dialog.getByRole('button', { name: 'Cancel' }));
  held.release();
  await waitFor(() => expect(useToasts.getState().toasts[0]?.text).toBe('Added to dataset "Colours".'));
  expect(opened.addresses.at(-1)).toBe('/recorder');
  act(() => useToasts.getState().toasts[0]!.action!.run());
  expect(opened.addresses.at(-1)).toMatch(/^\/compare\/datasets\//);
});

test('a comparison of a call leaves a person at the call that they opened meanwhile', async () => {
  useToasts.setState({ toasts: [] });
  const detail = await openCall();
  const newer = { ...call, createdAt: Date.UTC(2026, 10, 21), messages: [textMessage('user', 'Something else')] };
  await recordRun(opened.window, newer, { content: 'Yes.' });
  await waitFor(() => expect(screen.getAllByRole('row')).toHaveLength(3));
  // The newest call is shown until a person opens one.
  await screen.findByText('Something else');
  const held = holdCalls(opened.window.host.client, createRunDataset);
  fireEvent.click(await detail.findByRole('button', { name: /Compare/ }));
  await waitFor(() => expect(held.count()).toBe(1));
  fireEvent.click(screen.getAllByRole('row')[2]!);
  await screen.findByText('Which colour has {{the sky}}?');
  held.release();
  await waitFor(() => expect(useToasts.getState().toasts[0]?.text).toMatch(/ is ready to compare\.$/));
  expect(opened.addresses.at(-1)).toBe('/recorder');
  act(() => useToasts.getState().toasts[0]!.action!.run());
  expect(opened.addresses.at(-1)).toBe('/compare/new');
  const setup = useComparisonDrafts.getState().drafts.find(({ id }) => id === 'new')!;
  expect(setup.datasetId).not.toBeNull();
});

test('says why a call could not be loaded, and loads it again', async () => {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (_client, window) => {
      const { client } = window.host;
      const { conversationId: id } = await recordRun(window, { ...call, messages: [question] }, { content: 'Blue.' });
      const held = holdCalls(client, readConversation);
      held.release(new AppError('invalid_request', `Conversation ${id} can't be read.`));
    },
  });
  await screen.findByText("Couldn't load the call");
  vi.restoreAllMocks();
  fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
  await screen.findByText('turn 1 of 1');
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

/** Calls of two programs: one that worked, one with a limit, one that broke off. */
async function openCalls(): Promise<void> {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (_client, window) => {
      const of = (text: string, client: string) => ({
        ...call,
        origin: { ...program, client },
        messages: [textMessage('user', text)],
        renderedPrompt: text,
      });
      const error = { code: 'rate_limited', message: 'Too many requests' };
      const failed = { status: 'Failed', finishReason: 'Error', content: '', usage: null, cost: null, error } as const;
      await recordRun(window, of('The date fails', 'nightly.py'), { content: 'Fixed.', httpStatus: 200 });
      await recordRun(window, of('Water damage', 'claims-bot'), { ...failed, httpStatus: 429 });
      await recordRun(window, of('Fire damage', 'claims-bot'), { ...failed, httpStatus: 200 });
    },
  });
  await screen.findByRole('table', { name: 'Calls' });
}

const programsShown = () =>
  within(screen.getByRole('table', { name: 'Calls' }))
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.querySelectorAll('td')[1]?.textContent);

test('shows the status codes of calls, and how many calls and programs there are', async () => {
  await openCalls();
  const calls = within(screen.getByRole('table', { name: 'Calls' }));
  expect(calls.getByText('200')).toBeTruthy();
  expect(calls.getByText('429')).toBeTruthy();
  expect(calls.getByText('Failed')).toBeTruthy();
  await screen.findByText(/^2 programs, 3 calls since /);
});

test('finds calls by their text and filters them by their program', async () => {
  await openCalls();
  fireEvent.change(screen.getByLabelText('Find in calls'), { target: { value: 'damage' } });
  await waitFor(() => expect(programsShown()).toEqual(['claims-bot', 'claims-bot']));
  act(() => useRecorderView.setState({ filter: { clients: ['nightly.py'] } }));
  await waitFor(() => expect(programsShown()).toEqual(['nightly.py']));
  await screen.findByText(/^1 program, 1 call since /);
  fireEvent.click(screen.getByRole('button', { name: 'Remove Program' }));
  await waitFor(() => expect(programsShown()).toHaveLength(3));
  act(() => useRecorderView.setState({ filter: { text: 'nothing like it' } }));
  await screen.findByText('No matching calls');
  fireEvent.click(screen.getByRole('button', { name: 'Clear filters' }));
  await screen.findByRole('table', { name: 'Calls' });
});

test('clears the list and shows all calls again', async () => {
  await openCalls();
  fireEvent.click(screen.getByRole('button', { name: 'Clear list' }));
  await screen.findByText(/^No calls since/, { selector: '.strong' });
  fireEvent.click(screen.getAllByRole('button', { name: 'Show all' })[0]!);
  await screen.findByRole('table', { name: 'Calls' });
  expect(programsShown()).toHaveLength(3);
});

test('groups calls by program', async () => {
  await openCalls();
  act(() => useRecorderView.setState({ grouping: 'program' }));
  const heads = within(screen.getByRole('table', { name: 'Calls' })).getAllByRole('rowheader');
  const texts = heads.map((head) => head.textContent).toSorted();
  expect(texts).toEqual(['claims-bot 2 conversations', 'nightly.py 1 conversation']);
});

const recordedLevels = {
  'openai-chat': 'metadata',
  'openai-responses': 'metadata',
  'openai-embeddings': 'none',
  'anthropic-messages': 'none',
  'gemini-content': 'metadata',
} as const;

test('continues a paused recording as it was before, also after a restart of the window', async () => {
  const before = { ...defaultSettings.recorder, levels: recordedLevels };
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: (client) => client.call(updateSettings, { body: { recorder: before } }),
  });
  const { client } = opened.window.host;
  fireEvent.click(await screen.findByRole('switch', { name: 'Recording' }));
  await screen.findByText('Paused: calls go through without a record');
  await waitFor(async () => expect((await client.call(readSettings)).recorder.isPaused).toBe(true));
  useRecorderView.setState(initialRecorderView, true);
  fireEvent.click(screen.getByRole('switch', { name: 'Recording' }));
  await waitFor(async () => expect((await client.call(readSettings)).recorder).toEqual(before));
});

test('records metadata if nothing was chosen for any API', async () => {
  const nothing = Object.fromEntries(Object.keys(recordedLevels).map((api) => [api, 'none'])) as never;
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: (client) =>
      client.call(updateSettings, { body: { recorder: { ...defaultSettings.recorder, levels: nothing } } }),
  });
  const { client } = opened.window.host;
  fireEvent.click(await screen.findByRole('switch', { name: 'Recording' }));
  const levels = async () => new Set(Object.values((await client.call(readSettings)).recorder.levels));
  await waitFor(async () => expect(await levels()).toEqual(new Set(['metadata'])));
});

test('saves a call as the next version of a prompt', async () => {
  const detail = await openCall();
  const { client } = opened.window.host;
  const prompt = await client.call(createPrompt, { body: { name: 'Sky', promptText: 'Which?', model: 'gpt-4o' } });
  fireEvent.click(await detail.findByRole('button', { name: /Save as prompt/ }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Save as prompt' }));
  fireEvent.click(await dialog.findByRole('button', { name: /^Save as:/ }));
  fireEvent.click(await screen.findByRole('option', { name: 'Sky' }));
  fireEvent.change(dialog.getByLabelText('Note'), { target: { value: 'As the program asks' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Save version' }));
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(new RegExp(`^/prompts/${prompt.id}/`)));
  const { data } = await client.call(listPromptVersions, { parameters: { id: prompt.id } });
  expect(data[0]).toMatchObject({ number: 2, note: 'As the program asks' });
  const parameters = { id: prompt.id, versionId: data[0]!.id };
  // Touchstone sets `store` itself.
  expect((await client.call(readPromptVersion, { parameters })).configuration).toEqual({ verbosity: 'low' });
});

test('shows the answer of a call that was in progress', async () => {
  const run = sampleRun({ ...call, metadata: null, appHeaders: {}, warnings: [], messages: [question] });
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: (_client, { storage }) => Promise.resolve(storage.runs.begin(run)),
  });
  await screen.findByText('The call is in progress.');
  await opened.window.storage.runs.finish(run.runId, sampleOutcome({ content: 'Blue at last.' }));
  await screen.findByText('Blue at last.');
  expect(screen.queryByText('The call is in progress.')).toBeNull();
});

test('a call keeps the marks of a rule that is off now', async () => {
  const highlights = new Map<string, readonly Range[]>();
  vi.stubGlobal('CSS', { ...globalThis.CSS, highlights });
  vi.stubGlobal('Highlight', function highlight(...ranges: Range[]) {
    return ranges;
  });
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (client, window) => {
      const { recorder } = defaultSettings;
      await client.call(updateSettings, { body: { recorder: { ...recorder, redaction: [{ kind: 'email' }] } } });
      await client.call(updateSettings, { body: { recorder } });
      await recordRun(
        window,
        { ...call, messages: [textMessage('user', 'Ask [e-mail] or [phone].')] },
        { content: '' },
      );
    },
  });
  await screen.findByText('turn 1 of 1');
  await waitFor(() => expect(highlights.get('redacted')?.map(String)).toEqual(['[e-mail]']));
});

/** What the recorder counted. */
const counted = {
  calls: 9,
  recorded: 7,
  failed: 2,
  lastFailureAt: '2026-11-20T14:31:00.000Z',
  lastRejection: null,
  hidden: [],
};

/** Opens the screen of a host that counted this. */
async function openWithCounts(counts: object, onFailure: 'pass' | 'block' = 'pass'): Promise<void> {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (_client, window) => {
      const { client } = window.host;
      await client.call(updateSettings, { body: { recorder: { ...defaultSettings.recorder, onFailure } } });
      const send = client.call.bind(client) as (called: { id: string }, input: unknown) => Promise<unknown>;
      const counting = async (called: { id: string }, input: unknown) => {
        if (called.id === readRecorder.id) return { ...counted, ...counts };
        const response = await send(called, input);
        return called.id === readHost.id
          ? { ...(response as object), serverAddress: 'http://127.0.0.1:4117' }
          : response;
      };
      vi.spyOn(client, 'call').mockImplementation(counting as typeof client.call);
    },
  });
}

test('says how many calls could not be recorded, until a person dismisses it or more fail', async () => {
  const counts = { failed: 2 };
  await openWithCounts(counts);
  const notice = await screen.findByText(/^2 calls since the start couldn't be recorded, the last one at/);
  expect(notice.textContent).toContain('The programs got their answers.');
  expect(within(notice).getByRole('link').getAttribute('href')).toMatch(/recording$/);
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
  expect(screen.queryByText(/couldn't be recorded/)).toBeNull();
  counts.failed = 3;
  await act(() => opened.queryClient.invalidateQueries({ queryKey: ['recorder'] }));
  await screen.findByText(/^3 calls since the start couldn't be recorded/);
});

test('says that calls without a record are blocked if the settings say so', async () => {
  await openWithCounts({ failed: 1 }, 'block');
  const notice = await screen.findByText(/^1 call since the start couldn't be recorded/);
  await waitFor(() => expect(notice.textContent).toContain('Such calls are blocked.'));
});

test('shows nothing of failures while there are none', async () => {
  await openWithCounts({ failed: 0, lastFailureAt: null });
  await screen.findByText('No calls yet');
  expect(screen.queryByText(/couldn't be recorded/)).toBeNull();
});

test('says why the calls could not be loaded, and loads them again', async () => {
  opened = await openWindow(<RecorderScreen />, {
    address: '/recorder',
    prepare: async (_client, window) => {
      holdCalls(window.host.client, searchAudit).release(new AppError('invalid_request', 'The filter is unknown.'));
    },
  });
  await screen.findByText("Couldn't load the calls");
  vi.restoreAllMocks();
  fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
  await screen.findByText('No calls yet');
});

test.each([
  ['program', 401, 'The API key is unknown.', true],
  ['unknown', 403, '<b>Pages</b> of other sites may not call this service.', false],
] as const)('says why the last call was rejected: source %s', async (source, status, message, hasLink) => {
  const lastRejection = { at: new Date().toISOString(), status, message, source };
  await openWithCounts({ failed: 0, lastFailureAt: null, lastRejection });
  const notice = await screen.findByText(`A call arrived and was rejected (${status}). ${message}`);
  expect(within(notice.parentElement!).queryByRole('link', { name: 'API keys' }) !== null).toBe(hasLink);
});
