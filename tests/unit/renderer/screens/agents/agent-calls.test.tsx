// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentsScreen } from '../../../../../renderer/screens/agents/agents-screen.tsx';
import { useAgentMocks } from '../../../../../renderer/stores/agents.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { useLiveRuns } from '../../../../../renderer/stores/live-runs.ts';
import { usePlaygroundView } from '../../../../../renderer/stores/playground-view.ts';
import { useToolResults } from '../../../../../renderer/stores/tool-results.ts';
import {
  branchConversation,
  createAgent,
  listAgents,
  readAgentThread,
  updateAgent,
} from '../../../../../shared/contract/agents.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import { readRun } from '../../../../../shared/contract/runs.ts';
import { searchAudit } from '../../../../../shared/contract/audit.ts';
import { holdCalls } from '../../../../support/hold-calls.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import {
  type ScriptedProvider,
  type ScriptedToolCall,
  startScriptedProvider,
} from '../../../../support/scripted-provider.ts';

const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } };
const time = { id: 'call_1', name: 'clock', arguments: '{"zone": "CET"}' };

/** Whether the window is wide. */
const width = Object.assign(new EventTarget(), { matches: true });
let opened: OpenWindow;
let provider: ScriptedProvider;
beforeEach(async () => {
  giveEverythingSize();
  Range.prototype.getClientRects ??= () => [] as unknown as DOMRectList;
  width.matches = true;
  vi.stubGlobal('matchMedia', () => width);
  useAgentMocks.setState(useAgentMocks.getInitialState(), true);
  useToasts.setState(useToasts.getInitialState(), true);
  useToolResults.setState(useToolResults.getInitialState(), true);
  useLiveRuns.setState(useLiveRuns.getInitialState(), true);
  usePlaygroundView.setState(usePlaygroundView.getInitialState(), true);
  provider = await startScriptedProvider();
  opened = await openWindow(<AgentsScreen />, {
    address: '/agents',
    prepare: async (client) => {
      provider.answerWith((call) => call.models(['kestrel']));
      await client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } });
      const model = { aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' } as const;
      await client.call(createAgent, { body: { name: 'Desk', ...model, configuration: { tools: [clock] } } });
    },
  });
  fireEvent.click(await screen.findByRole('option', { name: /Desk/ }));
});
afterEach(async () => {
  window.location.hash = '';
  await opened.close();
  await provider.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Answers each call in turn: with a text, with tool calls, or with a failure. */
function script(...answers: (string | readonly ScriptedToolCall[] | null)[]): void {
  const rest = [...answers];
  provider.answerWith((call) => {
    if (!call.path.endsWith('/chat/completions')) return call.models(['kestrel']);
    const next = rest.shift();
    if (next == null) return call.fail(500, 'overloaded');
    return typeof next === 'string' ? call.chatStream([next]) : call.chatCalls(next);
  });
}

/** A conversation is only opened if the address hasn't changed in the meantime. */
function followAddress(): void {
  window.location.hash = opened.addresses.at(-1)!;
}

async function send(message: string): Promise<void> {
  followAddress();
  const field = await screen.findByLabelText('Message to Desk');
  fireEvent.change(field, { target: { value: message } });
  fireEvent.keyDown(field, { key: 'Enter' });
}

function enter(text: string): void {
  fireEvent.change(screen.getByRole('textbox', { name: 'Result of clock' }), { target: { value: text } });
}

const turns = () => within(screen.getByRole('region', { name: 'Turns' }));
function continueTurn(): void {
  followAddress();
  fireEvent.click(turns().getByRole('button', { name: 'Continue' }));
}
const lastMessages = () => provider.calls.at(-1)?.body['messages'];

test('a person enters the result of a call and continues; a failure keeps it', async () => {
  script([time], null, 'At noon.');
  await send('When?');
  await turns().findByRole('button', { name: 'Continue' });
  continueTurn();
  turns().getByText('Enter a result for clock.');
  enter('12:00');
  continueTurn();
  fireEvent.click(await turns().findByRole('button', { name: 'Send again' }));
  await turns().findByText('At noon.');
  expect(lastMessages()).toEqual([
    { role: 'user', content: 'When?' },
    expect.objectContaining({ role: 'assistant' }),
    { role: 'tool', tool_call_id: 'call_1', content: '12:00' },
  ]);
  // The message is shown once, and the result is that of the newest continuation.
  expect(turns().getAllByText('When?')).toHaveLength(1);
  await waitFor(() => expect(turns().queryByRole('button', { name: 'Continue' })).toBeNull());
});

test('another result of a continued turn goes into a branch', async () => {
  script([time], 'At noon.', 'At six.');
  await send('When?');
  await turns().findByRole('button', { name: 'Continue' });
  enter('12:00');
  continueTurn();
  await turns().findByText('At noon.');
  fireEvent.click(await turns().findByRole('button', { name: /clock/, expanded: false }));
  await waitFor(() => screen.getByRole('textbox', { name: 'Result of clock' }));
  enter('18:00');
  turns().getByText(/in a branch/);
  continueTurn();
  await waitFor(() => expect(provider.calls).toHaveLength(3 + 1));
  const { client } = opened.window.host;
  const conversations = async () => (await client.call(searchAudit, { body: { filter: {} } })).rows;
  await waitFor(async () => expect(await conversations()).toHaveLength(2));
  const [branch] = await conversations();
  const { runs } = await client.call(readAgentThread, { parameters: { id: branch!.conversationId } });
  expect(runs.map(({ output }) => output.content)).toEqual(['', 'At six.']);
});

test('a message instead of the result leaves the turn without one', async () => {
  script([time], 'Fine.');
  await send('When?');
  await turns().findByRole('button', { name: 'Continue' });
  await send('Never mind');
  await turns().findByText('Fine.');
  await turns().findByText(/No results were sent/);
  expect(lastMessages()).toEqual([{ role: 'user', content: 'Never mind' }]);
});

const composer = () => screen.getByLabelText<HTMLTextAreaElement>('Message to Desk');
const typeNext = (text: string) => fireEvent.change(composer(), { target: { value: text } });

test('what is typed after the first message stays when the host names the conversation', async () => {
  script('Fine.');
  await send('Hello');
  typeNext('And then');
  await turns().findByText('Fine.');
  expect(opened.addresses.at(-1)).toMatch(/^\/agents\/[\da-f-]{36}\/[\da-f-]{36}$/);
  expect(composer().value).toBe('And then');
});

test('a message that could not be sent returns before what was typed since', async () => {
  vi.spyOn(opened.window.host.client, 'stream').mockRejectedValue(new Error('offline'));
  await send('Hello');
  typeNext('And then');
  await waitFor(() => expect(composer().value).toBe('Hello\n\nAnd then'));
});

test('an edited message is in the composer after a branch that failed', async () => {
  script('Fine.');
  await send('Hello');
  fireEvent.click(await turns().findByRole('button', { name: 'Edit and branch' }));
  const { client } = opened.window.host;
  const call = client.call.bind(client) as typeof client.call;
  vi.spyOn(client, 'call').mockImplementation((async (endpoint, input) => {
    if (endpoint.id === branchConversation.id) throw new Error('offline');
    return call(endpoint, input as never);
  }) as typeof call);
  fireEvent.change(turns().getByLabelText('Message'), { target: { value: 'Hello there' } });
  fireEvent.submit(turns().getByRole('form', { name: 'Edit message' }));
  await waitFor(() => expect(composer().value).toBe('Hello there'));
});

/** Opens the agent's form and its tools, gives the clock a mock and presses Save. */
async function saveMock(): Promise<void> {
  fireEvent.click(screen.getByRole('link', { name: 'Add one' }));
  const form = within(await screen.findByRole('form', { name: 'Edit Desk' }));
  fireEvent.click(form.getByRole('button', { name: 'clock' }));
  const editor = within(await screen.findByRole('dialog', { name: 'Tools of Desk' }));
  fireEvent.click(editor.getByRole('radio', { name: 'Fixed' }));
  fireEvent.change(editor.getByRole('textbox', { name: 'Result of every call' }), { target: { value: '12:00' } });
  fireEvent.change(editor.getByRole('textbox', { name: 'Description' }), { target: { value: 'Tells the time' } });
  fireEvent.click(editor.getByRole('button', { name: /^Done/ }));
  fireEvent.click(form.getByRole('button', { name: /^Save/ }));
}

test("an agent's tools are edited with mocks, which continue its turns within the limits", async () => {
  await saveMock();
  await waitFor(() => expect(opened.addresses.at(-1)).not.toContain('edit'));
  const [agent] = (await opened.window.host.client.call(listAgents, { query: {} })).data;
  expect(agent?.configuration?.['tools']).toMatchObject([
    { function: { name: 'clock', description: 'Tells the time' } },
  ]);
  script([time], 'At noon.', [time], [time], 'Never.');
  await send('When?');
  await turns().findByText('From mock');
  fireEvent.click(turns().getByRole('switch', { name: 'Continue automatically with mocks' }));
  continueTurn();
  await turns().findByText('At noon.');
  expect(lastMessages()).toMatchObject([{}, {}, { role: 'tool', content: '12:00' }]);
  usePlaygroundView.setState({ maxToolSteps: 1 });
  await send('And now?');
  await turns().findByText(/Stopped after 1 automatic step/);
  expect(turns().queryByText('Never.')).toBeNull();
});

test('Stop ends automatic steps also between two of them', async () => {
  await saveMock();
  usePlaygroundView.setState({ continuesAutomatically: true });
  const { client } = opened.window.host;
  const held = holdCalls(client, readRun);
  script([time], 'At noon.');
  await send('When?');
  await waitFor(() => expect(held.count()).toBeGreaterThan(0));
  fireEvent.click(screen.getByRole('button', { name: /^Stop/ }));
  held.release();
  await act(() => Promise.allSettled(vi.mocked(client.call).mock.results.map(({ value }) => value as unknown)));
  expect(screen.queryByRole('button', { name: /^Stop/ })).toBeNull();
  expect(provider.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

const toasts = () => useToasts.getState().toasts.map(({ text }) => text);

test('a save of an agent whose form is left keeps its mocks and is sent once', async () => {
  const held = holdCalls(opened.window.host.client, updateAgent);
  await saveMock();
  await waitFor(() => expect(held.count()).toBe(1));
  const form = screen.getByRole('form', { name: 'Edit Desk' });
  fireEvent.keyDown(form, { key: 'Enter', ctrlKey: true });
  fireEvent.keyDown(form, { key: 'Escape' });
  const left = opened.addresses.length;
  held.release();
  await waitFor(() => expect(toasts()).toContain('Saved "Desk".'));
  expect([held.count(), opened.addresses.length]).toEqual([1, left]);
  expect(Object.values(useAgentMocks.getState().byAgent)).toMatchObject([[{ name: 'clock' }]]);
});

test('an agent that is created after its form is left does not open, and can be opened', async () => {
  const held = holdCalls(opened.window.host.client, createAgent);
  fireEvent.click(screen.getByRole('button', { name: 'Create agent' }));
  const form = await screen.findByRole('form', { name: 'New agent' });
  fireEvent.change(within(form).getByLabelText('Name'), { target: { value: 'Archive' } });
  act(() => useToasts.setState({ toasts: [] }));
  fireEvent.submit(form);
  await waitFor(() => expect(held.count()).toBe(1));
  fireEvent.keyDown(form, { key: 'Escape' });
  held.release();
  await waitFor(() => expect(toasts()).toEqual(['Created "Archive".']));
  expect(opened.addresses.at(-1)).toBe('/agents');
  act(() => useToasts.getState().toasts[0]!.action!.run());
  await screen.findByRole('heading', { name: 'Archive' });
});

test('the form of an agent keeps what is typed when the window becomes narrow and wide again', async () => {
  fireEvent.keyDown(screen.getByRole('button', { name: 'More for Desk' }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: /^Edit/ }));
  const form = await screen.findByRole('form', { name: 'Edit Desk' });
  fireEvent.change(within(form).getByLabelText('Name'), { target: { value: 'Front desk' } });
  for (const matches of [false, true]) {
    act(() => {
      width.matches = matches;
      width.dispatchEvent(new Event('change'));
    });
    expect(screen.queryByLabelText('Message to Desk') !== null).toBe(matches);
    expect(within(form).getByLabelText<HTMLInputElement>('Name').value).toBe('Front desk');
    expect(form.isConnected).toBe(true);
  }
});
