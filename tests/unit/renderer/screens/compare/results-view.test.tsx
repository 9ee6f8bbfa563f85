// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CompareScreen } from '../../../../../renderer/screens/compare/compare-screen.tsx';
import type { Client } from '../../../../../renderer/host/client.ts';
import { StatusBar } from '../../../../../renderer/shell/status-bar.tsx';
import { retryComparison, startComparison } from '../../../../../shared/contract/comparison-runs.ts';
import { createJudge } from '../../../../../shared/contract/judges.ts';
import { createComparison, readComparison } from '../../../../../shared/contract/comparisons.ts';
import type { ComparisonInput } from '../../../../../shared/contract/comparisons.ts';
import { createDataset } from '../../../../../shared/contract/datasets.ts';
import { createPrompt, listPromptVersions } from '../../../../../shared/contract/prompts.ts';
import { readPromptLabel } from '../../../../../shared/contract/prompt-library.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import {
  startScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
} from '../../../../support/scripted-provider.ts';

let provider: ScriptedProvider;
let opened: OpenWindow;

const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[]).at(-1)!.content;

beforeEach(async () => {
  giveEverythingSize();
  provider = await startScriptedProvider((call) => {
    if (call.method === 'GET') return call.models(['terra']);
    const prompt = promptOf(call);
    if (prompt.includes('broken')) return call.fail(500, 'Overloaded');
    call.chatStream([prompt.startsWith('B') ? `We refund ${prompt}` : `We resend ${prompt}`]);
  });
});

afterEach(async () => {
  await opened.close();
  await provider.close();
  vi.restoreAllMocks();
});

const model = { aiSystem: 'OpenAiCompatible', model: 'lab/terra' } as const;
/** Enough rows that a difference can be told. */
const tickets = ['late', 'broken', ...Array.from({ length: 18 }, (_, index) => `order ${index}`)];

async function run(client: Client, change: Partial<ComparisonInput> = {}): Promise<string> {
  const { id: datasetId } = await client.call(createDataset, {
    body: {
      name: 'tickets.csv',
      columns: [{ name: 'ticket', type: 'text' }],
      rows: tickets.map((ticket) => ({ ticket })),
    },
  });
  const prompt = await client.call(createPrompt, { body: { name: 'Replies', promptText: 'B {{ticket}}', ...model } });
  const { data: versions } = await client.call(listPromptVersions, { parameters: { id: prompt.id }, query: {} });
  const { id } = await client.call(createComparison, {
    body: {
      name: 'Refund replies',
      datasetId,
      variants: [
        { name: 'old', prompt: { promptText: 'A {{ticket}}' }, ...model },
        { name: 'new', promptVersionId: versions[0]!.id },
      ],
      checks: [{ kind: 'contains', name: 'No refund', value: 'We refund', not: true }],
      ...change,
    },
  });
  await client.call(startComparison, { parameters: { id }, body: {} });
  for (;;) {
    const { state } = await client.call(readComparison, { parameters: { id } });
    if (state !== 'Running') return id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function openResults(
  change?: Partial<ComparisonInput>,
  prepare = async (_client: Client): Promise<void> => {},
): Promise<string> {
  let id = '';
  opened = await openWindow(<CompareScreen />, {
    address: '/compare',
    endpoints: [{ name: 'lab', baseAddress: provider.baseAddress }],
    prepare: async (client) => {
      await prepare(client);
      id = await run(client, change);
    },
  });
  opened.navigate(`/compare/${id}`);
  await screen.findByRole('grid');
  await screen.findByText('We resend A late');
  return id;
}

test('shows rates with intervals, every cell, and one cell in full with a vote', async () => {
  await openResults();
  const [, , old, fresh] = screen.getAllByRole('columnheader');
  expect(old!.textContent).toMatch(/100%Baseline95 % between \d+ and 100/);
  expect(fresh!.textContent).toMatch(/0%−100 points95 % between −\d+ and −\d+/);
  within(old!).getByRole('img', { name: /^100 percent, 95 % between/ });
  screen.getByText('38 of 40 runs');
  screen.getByText('2 failed');
  const row = screen.getAllByRole('row')[1]!;
  expect(row.textContent).toMatch(/^1late/);
  const failing = within(row).getAllByRole('gridcell')[2]!;
  expect(failing.textContent).toContain('FailsWe refund B late');
  expect(failing.querySelector('.is-quoted')?.textContent).toBe('We refund');

  fireEvent.keyDown(screen.getByRole('grid'), { key: 'Enter' });
  fireEvent.keyDown(screen.getByRole('grid'), { key: 'ArrowRight' });
  const panel = await screen.findByRole('complementary', { name: 'One answer' });
  await within(panel).findByText('1 of 1 fail');
  fireEvent.click(await within(panel).findByRole('button', { name: /^Fail/ }));
  await within(panel).findByText('You');
  fireEvent.click(within(panel).getByRole('button', { name: 'Diff' }));
  await within(panel).findByRole('table', { name: 'Baseline A and B' });
  fireEvent.click(within(panel).getByRole('button', { name: 'Next row' }));
  await within(panel).findByText('2 of 20');
});

test('filters rows, and moves the label production after a confirmation', async () => {
  const id = await openResults();
  fireEvent.click(screen.getByRole('radio', { name: 'Fails 20' }));
  await waitFor(() => expect(screen.getByRole('grid').getAttribute('aria-rowcount')).toBe('21'));
  fireEvent.keyDown(screen.getByRole('button', { name: 'Variant B' }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Compare with this one' }));
  await waitFor(() => expect(screen.getAllByRole('columnheader')[2]!.textContent).toContain('+100 points'));
  fireEvent.keyDown(screen.getByRole('button', { name: 'Variant B' }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Make B production' }));
  const dialog = await screen.findByRole('alertdialog');
  await within(dialog).findByText(/is set to version 1/);
  fireEvent.click(within(dialog).getByRole('button', { name: 'Make B production' }));
  await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  const { client } = opened.window.host;
  const { variants } = await client.call(readComparison, { parameters: { id } });
  const promptId = variants[1]!.promptId!;
  const label = await client.call(readPromptLabel, { parameters: { id: promptId, label: 'production' } });
  expect(label.versionNumber).toBe(1);
});

test('runs failed cells again', async () => {
  await openResults();
  provider.answerWith((call) => call.chatStream(['Fixed.']));
  fireEvent.click(screen.getByRole('button', { name: 'Retry failed' }));
  await screen.findByText('40 of 40 runs');
  expect(await screen.findAllByText('Fixed.')).toHaveLength(2);
});

test('shows the text of a running answer as it arrives', async () => {
  let id = '';
  opened = await openWindow(<CompareScreen />, {
    address: '/compare',
    endpoints: [{ name: 'lab', baseAddress: provider.baseAddress }],
    prepare: async (client) => {
      id = await run(client, { variants: [{ name: 'only', prompt: { promptText: 'A {{ticket}}' }, ...model }] });
      provider.answerWith((call) => {
        call
          .openEventStream()
          .write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'The first words' } }] })}\n\n`);
      });
      await client.call(retryComparison, { parameters: { id }, body: {} });
    },
  });
  opened.navigate(`/compare/${id}`);
  await screen.findByText('The first words');
  await screen.findByText('Running');
  fireEvent.click(screen.getByText('The first words'));
  const panel = await screen.findByRole('complementary', { name: 'One answer' });
  await within(panel).findByText('The first words');
});

test('says which verdicts are missing, and judges again until a person stops', async () => {
  provider.answerWith((call) => {
    if (promptOf(call).startsWith('Judge')) call.fail(500, 'down');
    else call.chatStream([promptOf(call)]);
  });
  let id = '';
  opened = await openWindow(
    <>
      <CompareScreen />
      <StatusBar />
    </>,
    {
      address: '/compare',
      endpoints: [{ name: 'lab', baseAddress: provider.baseAddress }],
      prepare: async (client) => {
        const verdict = { kind: 'passOrFail' } as const;
        const body = { name: 'Strict', promptText: 'Judge {{answer}}', verdict, ...model };
        const { id: judgeId } = await client.call(createJudge, { body });
        id = await run(client, { checks: [{ kind: 'judge', judgeId }] });
      },
    },
  );
  opened.navigate(`/compare/${id}`);
  await screen.findByText(/^Strict: 40 answers without a verdict\./);
  screen.getByText('40 runs, unknown price.');
  const waiting: ScriptedCall[] = [];
  provider.answerWith((call) => void waiting.push(call));
  fireEvent.click(screen.getByRole('button', { name: 'Judge again' }));
  await screen.findByText('0 of 40 judged');
  await screen.findByRole('link', { name: 'Refund replies: 0 of 40 verdicts' });
  await waitFor(() => expect(waiting).toHaveLength(4));
  waiting[0]!.chatAnswer({ content: JSON.stringify({ reason: 'Fine', verdict: 'pass' }) });
  await screen.findByText('1 of 40 judged');
  fireEvent.click(screen.getByRole('button', { name: /^Stop/ }));
  await screen.findByText(/^Strict: 39 answers without a verdict\./);
  await waitFor(() => expect(screen.queryByRole('link', { name: /verdicts/ })).toBeNull());
});

test('the rows of a page are drawn over several frames', async () => {
  let frames: FrameRequestCallback[] = [];
  vi.spyOn(window, 'requestAnimationFrame').mockImplementation((callback) => frames.push(callback));
  const nextFrame = () =>
    act(() => {
      const due = frames;
      frames = [];
      for (const callback of due) callback(0);
    });
  const answers = () => document.querySelectorAll('.cell__answer').length;
  let isOpen = false;
  const opening = openResults().then(() => (isOpen = true));
  const drawn = [0];
  while (!isOpen || frames.length > 0) {
    nextFrame();
    drawn.push(answers());
    await new Promise((resolve) => setTimeout(resolve));
  }
  await opening;
  expect(drawn.at(-1)).toBeGreaterThan(10);
  const steps = drawn.map((count, frame) => count - (drawn[frame - 1] ?? 0));
  expect(Math.max(...steps)).toBe(10);
});

test('verdicts of a judge that is not calibrated are shown as not counting', async () => {
  let judgeId = '';
  const checks = [
    {
      kind: 'judge' as const,
      get judgeId() {
        return judgeId;
      },
    },
  ];
  await openResults({ checks }, async (client) => {
    provider.answerWith((call) => {
      const prompt = promptOf(call);
      const verdict = JSON.stringify({ reason: 'Rude', verdict: 'fail' });
      const answer = prompt.startsWith('B') ? 'We refund' : `We resend ${prompt}`;
      const content = prompt.includes('Polite?') ? verdict : answer;
      if (call.body['stream'] === true) call.chatStream([content]);
      else call.chatAnswer({ content });
    });
    const body = {
      name: 'Strict',
      promptText: 'Polite? {{answer}}',
      verdict: { kind: 'passOrFail' as const },
      ...model,
    };
    judgeId = (await client.call(createJudge, { body })).id;
  });
  const row = screen.getAllByRole('row')[1]!;
  const judged = within(row).getByTitle("Doesn't count yet: the judge is not calibrated");
  expect(judged.textContent).toBe("Judge, doesn't count yetA failsB fails");
  expect(within(row).queryByText('Fails')).toBeNull();
});

test('without checks and with one variant, it shows answers, cost and time only', async () => {
  await openResults({ checks: [], variants: [{ name: 'only', prompt: { promptText: 'A {{ticket}}' }, ...model }] });
  const [, , only] = screen.getAllByRole('columnheader');
  expect(only!.textContent).toContain('No checks, so no pass rate');
  expect(screen.getAllByText('Done').length).toBeGreaterThan(2);
  expect(screen.getAllByText('No checks').length).toBeGreaterThan(2);
});

test('a judge of preferences compares two variants, which decides nothing before its calibration', async () => {
  await openResults({ checks: [] }, async (client) => {
    const body = { name: 'Taste', promptText: 'Which? {{first}} | {{second}}', ...model };
    await client.call(createJudge, { body: { ...body, verdict: { kind: 'preference' } } });
  });
  fireEvent.click(await screen.findByRole('radio', { name: 'Pairs' }));
  await screen.findByText(/^Judged in both orders: 0 of 19 pairs, 19 without a verdict/);
  screen.getByText('38 runs of the judge, two a pair.');
  provider.answerWith((call) => {
    const verdict = promptOf(call).includes('Which? We resend') ? 'second' : 'first';
    call.chatAnswer({ content: JSON.stringify({ reason: 'Better', verdict }) });
  });
  fireEvent.click(screen.getByRole('button', { name: 'Judge 19 pairs' }));
  await screen.findByText(/^Judged in both orders: 19 of 19 pairs/);
  screen.getByText(/^Doesn't count yet: the judge is not calibrated\. 0 of 30 labels/);
  screen.getByRole('columnheader', { name: "Wins, don't count yet" });
  expect(screen.queryByText(/is preferred/)).toBeNull();
  expect(screen.queryByRole('button', { name: /^Judge/ })).toBeNull();
  fireEvent.click(screen.getByRole('link', { name: 'Calibrate the judge' }));
  expect(opened.addresses.at(-1)).toMatch(/^\/compare\/judges\//);
});
