import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../../../renderer/host/client.ts';
import { KnowledgeScreen } from '../../../../../renderer/screens/knowledge/knowledge-screen.tsx';
import { onDeviceKey } from '../../../../../renderer/queries/on-device.ts';
import { createGroundedDraft, useAnswerModel } from '../../../../../renderer/stores/knowledge.ts';
import { useDrafts } from '../../../../../renderer/stores/playground-drafts.ts';
import { dismissRun, useLiveRuns, type CompletionSlot } from '../../../../../renderer/stores/live-runs.ts';
import { createDataspace, createSource } from '../../../../../shared/contract/dataspaces.ts';
import type { OnDeviceState } from '../../../../../shared/contract/on-device.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { startScriptedProvider, type ScriptedProvider } from '../../../../support/scripted-provider.ts';

const question = 'What is the torque of the {{rotor}} bolts?';
let opened: OpenWindow;
let provider: ScriptedProvider;

async function prepare(client: Client): Promise<void> {
  await client.call(addEndpoint, { body: { name: 'test', baseAddress: provider.baseAddress } });
  const { id } = await client.call(createDataspace, { body: { name: 'Handbooks' } });
  await client.upload(createSource, {
    fields: { name: 'kestrel.md', dataspaceId: id },
    file: new File(['# Kestrel\n\nThe torque of the **rotor** bolts is 42 newton metres.\n'], 'kestrel.md'),
  });
}

// One host for all: indexing with the real model takes seconds.
beforeAll(async () => {
  const form = await new Response(new URLSearchParams()).formData();
  vi.stubGlobal('FormData', form.constructor);
  const { File } = await import('node:buffer');
  vi.stubGlobal('File', File);
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  useAnswerModel.setState({ aiSystem: 'OpenAiCompatible', name: 'test/m' });
  provider = await startScriptedProvider();
  opened = await openWindow(<KnowledgeScreen />, { address: '/knowledge', prepare });
  await screen.findByRole('option', { name: /kestrel\.md.*1 passage/ });
});
afterAll(async () => {
  await opened.close();
  await provider.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

beforeEach(() => {
  for (const slot of Object.keys(useLiveRuns.getState().runs)) act(() => dismissRun(slot as CompletionSlot));
});

const answer = () => screen.findByRole('region', { name: 'Answer text' });

function ask(text = question): void {
  fireEvent.change(screen.getByLabelText('Search Handbooks'), { target: { value: text } });
  fireEvent.click(screen.getByRole('button', { name: /^Ask/ }));
}

async function nextChat() {
  for (;;) {
    const call = await provider.nextCall();
    if (call.path.endsWith('/chat/completions')) return call;
    call.models(['m']);
  }
}

test('a question is answered with citations that open their passage, and the run is in the audit', async () => {
  ask();
  const call = await nextChat();
  expect(call.bodyText).toContain('newton metres');
  expect(call.bodyText).toContain(question);
  await call.chatStream(['It is **42** ', 'newton metres [1].']);
  const region = await answer();
  fireEvent.click(await within(region).findByRole('button', { name: '[1]' }));
  expect(screen.getByRole('dialog', { name: 'Passage 1' }).textContent).toContain('The torque of the rotor bolts');
  fireEvent.click(
    within(screen.getByRole('list', { name: 'Passages used', hidden: true })).getByRole('button', { hidden: true }),
  );
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(/^\/knowledge\/sources\/[\da-f-]{36}\/\d+-\d+$/));
  expect(region.isConnected).toBe(true);
  const link = await within(region).findByRole('link', { name: /Open in audit/, hidden: true });
  expect(link.getAttribute('href')).toMatch(/^\/audit\//);
});

test('while the on-device model loads, the answer says so', async () => {
  ask();
  const call = await nextChat();
  expect((await screen.findByText('Waiting for the first token')).closest('[role=status]')).toBeTruthy();
  await waitFor(() => expect(opened.queryClient.getQueryData(onDeviceKey)).toBeDefined());
  act(() => {
    const [key, run] = Object.entries(useLiveRuns.getState().runs)[0]!;
    const request = { ...run!.request, aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' } as const;
    useLiveRuns.setState({ runs: { [key]: { ...run!, request } } });
    opened.queryClient.setQueryData<OnDeviceState>(onDeviceKey, (state) => {
      const engine = { state: 'loading', loadingSince: new Date().toISOString() } as const;
      return state && { ...state, engine: { ...state.engine, ...engine } };
    });
  });
  expect((await screen.findByText(/^Loading model/)).textContent).toMatch(/^Loading model, \d+ s$/);
  await call.chatStream(['It is 42 [1].']);
  await waitFor(async () => expect((await answer()).textContent).toContain('It is 42'));
});

test('Stop keeps the partial answer', async () => {
  ask();
  const call = await nextChat();
  await call.openEventStream().chatDelta({ content: 'It is' });
  await within(await answer()).findByText('It is');
  fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
  call.cut();
  expect(await screen.findByText('Stopped. Partial answer kept.')).toBeTruthy();
  expect((await answer()).textContent).toContain('It is');
});

test('a failure shows its reason and a Retry button', async () => {
  ask();
  (await nextChat()).fail(500, 'The engine stalled.');
  const failure = await screen.findByRole('alert');
  expect(failure.textContent).toContain('The engine stalled.');
  fireEvent.click(within(failure).getByRole('button', { name: 'Regenerate' }));
  await (await nextChat()).chatStream(['It is 42 [1].']);
  await waitFor(async () => expect((await answer()).textContent).toContain('It is 42'));
});

test('an answer without relevant passages says so', async () => {
  ask('xyzzy');
  const call = await nextChat();
  expect(call.bodyText).toContain('hold nothing about the request');
  await call.chatStream(['The documents do not say.']);
  expect(await screen.findByText('No relevant passages found. The prompt tells the model to say so.')).toBeTruthy();
});

test('an answer stays while another screen is open, and "Sources" closes it', async () => {
  ask();
  await (await nextChat()).chatStream(['It is 42 [1].']);
  await screen.findByRole('list', { name: 'Passages used' });
  fireEvent.click(screen.getByRole('option', { name: /Handbooks/ }));
  expect((await answer()).textContent).toContain('It is 42');
  fireEvent.click(screen.getByRole('button', { name: 'Sources' }));
  expect(await screen.findByRole('option', { name: /kestrel\.md/ })).toBeTruthy();
  expect(Object.keys(useLiveRuns.getState().runs)).toEqual([]);
});

test('search shows Markdown as text, and a query without evidence as a weak match', async () => {
  const search = (text: string): void => {
    fireEvent.change(screen.getByLabelText('Search Handbooks'), { target: { value: text } });
    fireEvent.submit(screen.getByRole('search'));
  };
  search('rotor torque');
  const list = await screen.findByRole('list', { name: 'Passages, most relevant first' });
  expect(list.textContent).toContain('The torque of the rotor bolts is 42');
  expect([...list.querySelectorAll('mark')].map(({ textContent }) => textContent)).toEqual(['torque', 'rotor']);
  expect(screen.queryByText(/No close match/)).toBeNull();
  search('xyzzy');
  expect(await screen.findByText('No close match. These passages are only weakly related.')).toBeTruthy();
});

test('"Use in playground" opens a draft with the dataspace and the question', async () => {
  fireEvent.change(screen.getByLabelText('Search Handbooks'), { target: { value: question } });
  fireEvent.click(screen.getByRole('button', { name: 'Use in playground' }));
  const draft = useDrafts.getState().drafts[0]!;
  expect(opened.addresses.at(-1)).toBe(`/playground/${draft.id}`);
  expect(draft).toMatchObject({ promptText: '{{question}}', values: { question }, model: 'test/m' });
  expect(draft.grounding?.dataspaceIds).toHaveLength(1);
  createGroundedDraft({ id: 'd', name: 'Handbooks' }, 'How tight?');
  expect(useDrafts.getState().drafts[0]).toMatchObject({ promptText: 'How tight?', name: 'How tight?' });
  createGroundedDraft({ id: 'd', name: 'Handbooks' }, '');
  expect(useDrafts.getState().drafts[0]).toMatchObject({ promptText: '', name: 'Handbooks' });
});
