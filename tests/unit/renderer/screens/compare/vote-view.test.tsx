import { act, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { VoteView } from '../../../../../renderer/screens/compare/vote/vote-view.tsx';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import { listBlindVotes } from '../../../../../shared/contract/blind-votes.ts';
import { startComparison } from '../../../../../shared/contract/comparison-runs.ts';
import { createComparison, readComparison } from '../../../../../shared/contract/comparisons.ts';
import { createDataset } from '../../../../../shared/contract/datasets.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import type { Client } from '../../../../../renderer/host/client.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { patience } from '../../../../support/patience.ts';
import { type ScriptedProvider, startScriptedProvider } from '../../../../support/scripted-provider.ts';

let opened: OpenWindow;
let provider: ScriptedProvider;
let comparisonId = '';

/** Answers with the prompt, so that the variant is known from its text. */
async function compare(client: Client): Promise<void> {
  provider.answerWith((call) => {
    if (call.method === 'GET') return call.models(['kestrel']);
    call.chatStream([(call.body['messages'] as { content: string }[]).at(-1)!.content]);
  });
  await client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } });
  const rows = ['late', 'broken', 'lost', 'wrong'].map((ticket) => ({ ticket }));
  const dataset = await client.call(createDataset, {
    body: { name: 'Tickets', columns: [{ name: 'ticket', type: 'text' }], rows },
  });
  const model = { aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' } as const;
  const variants = ['Polite', 'Short'].map((name) => ({
    name,
    prompt: { promptText: `${name}: {{ticket}}` },
    ...model,
  }));
  const { id } = await client.call(createComparison, { body: { name: 'Replies', datasetId: dataset.id, variants } });
  await client.call(startComparison, { parameters: { id }, body: {} });
  await vi.waitFor(
    async () => expect((await client.call(readComparison, { parameters: { id } })).state).toBe('Completed'),
    patience,
  );
  comparisonId = id;
}

function Part() {
  useGlobalKeys();
  return <VoteView comparisonId={comparisonId} />;
}

beforeEach(async () => {
  giveEverythingSize();
  sessionStorage.clear();
  provider = await startScriptedProvider();
});
afterEach(async () => {
  await opened.close();
  await provider.close();
});

const press = (key: string, more: object = {}) => act(() => void fireEvent.keyDown(document.body, { key, ...more }));
const votedText = (voted: number) => screen.findByText(`${voted} of 4 pairs`);
const sideOf = (name: string) =>
  within(screen.getByRole('region', { name: 'Text of answer 1' })).queryByText(new RegExp(name)) ? 1 : 2;

test('pairs are voted on with the keyboard, and the end names the variants', async () => {
  let client!: Client;
  opened = await openWindow(<Part />, { prepare: (own) => compare((client = own)) });
  fireEvent.change(await screen.findByLabelText('Question'), { target: { value: 'Which is kinder?' } });
  fireEvent.click(screen.getByRole('button', { name: /Start voting/ }));
  await votedText(0);
  expect(document.body.textContent).not.toContain('kestrel');
  expect(screen.getByLabelText<HTMLInputElement>('Question').value).toBe('Which is kinder?');

  // A note, whose letters are no votes.
  press('n');
  const note = screen.getByLabelText('Note');
  expect(document.activeElement).toBe(note);
  fireEvent.change(note, { target: { value: 'Xs' } });
  fireEvent.keyDown(note, { key: 'x' });
  fireEvent.keyDown(note, { key: 'Enter' });
  press(sideOf('Polite') === 1 ? 'ArrowLeft' : 'ArrowRight');
  await votedText(1);
  expect(screen.getByLabelText<HTMLInputElement>('Note').value).toBe('');

  press('d');
  expect(screen.getByRole('button', { name: /Mark differences/, pressed: true })).toBeTruthy();
  press('x');
  await votedText(2);
  press('z', { ctrlKey: true });
  await votedText(1);
  press('ArrowDown');
  await votedText(2);
  press('s');
  await votedText(3);
  press('z', { ctrlKey: true });
  await votedText(2);
  press('z', { ctrlKey: true });
  await votedText(1);
  press('z', { ctrlKey: true });
  await votedText(0);
  expect(screen.getByLabelText<HTMLInputElement>('Note').value).toBe('Xs');
  for (let voted = 1; voted <= 3; voted += 1) {
    press(sideOf('Polite') === 1 ? 'ArrowLeft' : 'ArrowRight');
    await votedText(voted);
  }
  press('Escape');
  await screen.findByText('Finish after 3 of 4 pairs?');
  press('Escape');
  await screen.findByRole('region', { name: 'Text of answer 1' });
  press('Escape');
  fireEvent.click(await screen.findByRole('button', { name: /Finish and reveal/ }));
  await screen.findByText(/^Cannot tell: Polite won 3 of 3 decided pairs, 100 %/);
  expect(screen.getAllByRole('row')[1]!.textContent).toContain('Politeshop/kestrelOwn prompt');
  const { data } = await client.call(listBlindVotes, { parameters: { id: comparisonId }, query: {} });
  expect(data).toMatchObject([{ question: 'Which is kinder?', counts: { decided: 3 }, voter: 'This window' }]);
});

test('a vote that is not finished opens again where it was', async () => {
  opened = await openWindow(<Part />, { prepare: compare });
  fireEvent.click(await screen.findByRole('button', { name: /Start voting/ }));
  await votedText(0);
  press('ArrowLeft');
  await votedText(1);
  const shown = screen.getByRole('region', { name: 'Text of answer 1' }).textContent;
  press('n');
  fireEvent.change(screen.getByLabelText('Note'), { target: { value: 'Half' } });
  opened.queryClient.clear();
  opened.navigate('/elsewhere');
  const again = await screen.findByRole('region', { name: 'Text of answer 1' });
  expect(again.textContent).toBe(shown);
  expect(screen.getByLabelText<HTMLInputElement>('Note').value).toBe('Half');
});
