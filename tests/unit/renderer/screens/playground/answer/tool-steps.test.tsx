// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAgent, runAgent } from '../../../../../../shared/contract/agents.ts';
import { createCompletionSync } from '../../../../../../shared/contract/completions.ts';
import { draftSlot } from '../../../../../../renderer/stores/completion-runs.ts';
import { useLiveRuns } from '../../../../../../renderer/stores/live-runs.ts';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { newTool } from '../../../../../../renderer/drafts/tool-drafts.ts';
import { stopReason } from '../../../../../../renderer/components/tool-calls/automatic-results.ts';
import { usePlaygroundView } from '../../../../../../renderer/stores/playground-view.ts';
import type { ToolMock } from '../../../../../../shared/contract/tools.ts';
import { useToasts } from '../../../../../../renderer/stores/toasts.ts';
import { useToolResults } from '../../../../../../renderer/stores/tool-results.ts';
import { listRuns } from '../../../../../../shared/contract/runs.ts';
import { holdCalls } from '../../../../../support/hold-calls.ts';
import { openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';
import { answerCalls } from '../../../../../support/tool-calls.ts';
import type { ScriptedToolCall } from '../../../../../support/scripted-provider.ts';

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
  },
};
const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } };

let playground: OpenPlayground;
beforeEach(async () => {
  useToolResults.setState(useToolResults.getInitialState(), true);
  playground = await openPlayground();
  act(() => {
    const { activeId, change } = useDrafts.getState();
    change(activeId, { otherParameters: JSON.stringify({ tools: [weather, clock] }) });
  });
});
afterEach(() => playground.close());

const paris = { id: 'call_1', name: 'weather', arguments: '{"city": "Paris"}' };
const time = { id: 'call_2', name: 'clock', arguments: '{}' };

const answer = () => within(screen.getByRole('region', { name: 'Answer' }));
const card = (name: string) => within(answer().getByRole('group', { name: `Tool call ${name}` }));
const findCard = async (name: string) => within(await answer().findByRole('group', { name: `Tool call ${name}` }));
const posts = () => playground.provider.calls.filter(({ method }) => method === 'POST');
const continueButton = () => answer().getByRole('button', { name: 'Continue' });

/** Answers each run in turn: with a text, or with calls. */
function script(...answers: (string | readonly ScriptedToolCall[])[]): void {
  const rest = [...answers];
  playground.provider.answerWith((call) => {
    if (!call.path.endsWith('/chat/completions')) return call.models(['kestrel']);
    const next = rest.shift() ?? 'nothing left';
    return typeof next === 'string' ? call.chatStream([next]) : call.chatCalls(next);
  });
}

function run(...answers: (string | readonly ScriptedToolCall[])[]): void {
  script(...answers);
  const toolbar = within(screen.getByRole('toolbar', { name: 'Prompt' }));
  act(() => void fireEvent.click(toolbar.getByRole('button', { name: /^Run/ })));
}

const field = (name: string) => answer().getByRole<HTMLTextAreaElement>('textbox', { name: `Result of ${name}` });
const enter = (name: string, text: string) => fireEvent.change(field(name), { target: { value: text } });

/** The messages of the last request to the provider. */
const lastMessages = () => playground.provider.calls.at(-1)?.body['messages'];

test('shows each call with its arguments as a tree, and errors at their paths', async () => {
  run([
    { ...paris, arguments: '{"city": "Paris", "days": "two"}' },
    { ...time, arguments: '{"a": ' },
    { id: 'call_3', name: 'other', arguments: '' },
  ]);
  const first = await findCard('weather, call 1');
  await first.findByText('1 schema error');
  const tree = first.getByRole('tree', { name: 'Arguments of weather, call 1' });
  expect(
    within(tree)
      .getAllByRole('treeitem')
      .map(({ textContent }) => textContent),
  ).toEqual(['{2 properties', 'city"Paris"', 'days"two"/days must be a whole number']);
  const second = card('clock, call 2');
  await second.findByText('Not valid JSON');
  second.getByText('Shown as text: the text ends before its JSON does (line 1, column 7)');
  const third = card('other, call 3');
  third.getByText('Unknown tool');
  third.getByText('No arguments');
});

test('sends results that a person enters, and shows the answer below', async () => {
  run([paris, time], 'Blue at noon.');
  await findCard('weather, call 1');
  await waitFor(() => continueButton());
  fireEvent.click(continueButton());
  answer().getByText('Enter a result for weather, call 1; clock, call 2.');
  enter('weather, call 1', '{"sky": "blue"}');
  enter('clock, call 2', 'broken');
  fireEvent.click(card('clock, call 2').getByRole('checkbox', { name: 'Is an error' }));
  fireEvent.click(continueButton());
  await answer().findByText('Blue at noon.');
  expect(lastMessages()).toEqual([
    { role: 'user', content: 'Hello' },
    expect.objectContaining({ role: 'assistant' }),
    { role: 'tool', tool_call_id: 'call_1', content: '{"sky": "blue"}' },
    { role: 'tool', tool_call_id: 'call_2', content: expect.stringContaining('broken') },
  ]);
  card('clock, call 2').getByText('Error result');
  // The bar has the sum, and its tooltip the newest step.
  const bar = await answer().findByLabelText('Run metrics');
  await waitFor(() => expect(bar.textContent).toContain('Steps2'));
  await waitFor(() => expect(bar.title).toContain('Newest step'));
  await waitFor(() => expect(useToolResults.getState().byRun).toEqual({}));
});

test('an earlier result is edited and continued again, and the history has both', async () => {
  run([paris], [time], 'First.', 'Second.');
  await waitFor(() => continueButton());
  enter('weather', 'rain');
  fireEvent.click(continueButton());
  await findCard('clock');
  await waitFor(() => continueButton());
  enter('clock', '12:00');
  fireEvent.keyDown(answer().getByRole('textbox', { name: 'Result of clock' }), { key: 'Enter', ctrlKey: true });
  await answer().findByText('First.');
  const step = within(answer().getByRole('group', { name: 'Step 1' }));
  fireEvent.click(step.getByRole('button', { name: /weather/ }));
  enter('weather', 'snow');
  step.getByText('Continue sends these results and replaces the steps below. The history keeps both.');
  fireEvent.click(step.getByRole('button', { name: 'Continue' }));
  await answer().findByText('Second.');
  expect(answer().queryByText('First.')).toBeNull();
  expect(lastMessages()).toEqual([
    { role: 'user', content: 'Hello' },
    expect.objectContaining({ role: 'assistant' }),
    { role: 'tool', tool_call_id: 'call_1', content: 'snow' },
  ]);
  const { data } = await playground.opened.window.host.client.call(listRuns, { query: {} });
  expect(data.map(({ excerpt }) => excerpt)).toEqual(['Second.', 'First.', 'Called clock', 'Called weather']);
  expect(new Set(data.map(({ conversationId }) => conversationId)).size).toBe(1);
  expect(data.every(({ draftId }) => draftId === useDrafts.getState().activeId)).toBe(true);
});

test('a failed continuation keeps the results and is sent again', async () => {
  run([paris]);
  await waitFor(() => continueButton());
  enter('weather', 'rain');
  playground.provider.answerWith((call) => call.fail(500, 'Broken'));
  fireEvent.click(continueButton());
  const again = await answer().findByRole('button', { name: /^Run again/ });
  script('Umbrella.');
  fireEvent.click(again);
  await answer().findByText('Umbrella.');
  expect(lastMessages()).toHaveLength(3);
});

/** Gives the tools of the open draft mocks. */
function mock(mocks: Record<string, ToolMock>): void {
  act(() => {
    const { activeId, change } = useDrafts.getState();
    const tools = [weather, clock].map(({ function: { name, parameters } }) =>
      newTool({ name, parameters: JSON.stringify(parameters), mock: mocks[name] ?? null }),
    );
    change(activeId, { otherParameters: '', tools });
  });
}

const fixed = (content: string): ToolMock => ({ kind: 'fixed', content, isError: false });

test('a mock fills a result, which a person can replace', async () => {
  mock({
    weather: {
      kind: 'lookUp',
      entries: [{ arguments: { city: 'Paris' }, content: 'rain', isError: true }],
      otherwise: null,
    },
  });
  run([paris, { ...paris, id: 'call_2', arguments: '{"city": "Rome"}' }], 'Umbrella.', [paris], 'Recorded.');
  const first = await findCard('weather, call 1');
  await first.findByText('From mock');
  expect(field('weather, call 1').value).toBe('rain');
  await waitFor(() => continueButton());
  fireEvent.click(continueButton());
  answer().getByText('Enter a result for weather, call 2.');
  enter('weather, call 2', 'sun');
  enter('weather, call 1', 'snow');
  fireEvent.click(first.getByRole('button', { name: 'Use mock' }));
  expect(field('weather, call 1').value).toBe('rain');
  fireEvent.click(continueButton());
  await answer().findByText('Umbrella.');
  expect(lastMessages()).toEqual([
    expect.anything(),
    expect.anything(),
    expect.objectContaining({ content: expect.stringContaining('rain') }),
    { role: 'tool', tool_call_id: 'call_2', content: 'sun' },
  ]);
  const { shownRunId } = useDrafts.getState().drafts.find(({ id }) => id === useDrafts.getState().activeId)!;
  mock({ weather: { kind: 'recorded', runId: shownRunId! } });
  const toolbar = within(screen.getByRole('toolbar', { name: 'Prompt' }));
  // The answer is on the screen before its run has ended.
  const runAgain = await toolbar.findByRole('button', { name: /^Run/ });
  act(() => void fireEvent.click(runAgain));
  const recorded = await findCard('weather');
  await recorded.findByText('From mock');
  expect(field('weather').value).toBe('rain');
});

test('continues automatically only if the switch is on, and stops at the limit of steps', async () => {
  mock({ weather: fixed('rain'), clock: fixed('12:00') });
  run([paris]);
  await (await findCard('weather')).findByText('From mock');
  expect(posts()).toHaveLength(1);
  fireEvent.click(answer().getByRole('switch', { name: 'Continue automatically with mocks' }));
  act(() => usePlaygroundView.setState({ maxToolSteps: 2 }));
  run([paris], [time], [paris], [time], 'Done.');
  await answer().findByText('Stopped after 2 automatic steps. Continue starts the next steps.');
  expect(posts()).toHaveLength(4);
  expect(answer().getAllByRole('group', { name: /^Step/ })).toHaveLength(2);
  fireEvent.click(continueButton());
  await answer().findByText('Done.');
  expect(answer().getAllByRole('group', { name: /^Step/ })).toHaveLength(4);
});

test('Stop ends automatic steps also between two of them', async () => {
  mock({ weather: fixed('rain'), clock: fixed('12:00') });
  act(() => usePlaygroundView.setState({ continuesAutomatically: true }));
  const { client } = playground.opened.window.host;
  const held = holdCalls(client, listRuns, () => posts().length > 0);
  const slot = draftSlot(useDrafts.getState().activeId);
  run([paris], 'It rains.');
  await waitFor(() => expect(useLiveRuns.getState().runs[slot]?.state).toBe('completed'));
  await waitFor(() => expect(held.count()).toBeGreaterThan(0));
  fireEvent.click(within(screen.getByRole('toolbar', { name: 'Prompt' })).getByRole('button', { name: /^Stop/ }));
  held.release();
  await act(() => Promise.allSettled(vi.mocked(client.call).mock.results.map(({ value }) => value as unknown)));
  expect(useLiveRuns.getState().runs[slot]?.state).toBe('completed');
  expect(posts()).toHaveLength(1);
});

test('stops if a maximum cost is set and the cost is unknown, and where a mock has no result', async () => {
  mock({ weather: fixed('rain'), clock: { kind: 'lookUp', entries: [], otherwise: null } });
  act(() => usePlaygroundView.setState({ continuesAutomatically: true, maxToolCost: 0.5 }));
  run([paris]);
  await answer().findByText(/^Stopped, because the cost of a step is unknown/);
  act(() => usePlaygroundView.setState({ maxToolCost: null }));
  script([paris], [time]);
  fireEvent.click(continueButton());
  await findCard('clock');
  await waitFor(() => continueButton());
  expect(answer().queryByText(/^Stopped/)).toBeNull();
});

test('limits allow a number of steps and a cost', () => {
  const limits = { maxToolSteps: 3, maxToolCost: 0.01 };
  expect(stopReason({ steps: 2, cost: 0.0099 }, limits)).toBeNull();
  expect(stopReason({ steps: 3, cost: 0 }, limits)).toBe('Stopped after 3 automatic steps.');
  expect(stopReason({ steps: 0, cost: 0.01 }, limits)).toBe('Stopped at a cost of $0.0100; the maximum is $0.0100.');
  expect(stopReason({ steps: 2, cost: null }, { ...limits, maxToolCost: null })).toBeNull();
});

test('of 128 missing results one opens, and a long result is pasted into an editor', async () => {
  const calls = Array.from({ length: 128 }, (_, index) => ({ ...time, id: `c${index}` }));
  run(calls);
  await waitFor(() => continueButton());
  expect(answer().queryAllByRole('textbox')).toHaveLength(0);
  fireEvent.click(continueButton());
  answer().getByText(/^Enter a result for clock, call 1; .* and 123 more\.$/);
  expect(answer().getAllByRole('textbox')).toHaveLength(1);
  const text = 'long '.repeat(10_000);
  fireEvent.paste(field('clock, call 1'), { clipboardData: { getData: () => text } });
  await waitFor(() => expect(field('clock, call 1').className).toContain('cm-content'));
  expect(answer().getAllByRole('textbox')).toHaveLength(2);
  expect(Object.values(useToolResults.getState().byRun)).toEqual([{ c0: { content: text, isError: false } }]);
});

test("a run whose program writes an agent's ID into its metadata is no turn of an agent", async () => {
  playground.provider.answerWith((call) =>
    call.path.endsWith('/chat/completions') ? answerCalls(call, [paris]) : call.models(['kestrel']),
  );
  const request = { aiSystem: 'OpenAiCompatible' as const, model: 'shop/kestrel', promptText: 'Rain?' };
  const body = { ...request, configuration: { tools: [weather] }, metadata: { agentId: 'desk', anonymised: true } };
  const { runId } = await playground.opened.window.host.client.call(createCompletionSync, { body });
  playground.opened.navigate(`/playground/runs/${runId}`);
  await findCard('weather');
  expect(answer().getByRole('button', { name: 'Continue' })).toBeTruthy();
  expect(answer().queryByText(/turn of an agent/)).toBeNull();
});

test("a turn of an agent says where its results are entered, and a run without texts isn't restored", async () => {
  playground.provider.answerWith((call) =>
    call.path.endsWith('/chat/completions') ? answerCalls(call, [paris]) : call.models(['kestrel']),
  );
  const { host } = playground.opened.window;
  const fields = { name: 'Desk', prompt: 'Hi', aiSystem: 'OpenAiCompatible' as const, model: 'shop/kestrel' };
  const { id } = await host.client.call(createAgent, { body: { ...fields, configuration: { tools: [weather] } } });
  const { runId } = await host.client.call(runAgent, { parameters: { id }, body: { message: 'Rain?' } });
  playground.opened.navigate(`/playground/runs/${runId}`);
  await findCard('weather');
  expect(answer().getByText('This run is a turn of an agent. Enter the results in its conversation.')).toBeTruthy();
  expect(answer().queryByRole('button', { name: 'Continue' })).toBeNull();
  expect(answer().queryByRole('textbox', { name: 'Result of weather' })).toBeNull();

  playground.opened.window.storage.retention.apply('anonymise', Date.now() + 1000, 100);
  playground.opened.navigate('/playground');
  playground.opened.navigate(`/playground/runs/${runId}`);
  await waitFor(() =>
    expect(useToasts.getState().toasts.at(-1)?.text).toMatch(/^The retention has removed the texts of this run/),
  );
});
