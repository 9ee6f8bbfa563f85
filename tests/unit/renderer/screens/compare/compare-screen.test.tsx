// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CompareScreen } from '../../../../../renderer/screens/compare/compare-screen.tsx';
import { allActions, useActionStore } from '../../../../../renderer/stores/actions.ts';
import { useComparisonDrafts } from '../../../../../renderer/stores/comparison-drafts.ts';
import { startComparison } from '../../../../../shared/contract/comparison-runs.ts';
import { createComparison, listComparisons } from '../../../../../shared/contract/comparisons.ts';
import { createDataset } from '../../../../../shared/contract/datasets.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import { createPrompt, createPromptVersion } from '../../../../../shared/contract/prompts.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { type ScriptedProvider, startScriptedProvider } from '../../../../support/scripted-provider.ts';

const target = { aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' } as const;

let opened: OpenWindow;
let provider: ScriptedProvider;
let datasetId: string;
let promptId: string;
let comparisonId: string;

beforeEach(async () => {
  giveEverythingSize();
  vi.stubGlobal('matchMedia', () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
  useComparisonDrafts.setState({ drafts: [] });
  provider = await startScriptedProvider();
  provider.answerWith((call) =>
    call.path.endsWith('/chat/completions') ? void call.chatStream(['late']) : call.models(['kestrel']),
  );
  opened = await openWindow(<CompareScreen />, {
    address: '/compare',
    prepare: async (client) => {
      await client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } });
      const dataset = await client.call(createDataset, {
        body: {
          name: 'Tickets',
          columns: [
            { name: 'ticket', type: 'text' },
            { name: 'gold', type: 'expected' },
          ],
          rows: [
            { ticket: 'late', gold: 'late' },
            { ticket: 'lost', gold: 'lost' },
          ],
        },
      });
      datasetId = dataset.id;
      const prompt = await client.call(createPrompt, {
        body: { name: 'Reply', promptText: 'Reply to {{ticket}}', ...target },
      });
      promptId = prompt.id;
      const comparison = await client.call(createComparison, {
        body: {
          name: 'Polite or short',
          datasetId,
          variants: [
            { name: 'A', promptVersionId: prompt.latestVersionId },
            { name: 'B', prompt: { promptText: 'Short: {{ticket}}' }, ...target },
          ],
          checks: [{ kind: 'contains', column: 'gold' }],
        },
      });
      comparisonId = comparison.id;
    },
  });
});
afterEach(async () => {
  await opened.close();
  await provider.close();
  vi.unstubAllGlobals();
});

const region = (name: string) => within(screen.getByRole('region', { name }));
const comparisons = async () => (await opened.window.host.client.call(listComparisons)).data;
const address = () => opened.addresses.at(-1);
const act = (id: string) =>
  allActions(useActionStore.getState().sources)
    .find((action) => action.id === id)
    ?.run();

test('a saved setup is changed, which replaces it, and starts', async () => {
  fireEvent.click(await screen.findByRole('link', { name: 'Polite or short' }));
  expect(await screen.findByText('Saved, not run yet')).toBeDefined();
  expect(await screen.findByRole('button', { name: 'Prompt of A: Reply' })).toBeDefined();
  fireEvent.change(screen.getByRole('textbox', { name: 'Runs per row' }), { target: { value: '0' } });
  act('compare.save');
  expect(await screen.findByText('Must be 1 or more')).toBeDefined();
  expect((await comparisons()).map(({ id }) => id)).toEqual([comparisonId]);
  fireEvent.change(screen.getByRole('textbox', { name: 'Runs per row' }), { target: { value: '2' } });
  expect(screen.getByText('Changed, not saved')).toBeDefined();
  act('compare.save');
  await waitFor(() => expect(address()).not.toContain(comparisonId));
  const [saved, ...others] = await comparisons();
  expect([saved!.repeats, saved!.state, others]).toEqual([2, 'Ready', []]);
  expect(useComparisonDrafts.getState().drafts).toEqual([]);
  await screen.findByText('Saved, not run yet');
  fireEvent.click(await screen.findByRole('button', { name: 'Start 8 runs' }));
  await waitFor(() => expect(address()).toBe(`/compare/${saved!.id}`));
  await waitFor(async () => expect((await comparisons())[0]).toMatchObject({ state: 'Completed' }));
});

test('what is edited while a setup is saved becomes the draft of the saved comparison', async () => {
  fireEvent.click(await screen.findByRole('link', { name: 'Polite or short' }));
  await screen.findByRole('button', { name: 'Start 4 runs' });
  const repeats = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Runs per row' });
  fireEvent.change(repeats(), { target: { value: '2' } });
  const { client } = opened.window.host;
  const call = client.call.bind(client);
  const gate = Promise.withResolvers<void>();
  vi.spyOn(client, 'call').mockImplementation((async (endpoint: never, options: never) => {
    if (endpoint === createComparison) await gate.promise;
    return call(endpoint, options);
  }) as typeof client.call);
  act('compare.save');
  fireEvent.change(repeats(), { target: { value: '3' } });
  gate.resolve();
  await waitFor(() => expect(address()).not.toContain(comparisonId));
  expect(await screen.findByText('Changed, not saved')).toBeDefined();
  expect(repeats().value).toBe('3');
  const [saved, ...others] = await comparisons();
  expect([saved!.repeats, others]).toEqual([2, []]);
  expect(useComparisonDrafts.getState().drafts.map(({ id }) => id)).toEqual([saved!.id]);
});

test('a new setup keeps what is typed, names bad fields and what the service rejects', async () => {
  opened.navigate('/compare/new');
  const start = await screen.findByRole('button', { name: 'Start' });
  fireEvent.click(start);
  expect(await region('Inputs').findByText('Choose a dataset or import a file')).toBeDefined();
  fireEvent.click(region('Inputs').getByRole('button', { name: 'Create sample dataset' }));
  expect(await region('Inputs').findByText('8 rows, 3 columns')).toBeDefined();
  // The sample fits the example prompt of the playground, which is the first variant.
  expect(await region('Cost, time and tokens').findByText('8')).toBeDefined();
  expect(region('Checks').getByRole('listitem', { name: 'Contains' })).toBeDefined();
  fireEvent.click(region('Variants').getByRole('button', { name: 'Add variant' }));
  fireEvent.click(region('Variants').getByRole('button', { name: 'Vary models' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Vary models' }));
  fireEvent.change(dialog.getByRole('textbox', { name: 'Search models' }), { target: { value: 'kestrel' } });
  fireEvent.click(await dialog.findByRole('checkbox', { name: 'shop/kestrel' }));
  fireEvent.click(dialog.getByRole('button', { name: 'Add 1 variant' }));
  expect(await region('Variants').findByRole('button', { name: 'Model of C: shop/kestrel' })).toBeDefined();
  opened.navigate('/compare');
  await screen.findByRole('link', { name: 'Polite or short' });
  opened.navigate('/compare/new');
  expect(await screen.findByRole('button', { name: 'Model of C: shop/kestrel' })).toBeDefined();
  expect(await comparisons()).toHaveLength(1);
});

test('a repeat runs the newest version of the prompt and names what it repeats', async () => {
  const { client } = opened.window.host;
  const version = await client.call(createPromptVersion, {
    parameters: { id: promptId },
    body: { promptText: 'Kind reply to {{ticket}}', ...target, configuration: { temperature: 0 } },
  });
  fireEvent.click(await screen.findByRole('link', { name: 'Polite or short' }));
  await screen.findByRole('button', { name: 'Start 4 runs' });
  act('compare.try');
  await waitFor(() => expect(address()).toBe(`/compare/${comparisonId}`));
  await waitFor(async () => expect((await comparisons())[0]!.state).not.toBe('Running'));
  opened.navigate('/compare');
  fireEvent.keyDown(await screen.findByRole('button', { name: 'Actions of Polite or short' }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Repeat on the newest versions' }));
  await waitFor(() => expect(address()).toBe('/compare/new'));
  expect(useComparisonDrafts.getState().drafts).toMatchObject([
    {
      id: 'new',
      basedOn: comparisonId,
      variants: [
        { prompt: { kind: 'version', versionId: version.id }, parameters: { temperature: '0' } },
        { prompt: { kind: 'text', promptText: 'Short: {{ticket}}' } },
      ],
    },
  ]);
});

test('the list and a report show what happened while they were not open', async () => {
  const { client } = opened.window.host;
  await screen.findByRole('link', { name: 'Polite or short' });
  opened.navigate(`/compare/${comparisonId}`);
  await screen.findByText('0 of 4 runs');
  opened.navigate('/compare/new');
  await screen.findByRole('button', { name: 'Start' });
  await client.call(startComparison, { parameters: { id: comparisonId }, body: {} });
  const variants = [{ name: 'A', prompt: { promptText: '{{ticket}}' }, ...target }];
  await client.call(createComparison, { body: { name: 'By a program', datasetId, variants } });
  await waitFor(async () =>
    expect((await comparisons()).find(({ id }) => id === comparisonId)?.state).toBe('Completed'),
  );
  opened.navigate('/compare');
  expect(await screen.findByRole('link', { name: 'By a program' })).toBeDefined();
  // The endpoint has no prices.
  expect(await screen.findByText('Unknown cost')).toBeDefined();
  opened.navigate(`/compare/${comparisonId}`);
  await screen.findByText('4 of 4 runs');
  await waitFor(() => expect(screen.queryByText(/Results so far/)).toBeNull());
});

test('a comparison that ends before the response to its start is shown as ended', async () => {
  const { client } = opened.window.host;
  const call = client.call.bind(client);
  const cached = () => opened.queryClient.getQueryData<{ state: string }>(['comparisons', 'one', comparisonId]);
  vi.spyOn(client, 'call').mockImplementation((async (endpoint: never, options: never) => {
    const response: unknown = await call(endpoint, options);
    if (endpoint === startComparison) await waitFor(() => expect(cached()?.state).toBe('Completed'));
    return response;
  }) as typeof client.call);
  fireEvent.click(await screen.findByRole('link', { name: 'Polite or short' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Start 4 runs' }));
  await waitFor(() => expect(address()).toBe(`/compare/${comparisonId}`));
  expect(await screen.findByText('4 of 4 runs')).toBeDefined();
});
