// @module-tag slow
import { act, fireEvent, renderHook, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countDraftRuns, listPromptUsage } from '../../../../../shared/contract/prompt-library.ts';
import { listRuns } from '../../../../../shared/contract/runs.ts';
import { addEndpoint, setProviderKey, updateProvider } from '../../../../../shared/contract/providers.ts';
import { createPrompt, listPrompts, readPrompt } from '../../../../../shared/contract/prompts.ts';
import { readConversation } from '../../../../../shared/contract/conversations.ts';
import { PlaygroundScreen } from '../../../../../renderer/screens/playground/playground-screen.tsx';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import { useModelChoices } from '../../../../../renderer/stores/model-choices.ts';
import { useDrafts } from '../../../../../renderer/stores/playground-drafts.ts';
import { draftSlot } from '../../../../../renderer/stores/completion-runs.ts';
import { queueRun, useLiveRuns } from '../../../../../renderer/stores/live-runs.ts';
import { usePlaygroundView } from '../../../../../renderer/stores/playground-view.ts';
import { holdCalls } from '../../../../support/hold-calls.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { patience } from '../../../../support/patience.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../../../support/scripted-provider.ts';

let provider: ScriptedProvider;
let opened: OpenWindow;
const firstDrafts = useDrafts.getInitialState();

beforeEach(async () => {
  giveEverythingSize();
  const media = { matches: true, addEventListener: () => {}, removeEventListener: () => {} };
  vi.stubGlobal('matchMedia', () => media);
  Range.prototype.getClientRects ??= () => [] as unknown as DOMRectList;
  useDrafts.setState(firstDrafts, true);
  useLiveRuns.setState(useLiveRuns.getInitialState(), true);
  useModelChoices.setState({ recent: [], favourites: [] });
  usePlaygroundView.setState(usePlaygroundView.getInitialState(), true);
  provider = await startScriptedProvider();
});
afterEach(async () => {
  await opened.close();
  await provider.close();
});

/** The playground with an empty prompt on a model of the scripted provider. */
async function openPlayground(): Promise<void> {
  const { create, change } = useDrafts.getState();
  change(create(), { name: 'Test', aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' });
  useDrafts.setState({ newId: null });
  opened = await openWindow(<PlaygroundScreen />, {
    address: '/playground',
    prepare: (client) => client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } }),
  });
  await screen.findByRole('toolbar', { name: 'Prompt' });
}

const activeId = () => useDrafts.getState().activeId;
const write = (promptText: string) => act(() => useDrafts.getState().change(activeId(), { promptText }));
const runButton = () => within(screen.getByRole('toolbar', { name: 'Prompt' })).getByRole('button', { name: /^Run/ });

/** Runs the open prompt and gets this answer. */
async function run(content: string): Promise<void> {
  provider.answerWith((call) =>
    call.path.endsWith('/chat/completions') ? call.chatStream([content]) : call.models(['kestrel']),
  );
  fireEvent.click(runButton());
  await screen.findByRole('group', { name: 'Rate the answer' });
}

test('a new prompt has the focus in its editor and the last used model', async () => {
  await openPlayground();
  useModelChoices.setState({ recent: [{ aiSystem: 'OpenAiCompatible', name: 'shop/kestrel' }] });
  fireEvent.keyDown(screen.getByRole('button', { name: /^Test/ }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: 'New prompt' }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt, Handlebars' })));
  expect(useDrafts.getState().drafts[0]).toMatchObject({ id: activeId(), model: 'shop/kestrel' });
});

test('the name that is typed for a prompt stays with it when keys open a new one', async () => {
  await openPlayground();
  renderHook(useGlobalKeys);
  const id = activeId();
  fireEvent.keyDown(document.body, { key: 'F2' });
  const field = await screen.findByRole('textbox', { name: 'Prompt name' });
  fireEvent.change(field, { target: { value: 'Claims' } });
  fireEvent.keyDown(field, { key: 'n', code: 'KeyN', ctrlKey: true, altKey: true });
  await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Prompt name' })).toBeNull());
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt, Handlebars' })));
  const nameOf = (draftId: string) => useDrafts.getState().drafts.find((draft) => draft.id === draftId)?.name;
  expect(nameOf(id)).toBe('Claims');
  expect(nameOf(activeId())).toMatch(/^Untitled prompt/);
});

test("the reason why a prompt can't run is shown for that prompt only, until it is edited", async () => {
  await openPlayground();
  const [first] = useDrafts.getState().drafts;
  fireEvent.click(runButton());
  expect((await screen.findByRole('alert')).textContent).toBe('Write a prompt first');
  act(() => void useDrafts.getState().create({ promptText: 'Another one' }));
  expect(screen.queryByRole('alert')).toBeNull();
  act(() => useDrafts.getState().activate(first!.id));
  await screen.findByRole('alert');
  write('Hello');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('keys rate the answer while it has the focus, and the audit has the same feedback', async () => {
  await openPlayground();
  write('Hello');
  await run('Good morning');
  fireEvent.keyDown(screen.getByRole('textbox', { name: 'Prompt, Handlebars' }), { key: '3' });
  const answer = screen.getByRole('region', { name: 'Answer text' });
  fireEvent.keyDown(answer, { key: '-' });
  fireEvent.keyDown(answer, { key: '4' });
  const scale = within(screen.getByRole('group', { name: 'Rate the answer' }));
  expect(scale.getByRole('radio', { checked: true }).getAttribute('aria-label')).toBe('-4');
  fireEvent.click(scale.getByRole('radio', { name: '7' }));
  const history = within(screen.getByRole('region', { name: 'History' }));
  await history.findByText('+7');
  const { client } = opened.window.host;
  const [listed] = (await client.call(listRuns)).data;
  const { runs } = await client.call(readConversation, { parameters: { id: listed!.conversationId } });
  expect(runs[0]?.feedback).toMatchObject({ score: 7 });
});

test('the history shows first words, model, duration and state of each run', async () => {
  await openPlayground();
  write('Hello');
  await run('Good\n\nmorning to you');
  const row = await within(screen.getByRole('region', { name: 'History' })).findByRole('option');
  expect(row.textContent).toContain('Good morning to you');
  expect(row.textContent).toContain('shop/kestrel');
  const metrics = screen.getByRole('region', { name: 'Answer' }).querySelector('.metrics')!;
  const total = within(metrics as HTMLElement).getByText('Total').nextElementSibling!.textContent;
  expect(row.textContent?.replaceAll(/\s/g, '')).toContain(total.replaceAll(/\s/g, ''));
});

test('a JSON schema opens in a large editor that locates mistakes and formats', async () => {
  await openPlayground();
  const schema = (text: string) =>
    act(() => useDrafts.getState().change(activeId(), { parameters: { response_format: text } }));
  schema('{"type": "object",}');
  fireEvent.click(screen.getByRole('button', { name: 'Edit JSON schema in a large editor' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'JSON schema' }));
  expect(dialog.getByRole('status').textContent).toContain('line 1, column 19');
  schema('{"type":"object"}');
  expect(dialog.getByRole('status').textContent).toBe('Valid JSON');
  fireEvent.click(dialog.getByRole('button', { name: 'Format' }));
  expect(useDrafts.getState().drafts[0]?.parameters.response_format).toBe('{\n  "type": "object"\n}');
});

test('the schema editor stays open when a narrower window folds the parameters', async () => {
  const listeners = new Set<(event: Event) => void>();
  let isWide = true;
  vi.stubGlobal('matchMedia', () => ({
    matches: isWide,
    addEventListener: (_: string, listener: (event: Event) => void) => listeners.add(listener),
    removeEventListener: (_: string, listener: (event: Event) => void) => listeners.delete(listener),
  }));
  await openPlayground();
  act(() => useDrafts.getState().change(activeId(), { parameters: { response_format: '{"type":"object"}' } }));
  fireEvent.click(screen.getByRole('button', { name: 'Edit JSON schema in a large editor' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'JSON schema' }));
  isWide = false;
  act(() => {
    for (const listener of listeners) listener(new Event('change'));
  });
  expect(screen.queryByRole('complementary', { name: 'Model, parameters and history', hidden: true })).toBeNull();
  fireEvent.click(dialog.getByRole('button', { name: 'Format' }));
  expect(useDrafts.getState().drafts[0]?.parameters.response_format).toBe('{\n  "type": "object"\n}');
  fireEvent.keyDown(screen.getByRole('dialog', { name: 'JSON schema' }), { key: 'Escape' });
  expect(screen.queryByRole('dialog', { name: 'JSON schema' })).toBeNull();
});

test('the schema editor says what is invalid, what each provider rejects, and fixes it', async () => {
  await openPlayground();
  const schema = (value: unknown) =>
    act(() => useDrafts.getState().change(activeId(), { parameters: { response_format: JSON.stringify(value) } }));
  schema({ name: 'claim', schema: { type: 'text' } });
  fireEvent.click(screen.getByRole('button', { name: 'Edit JSON schema in a large editor' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'JSON schema' }));
  await waitFor(() =>
    expect(dialog.getByRole('status').textContent).toMatch(/^The schema at \/type must be one of "array", "boolean"/),
  );
  expect(dialog.queryByRole('region', { name: 'Provider support' })).toBeNull();
  const properties = { name: { type: 'string', maxLength: 9 }, when: { type: 'string', format: 'date' } };
  schema({ name: 'claim', schema: { type: 'object', properties, required: ['name'] } });
  const support = within(await dialog.findByRole('region', { name: 'Provider support' }));
  support.getByText('Rejected by 3 of 6: OpenAI (strict), Cohere, Groq (strict)');
  const limit = support.getByText(`"maxLength" isn't supported`).closest('li');
  expect(limit?.textContent).toBe(`/properties/name"maxLength" isn't supportedOpenAI (strict)Cohere`);
  fireEvent.click(support.getByRole('button', { name: 'Fix for all providers' }));
  fireEvent.click(screen.getByRole('button', { name: 'Apply fix' }));
  await dialog.findByText('Every provider and the on-device model support this schema');
  expect(JSON.parse(useDrafts.getState().drafts[0]!.parameters.response_format!)).toEqual({
    name: 'claim',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'maxLength: 9' },
        when: { type: ['string', 'null'], format: 'date' },
      },
      required: ['name', 'when'],
      additionalProperties: false,
    },
  });
  expect(dialog.queryByRole('button', { name: 'Fix for all providers' })).toBeNull();
});

test('the toolbar has one button for Run and Stop, which keeps the focus while a run waits, runs and finishes', async () => {
  await openPlayground();
  write('Hello');
  provider.answerWith((call) => (call.path.endsWith('/chat/completions') ? null : call.models(['kestrel'])));
  const button = runButton();
  const shows = (text: string) =>
    waitFor(() => {
      expect(button.textContent).toContain(text);
      expect(document.activeElement).toBe(button);
    });
  button.focus();
  let waiting!: AbortSignal;
  act(() => void (waiting = queueRun(draftSlot(activeId()))));
  await shows('Cancel run');
  fireEvent.click(button);
  expect(waiting.aborted).toBe(true);
  await shows('Run');
  fireEvent.click(button);
  await shows('Stop');
  await waitFor(() => expect(provider.calls.some(({ method }) => method === 'POST')).toBe(true));
  await provider.calls.find(({ method }) => method === 'POST')!.chatStream(['Good morning']);
  await screen.findByRole('group', { name: 'Rate the answer' });
  await shows('Run');
  expect(runButton()).toBe(button);
});

test('the Save button has a label, and its dialog has the variables collapsed', async () => {
  await openPlayground();
  write('Hello {{name}}');
  const save = within(screen.getByRole('toolbar', { name: 'Prompt' })).getByRole('button', { name: 'Save to library' });
  expect(save.textContent).toContain('Save');
  fireEvent.click(save);
  const dialog = await screen.findByRole('dialog', { name: 'Save to library' });
  expect(dialog.querySelector('details')?.open).toBe(false);
  within(dialog).getByText('1 variable');
});

test('runs made before the first save count for the version if their text is the same', async () => {
  await openPlayground();
  write('Hello');
  await run('Good morning');
  write('Hello you');
  await run('Good evening');
  fireEvent.click(
    within(screen.getByRole('toolbar', { name: 'Prompt' })).getByRole('button', { name: 'Save to library' }),
  );
  const dialog = within(await screen.findByRole('dialog', { name: 'Save to library' }));
  fireEvent.click(dialog.getByRole('button', { name: /^Save/ }));
  await waitFor(() => expect(useDrafts.getState().drafts[0]?.source).toBeTruthy());
  const { promptId, versionId } = useDrafts.getState().drafts[0]!.source!;
  const { client } = opened.window.host;
  await vi.waitFor(async () => {
    const usage = await client.call(listPromptUsage, { parameters: { id: promptId }, query: {} });
    expect(usage.data).toMatchObject([{ promptVersionId: versionId, runs: 1 }]);
  }, patience);
  // The history shows the version of the run that now has one.
  await within(screen.getByRole('region', { name: 'History' })).findByText(/Version 1|v1/);
  const count = (id: string, draftId: string) =>
    client.call(countDraftRuns, { parameters: { id: promptId, versionId: id }, body: { draftId } });
  expect(await count(versionId, activeId())).toEqual({ runs: 0 });
  await expect(count(crypto.randomUUID(), activeId())).rejects.toMatchObject({ code: 'not_found' });
  await expect(count(versionId, '')).rejects.toMatchObject({ code: 'invalid_request' });
});

test('tokens and cost are shown as a range before a run, and the provider counts them on request', async () => {
  provider.answerWith((call) =>
    call.path.endsWith('/input_tokens') ? call.json(200, { input_tokens: 4_321 }) : call.models(['gpt-4o']),
  );
  const { create, change } = useDrafts.getState();
  change(create(), { aiSystem: 'OpenAi', model: 'gpt-4o', promptText: 'Hello {{name}}', values: { name: 'Ada' } });
  opened = await openWindow(<PlaygroundScreen />, {
    address: '/playground',
    prepare: async (client) => {
      const parameters = { aiSystem: 'OpenAi' } as const;
      await client.call(updateProvider, { parameters, body: { baseAddress: provider.baseAddress } });
      await client.call(setProviderKey, { parameters, body: { key: 'sk-test' } });
    },
  });
  const button = await screen.findByRole('button', { name: /^about 3 tokens\s*·\s*<\$0\.0001 to \$0\.16/ });
  expect(provider.calls.filter(({ path }) => path.endsWith('/input_tokens'))).toEqual([]);
  fireEvent.click(button);
  const panel = await screen.findByRole('dialog', { name: 'Tokens and cost of the next run' });
  expect(panel.textContent).toContain('up to 16,384 tokens');
  expect(panel.textContent).toContain('This sends the prompt to OpenAI.');
  fireEvent.click(within(panel).getByRole('button', { name: 'Count with OpenAI' }));
  await waitFor(() => expect(panel.textContent).toContain('Input4,321 tokens'));
  const counted = provider.calls.find(({ path }) => path.endsWith('/input_tokens'));
  expect(counted!.body['input']).toEqual([{ role: 'user', content: [{ type: 'input_text', text: 'Hello Ada' }] }]);
  write('Hello there, {{name}}');
  await waitFor(() => expect(panel.textContent).toContain('Inputabout 4 tokens'));
});

test('a version that is still loading is not saved as a second prompt', async () => {
  const loaded = Promise.withResolvers<void>();
  const { create, change } = useDrafts.getState();
  const id = create();
  change(id, { name: 'Greeting', promptText: 'Hello' });
  opened = await openWindow(<PlaygroundScreen />, {
    address: '/playground',
    prepare: async (client, { host }) => {
      const body = { name: 'Greeting', promptText: 'Hello', aiSystem: 'OpenAi', model: 'gpt-4o' } as const;
      const prompt = await client.call(createPrompt, { body });
      change(id, { source: { promptId: prompt.id, versionId: prompt.latestVersionId } });
      const call = host.client.call.bind(host.client) as typeof host.client.call;
      vi.spyOn(host.client, 'call').mockImplementation((async (endpoint, input) => {
        if (endpoint.id === readPrompt.id) await loaded.promise;
        return call(endpoint, input as never);
      }) as typeof call);
    },
  });
  fireEvent.click(await screen.findByRole('button', { name: /^Save/ }));
  const dialog = await screen.findByRole('dialog', { name: 'Save "Greeting"' });
  fireEvent.submit(dialog.querySelector('form')!);
  expect(within(dialog).queryByRole('textbox', { name: 'Name' })).toBeNull();
  loaded.resolve();
  await within(dialog).findByRole('textbox', { name: 'Note' });
  const { data } = await opened.window.host.client.call(listPrompts, { query: {} });
  expect(data).toHaveLength(1);
});

test('a save whose dialog is closed links the draft, and the dialog that is opened meanwhile waits for it', async () => {
  await openPlayground();
  write('Hello');
  const { client } = opened.window.host;
  const held = holdCalls(client, createPrompt);
  const save = within(screen.getByRole('toolbar', { name: 'Prompt' })).getByRole('button', { name: 'Save to library' });
  fireEvent.click(save);
  const first = await screen.findByRole('dialog', { name: 'Save to library' });
  fireEvent.submit(first.querySelector('form')!);
  await waitFor(() => expect(held.count()).toBe(1));
  fireEvent.keyDown(first, { key: 'Escape' });
  act(() => useDrafts.getState().rename(activeId(), 'Renamed meanwhile'));
  fireEvent.click(save);
  const second = await screen.findByRole('dialog', { name: 'Save to library' });
  fireEvent.submit(second.querySelector('form')!);
  expect(within(second).getByRole('button', { name: /^Save/ }).getAttribute('aria-busy')).toBe('true');
  held.release();
  await screen.findByRole('dialog', { name: 'Save "Test"' });
  const { data } = await client.call(listPrompts, { query: {} });
  expect([data.length, held.count()]).toEqual([1, 1]);
  const draft = useDrafts.getState().drafts.find(({ id }) => id === activeId());
  expect(draft).toMatchObject({ name: 'Renamed meanwhile', source: { promptId: data[0]!.id } });
});
