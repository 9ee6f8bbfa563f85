import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { useLocation } from 'wouter';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JudgesView } from '../../../../../renderer/screens/compare/judges/judges-view.tsx';
import { readCompareAddress } from '../../../../../renderer/shell/addresses.ts';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import type { Client } from '../../../../../renderer/host/client.ts';
import { createCompletionSync } from '../../../../../shared/contract/completions.ts';
import { createJudge, listJudges, readJudgeLabels } from '../../../../../shared/contract/judges.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { type ScriptedProvider, startScriptedProvider } from '../../../../support/scripted-provider.ts';

let opened: OpenWindow;
let provider: ScriptedProvider;
let client!: Client;

function Part() {
  useGlobalKeys();
  const [location] = useLocation();
  const address = readCompareAddress(location);
  return <JudgesView judgeId={address.view === 'judges' ? address.judgeId : null} />;
}

const model = { aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' } as const;

async function open(address: string, runs = 0): Promise<void> {
  opened = await openWindow(<Part />, {
    address,
    prepare: async (own) => {
      client = own;
      await client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } });
      for (let run = 0; run < runs; run += 1)
        await client.call(createCompletionSync, { body: { promptText: `Ticket ${run}`, ...model } });
    },
  });
}

beforeEach(async () => {
  giveEverythingSize();
  provider = await startScriptedProvider();
  provider.answerWith((call) => {
    if (call.method === 'GET') return call.models(['kestrel']);
    const prompt = (call.body['messages'] as { content: string }[]).at(-1)!.content;
    const verdict = JSON.stringify({ reason: 'Fine', verdict: 'pass' });
    const content = prompt.includes('"verdict"') ? verdict : `Answer to ${prompt}`;
    if (call.body['stream'] === true) call.chatStream([content]);
    else call.chatAnswer({ content });
  });
});
afterEach(async () => {
  await opened.close();
  await provider.close();
});

const press = (key: string, more: object = {}) => act(() => void fireEvent.keyDown(document.body, { key, ...more }));

test('a judge is created, and what it lacks is named', async () => {
  await open('/compare/judges/new');
  fireEvent.change(await screen.findByLabelText('Name'), { target: { value: 'Polite' } });
  fireEvent.change(screen.getByLabelText('Prompt'), { target: { value: 'Good?' } });
  fireEvent.click(screen.getByRole('button', { name: 'Create judge' }));
  await screen.findByRole('alert');
  fireEvent.change(screen.getByLabelText('Prompt'), { target: { value: 'Good? {{answer}}' } });
  fireEvent.click(screen.getByRole('button', { name: 'Create judge' }));
  await screen.findByText(/0 of 30 labels/);
  expect((await client.call(listJudges, { query: {} })).data).toMatchObject([{ name: 'Polite' }]);
  expect(opened.addresses.at(-1)).toMatch(/^\/compare\/judges\/[0-9a-f-]{36}$/);
});

test('answers are labelled with the keyboard, without the verdicts, and judged again after a change', async () => {
  await open('/compare/judges', 4);
  const judge = await client.call(createJudge, {
    body: { name: 'Polite', promptText: '{{answer}}?', verdict: { kind: 'passOrFail' }, ...model },
  });
  opened.navigate(`/compare/judges/${judge.id}`);
  const answer = () => screen.findByRole('region', { name: 'Answer to label' });
  await answer();
  press('p');
  await screen.findByText(/1 of 30 labels/);
  press('f');
  await screen.findByText(/2 of 30 labels/);
  press('z', { ctrlKey: true });
  await screen.findByText(/1 of 30 labels/);
  await answer();
  press('f');
  await screen.findByText(/2 of 30 labels/);
  const labels = async () => (await client.call(readJudgeLabels, { parameters: { id: judge.id } })).data;
  expect((await labels()).map(({ label }) => label).toSorted()).toEqual(['fail', 'pass']);
  fireEvent.click(screen.getByRole('button', { name: 'Judge the labelled answers' }));
  await waitFor(async () => expect((await labels()).map(({ verdict }) => verdict)).toEqual(['pass', 'pass']));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Judge the labelled answers' })).toBeNull());
  fireEvent.change(screen.getByLabelText('Prompt'), { target: { value: 'Really {{answer}}?' } });
  await screen.findByText(/Saving makes all verdicts stale/);
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Judge again' }));
  await waitFor(async () => expect((await labels()).every(({ isStale }) => !isStale)).toBe(true));
});
