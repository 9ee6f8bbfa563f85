// @module-tag slow
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { useLocation } from 'wouter';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JudgesView } from '../../../../../renderer/screens/compare/judges/judges-view.tsx';
import { readCompareAddress } from '../../../../../renderer/shell/addresses.ts';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import type { Client } from '../../../../../renderer/host/client.ts';
import { createBlindVote, finishBlindVote, voteOnPair } from '../../../../../shared/contract/blind-votes.ts';
import { startComparison } from '../../../../../shared/contract/comparison-runs.ts';
import { createComparison, readComparison } from '../../../../../shared/contract/comparisons.ts';
import { createCompletionSync } from '../../../../../shared/contract/completions.ts';
import { createDataset } from '../../../../../shared/contract/datasets.ts';
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

test('an answer that comes back is shown from its beginning', async () => {
  await open('/compare/judges', 2);
  const judge = await client.call(createJudge, {
    body: { name: 'Polite', promptText: '{{answer}}?', verdict: { kind: 'passOrFail' }, ...model },
  });
  opened.navigate(`/compare/judges/${judge.id}`);
  const answer = () => screen.findByRole('region', { name: 'Answer to label' });
  const first = await answer();
  press('p');
  await waitFor(() => expect(first.isConnected).toBe(false));
  const second = await answer();
  second.scrollTop = 40;
  press('z', { ctrlKey: true });
  await waitFor(() => expect(second.isConnected).toBe(false));
  expect((await answer()).scrollTop).toBe(0);
});

test('answers are labelled with the keyboard, without the verdicts, and judged again after a change', async () => {
  await open('/compare/judges', 4);
  const judge = await client.call(createJudge, {
    body: { name: 'Polite', promptText: '{{answer}}?', verdict: { kind: 'passOrFail' }, ...model },
  });
  opened.navigate(`/compare/judges/${judge.id}`);
  const answer = () => screen.findByRole('region', { name: 'Answer to label' });
  await answer();
  // The second key comes before the host has the first label.
  press('p');
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

test('votes of people on pairs become labels, with which a judge of preferences is calibrated', async () => {
  await open('/compare/judges');
  const promptText = 'Which? {{first}} | {{second}}';
  const judge = await client.call(createJudge, {
    body: { name: 'Taste', promptText, verdict: { kind: 'preference' }, ...model },
  });
  const { id: datasetId } = await client.call(createDataset, {
    body: {
      name: 'Tickets',
      columns: [{ name: 'ticket', type: 'text' }],
      rows: Array.from({ length: 32 }, (_, row) => ({ ticket: `ticket ${row}` })),
    },
  });
  const variants = ['A', 'B'].map((name) => ({ name, prompt: { promptText: `${name} {{ticket}}` }, ...model }));
  const { id } = await client.call(createComparison, { body: { name: 'A or B', datasetId, variants } });
  const parameters = { id };
  await client.call(startComparison, { parameters, body: {} });
  await waitFor(async () => expect((await client.call(readComparison, { parameters })).state).toBe('Completed'));
  provider.answerWith((call) => {
    const prompt = (call.body['messages'] as { content: string }[]).at(-1)!.content;
    const verdict = prompt.startsWith('Which? Answer to B') ? 'first' : 'second';
    call.chatAnswer({ content: JSON.stringify({ reason: 'Better', verdict }) });
  });
  let vote = await client.call(createBlindVote, { parameters, body: { variants: ['A', 'B'] } });
  while (vote.pair) {
    const isBFirst = vote.pair.answers[0]!.text.startsWith('Answer to B');
    const pair = { id: vote.id, rowId: vote.pair.rowId };
    vote = await client.call(voteOnPair, { parameters: pair, body: { vote: isBFirst ? 'first' : 'second' } });
  }
  await client.call(finishBlindVote, { parameters: { id: vote.id } });

  opened.navigate(`/compare/judges/${judge.id}`);
  await screen.findByText(/0 of 30 labels\. Label 30 more pairs by hand/);
  fireEvent.click(await screen.findByRole('button', { name: 'Use as labels' }));
  await screen.findByText('32 labels added');
  await screen.findByText('64 runs of the judge, two a pair');
  fireEvent.click(screen.getByRole('button', { name: 'Judge the labelled pairs' }));
  await screen.findByText(/^Calibrated\. Agrees on (\d+) of \1 held-out pairs/);
  await screen.findByText('Calibrated');
  fireEvent.click(screen.getByRole('button', { name: 'Remove all labels' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Remove labels' }));
  await screen.findByText(/0 of 30 labels\. Label 30 more pairs by hand/);
});
