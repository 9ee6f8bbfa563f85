// @module-tag slow
import { randomUUID } from 'node:crypto';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reviewQueueAddress, reviewsAddress } from '../../../../../renderer/shell/addresses.ts';
import { recordRun } from '../../../../support/audit-runs.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import {
  createQueueOfAll,
  findRubric,
  findText,
  pressKey,
  ReviewsWithKeys,
} from '../../../../support/review-window.tsx';
import type { WindowHost } from '../../../../support/window-host.ts';

let opened: OpenWindow;
let queueId = '';

beforeEach(() => sessionStorage.clear());
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await opened.close();
});

const usual = { systemMessage: null, replacements: {} };
const error = { code: 'provider_unavailable', message: 'The provider did not answer.' };

/** Four runs: with an answer, without one, failed, and with calls and passages. */
async function recordConversation({ storage }: WindowHost): Promise<void> {
  const conversationId = randomUUID();
  const outcomes = [
    { content: 'The **second** delivery is free.' },
    { content: '' },
    { status: 'Failed', content: 'Half an ans', finishReason: null, error },
    { content: 'We keep the parcel.', toolCalls: [{ id: 'call_1', name: 'find_order', arguments: '{}' }] },
  ];
  for (const [index, outcome] of outcomes.entries()) {
    const createdAt = Date.UTC(2026, 10, 20, 9, index);
    const run = { ...usual, conversationId, createdAt, renderedPrompt: `Question ${index + 1}` };
    await recordRun({ storage }, run, outcome as never);
  }
}

async function openQueue(change: Parameters<typeof createQueueOfAll>[1]): Promise<HTMLElement> {
  opened = await openWindow(<ReviewsWithKeys />, {
    address: reviewsAddress,
    prepare: async (client, window) => {
      await recordConversation(window);
      queueId = (await createQueueOfAll(client, change)).id;
    },
  });
  opened.navigate(reviewQueueAddress(queueId));
  await findRubric();
  return findText();
}

test('a conversation is shown as a whole, its runs in their order', async () => {
  const text = await openQueue({ itemType: 'conversation' });
  const runs = await within(text).findAllByRole('region');
  expect(runs.map((run) => run.getAttribute('aria-label'))).toEqual([1, 2, 3, 4].map((run) => `Run ${run} of 4`));
  within(runs[0]!).getByText('second', { selector: 'strong' });
  within(runs[1]!).getByText('The model returned no text.');
  within(runs[2]!).getByText('Half an ans');
  within(runs[2]!).getByText(/The provider did not answer/);
  within(runs[2]!).getByText('failed');
  within(runs[3]!).getByText('Newest match');
  expect(
    within(text)
      .getAllByText(/^Question \d$/)
      .map(({ textContent }) => textContent),
  ).toEqual([1, 2, 3, 4].map((run) => `Question ${run}`));

  // Of a part only the runs that have it.
  fireEvent.click(screen.getByRole('radio', { name: 'Tool calls 1' }));
  expect(within(text).getAllByRole('region')).toHaveLength(1);
});

test('keys go from run to run, and to the one that matches', async () => {
  const shown: string[] = [];
  await openQueue({ itemType: 'conversation' });
  vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(function note(this: Element) {
    if (this.id.startsWith('review-run-')) shown.push(this.getAttribute('aria-label')!);
  } as never);
  const chosen = () => screen.getByRole<HTMLSelectElement>('combobox', { name: 'Run of the conversation' });
  const label = () => chosen().selectedOptions[0]!.textContent;
  await waitFor(() => expect(label()).toMatch(/^Run 1 of 4/));
  for (const key of ['.', '.', ',', 'g', '.']) pressKey(key);
  expect(shown).toEqual([2, 3, 2, 4].map((run) => `Run ${run} of 4`));
  expect(label()).toMatch(/^Run 4 of 4/);
});

test('runs far below are drawn when they come near the view', async () => {
  const observed = new Map<Element, () => void>();
  class Observer {
    readonly #callback: (entries: object[]) => void;
    constructor(callback: (entries: object[]) => void) {
      this.#callback = callback;
    }
    observe(element: Element) {
      observed.set(element, () => this.#callback([{ isIntersecting: true }]));
    }
    disconnect() {}
  }
  vi.stubGlobal('IntersectionObserver', Observer);
  const text = await openQueue({ itemType: 'conversation' });
  const last = await within(text).findByRole('region', { name: 'Run 4 of 4' });
  within(text).getByText('Question 1');
  expect(within(last).queryByText('Question 4')).toBeNull();
  act(() => observed.get(last)!());
  within(last).getByText('Question 4');
});

test('a queue of runs shows one run only', async () => {
  const text = await openQueue({ itemType: 'run', plan: { kind: 'random', count: 1 } });
  await within(text).findAllByText(/^Question \d$/);
  expect(within(text).getAllByText(/^Question \d$/)).toHaveLength(1);
  expect(screen.queryByRole('combobox', { name: 'Run of the conversation' })).toBeNull();
  expect(within(text).queryByRole('region')).toBeNull();
});

test('a passage is chosen and quoted by keys alone', async () => {
  const content = 'The parcel came back. We pay the second delivery. It is free.\n\nKeep the receipt.';
  opened = await openWindow(<ReviewsWithKeys />, {
    address: reviewsAddress,
    prepare: async (client, { storage }) => {
      await recordRun({ storage }, { ...usual, renderedPrompt: 'Who pays?' }, { content, reasoning: null });
      queueId = (await createQueueOfAll(client)).id;
    },
  });
  opened.navigate(reviewQueueAddress(queueId));
  const note = within(await findRubric()).getByLabelText<HTMLTextAreaElement>('Note on the whole');
  const text = await findText();
  await within(text).findByText('Keep the receipt.');
  const chosen = () => document.getSelection()!.toString();
  const steps: [key: string, isEnd: boolean, chosen: string][] = [
    ['ArrowUp', false, 'Who pays?'],
    ['ArrowDown', false, 'The parcel came back.'],
    ['ArrowDown', false, 'We pay the second delivery.'],
    ['ArrowDown', true, 'We pay the second delivery. It is free.'],
    ['ArrowUp', true, 'We pay the second delivery.'],
    ['ArrowLeft', true, 'We pay the second'],
    ['ArrowRight', false, 'pay the second'],
    ['ArrowRight', true, 'pay the second delivery'],
    ['ArrowLeft', false, 'We pay the second delivery'],
  ];
  pressKey('q');
  expect([document.activeElement, chosen()]).toEqual([text, 'Who pays?']);
  for (const [key, shiftKey, expected] of steps) {
    pressKey(key, { shiftKey });
    expect([key, chosen()]).toEqual([key, expected]);
  }
  pressKey('Enter');
  expect(note.value).toBe('> We pay the second delivery\n');
  expect(document.activeElement).toBe(note);

  // Escape ends the choice, and doesn't leave the queue.
  fireEvent.keyDown(note, { key: 'Escape' });
  document.getSelection()!.removeAllRanges();
  pressKey('q');
  screen.getByText('quotes');
  pressKey('Escape');
  await screen.findByText('Select text to quote it');
  pressKey('Enter');
  expect(note.value).toBe('> We pay the second delivery\n');
  expect(opened.addresses.at(-1)).toBe(reviewQueueAddress(queueId));
});

test('keys filter the items and go from one to the next', async () => {
  await openQueue({ itemType: 'run' });
  const list = within(await screen.findByRole('group', { name: 'Items of the queue' }));
  await waitFor(() => expect(list.getAllByRole('button')).toHaveLength(4));
  const openIndex = () => list.getAllByRole('button').findIndex((row) => row.getAttribute('aria-current') === 'true');
  await waitFor(() => expect(openIndex()).toBe(0));
  pressKey('J', { shiftKey: true });
  await waitFor(() => expect(openIndex()).toBe(1));
  pressKey('K', { shiftKey: true });
  await waitFor(() => expect(openIndex()).toBe(0));
  pressKey('v');
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Flagged' }));
  await screen.findByText('No items here.');
});

test('keys go to the items of the pages before and after', async () => {
  opened = await openWindow(<ReviewsWithKeys />, {
    address: reviewsAddress,
    prepare: async (client, window) => {
      for (let count = 0; count < 101; count += 1) await recordRun(window, { ...usual });
      queueId = (await createQueueOfAll(client, { itemType: 'run' })).id;
    },
  });
  opened.navigate(reviewQueueAddress(queueId));
  await findRubric();
  const list = within(await screen.findByRole('group', { name: 'Items of the queue' }));
  /** How many rows are there, and which of them is open. */
  const shown = () => {
    const rows = list.queryAllByRole('button');
    return [rows.length, rows.findIndex((row) => row.getAttribute('aria-current') === 'true')];
  };
  await waitFor(() => expect(shown()).toEqual([100, 0]));
  // On a page without the open item: from its near end.
  fireEvent.click(screen.getByRole('button', { name: 'Later items' }));
  await waitFor(() => expect(shown()).toEqual([1, -1]));
  pressKey('K', { shiftKey: true });
  await waitFor(() => expect(shown()).toEqual([1, 0]));
  pressKey('K', { shiftKey: true });
  await waitFor(() => expect(shown()).toEqual([100, 99]));
  pressKey('J', { shiftKey: true });
  await waitFor(() => expect(shown()).toEqual([1, 0]));
  // After the last item there is none.
  pressKey('J', { shiftKey: true });
  expect(shown()).toEqual([1, 0]);
});

test('a reviewed item is changed and discussed by keys', async () => {
  await openQueue({ itemType: 'run' });
  pressKey('y');
  pressKey('Enter', { ctrlKey: true });
  const list = within(await screen.findByRole('group', { name: 'Items of the queue' }));
  fireEvent.click((await list.findByText('Done')).closest('button')!);
  await screen.findByRole('button', { name: 'Back to my item' });
  pressKey('d');
  await screen.findByRole('form', { name: 'Discuss this item' });
  fireEvent.keyDown(screen.getByLabelText('Comment'), { key: 'Escape' });
  pressKey('b');
  await screen.findByRole('button', { name: 'Submit and next' });
  fireEvent.click((await list.findByText('Done')).closest('button')!);
  await screen.findByRole('button', { name: 'Change my review' });
  pressKey('e');
  await waitFor(async () => expect((await findRubric()).textContent).toContain('1 of 2 answered'));
});
