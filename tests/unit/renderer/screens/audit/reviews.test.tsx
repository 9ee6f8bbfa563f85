// @module-tag slow
import { Blob, File } from 'node:buffer';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RunOutcome } from '../../../../../electron/storage/run-rows.ts';
import type { Client } from '../../../../../renderer/host/client.ts';
import { ReviewsPage } from '../../../../../renderer/screens/audit/reviews/reviews-page.tsx';
import { reviewQueueAddress, reviewsAddress, rubricAddress } from '../../../../../renderer/shell/addresses.ts';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { useReviewDrafts } from '../../../../../renderer/stores/review-drafts.ts';
import { useActingReviewer } from '../../../../../renderer/stores/acting-reviewer.ts';
import { AppError } from '../../../../../shared/app-error.ts';
import { createJudge, listJudges, readJudgeLabels } from '../../../../../shared/contract/judges.ts';
import type { RunModeration } from '../../../../../shared/contract/moderation.ts';
import { createReviewQueue, listReviewQueues, readReviewQueue } from '../../../../../shared/contract/review-queues.ts';
import {
  actAsReviewer,
  createReviewer,
  listReviewers,
  reviewerHeader,
} from '../../../../../shared/contract/reviewers.ts';
import { reserveItem, submitReview } from '../../../../../shared/contract/reviews.ts';
import { createRubric, listRubrics, type Rubric } from '../../../../../shared/contract/rubrics.ts';
import { recordRun } from '../../../../support/audit-runs.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import type { WindowHost } from '../../../../support/window-host.ts';

let opened: OpenWindow;
let client: Client;
let rubric: Rubric;
let queueId = '';

function Part() {
  useGlobalKeys();
  return <ReviewsPage />;
}

const items = [
  { kind: 'yesNo', question: 'Does every promise match the terms?' },
  {
    kind: 'category',
    question: 'What went wrong?',
    categories: [{ label: 'Wrong policy' }, { label: 'Made up' }, { label: 'Tone' }],
  },
  { kind: 'score', question: 'How useful is the answer?' },
  { kind: 'text', question: 'What should it have said?', isRequired: false },
] as const;

async function recordRuns({ storage }: WindowHost, count: number, outcome: Partial<RunOutcome> = {}): Promise<void> {
  for (let index = 0; index < count; index += 1) await recordRun({ storage }, {}, outcome);
}

/** A queue of all runs, for two reviewers each. */
async function prepareQueue(own: Client, window: WindowHost, runs = 2, outcome?: Partial<RunOutcome>): Promise<void> {
  client = own;
  await recordRuns(window, runs, outcome);
  rubric = await own.call(createRubric, { body: { name: 'Refund policy', items: [...items] as never } });
  const body = { name: 'Refund promises', filter: {}, itemType: 'run', plan: { kind: 'all' } } as const;
  const queue = await own.call(createReviewQueue, {
    body: { ...body, seed: 4711, rubricId: rubric.id, reviewersPerItem: 2 },
  });
  queueId = queue.id;
}

/** Another reviewer, with the headers of their calls. */
async function joinAs(name: string): Promise<{ headers: Record<string, string> }> {
  const { id } = await client.call(createReviewer, { body: { name } });
  const { token } = await client.call(actAsReviewer, { parameters: { id }, body: {} });
  return { headers: { [reviewerHeader]: token } };
}

async function reviewAll(name: string, categoryOf: (index: number) => string): Promise<void> {
  const { headers } = await joinAs(name);
  for (let index = 0; ; index += 1) {
    const reservation = await client.call(reserveItem, { headers, parameters: { id: queueId }, body: {} });
    if (!reservation) return;
    const answers = rubric.items.slice(0, 3).map(({ id, kind }) => ({
      rubricItemId: id,
      value: kind === 'yesNo' ? false : kind === 'score' ? -6 : categoryOf(index),
    }));
    const parameters = { id: queueId, itemId: reservation.item.id };
    await client.call(submitReview, { headers, parameters, body: { answers, note: `${name} read it.` } });
  }
}

/** What the window saves as files. */
function keepSavedFiles(): Blob[] {
  const saved: Blob[] = [];
  URL.createObjectURL = (file) => `blob:${saved.push(file as Blob)}`;
  URL.revokeObjectURL = () => {};
  return saved;
}

const finding = {
  mode: 'note',
  model: 'm',
  categoryScores: null,
  milliseconds: 1,
  withheld: null,
  failure: null,
} as const;
const flagged: RunModeration = { prompt: null, answer: { ...finding, categories: ['violence'] } };

const press = (key: string, more: object = {}) => act(() => void fireEvent.keyDown(document.body, { key, ...more }));
const pressSubmit = () => press('Enter', { ctrlKey: true });
const rubricPanel = () => screen.findByRole('region', { name: 'Rubric' });

beforeEach(async () => {
  // jsdom's own forms and files can't be sent by Node's fetch.
  const form = await new Response(new URLSearchParams()).formData();
  vi.stubGlobal('FormData', form.constructor);
  vi.stubGlobal('File', File);
  vi.stubGlobal('Blob', Blob);
  giveEverythingSize();
  sessionStorage.clear();
  useActingReviewer.setState({ token: null });
  useReviewDrafts.setState({ drafts: [] });
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await opened.close();
});

test('a queue is made of what matches a filter, with a rubric that is written on the way', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: (own, window) => recordRuns(window, (client = own) && 3),
  });
  fireEvent.click(await screen.findByRole('button', { name: 'New review queue' }));
  const form = await screen.findByRole('form', { name: 'New review queue' });
  await within(form).findByText(/of 3 that match/);
  fireEvent.change(within(form).getByLabelText('Name'), { target: { value: 'November' } });
  const create = within(form).getByRole('button', { name: 'Create review queue' });
  expect(create.getAttribute('aria-disabled')).toBe('true');

  fireEvent.click(within(form).getByRole('button', { name: 'New rubric' }));
  const rubricForm = await screen.findByRole('form', { name: 'New rubric' });
  fireEvent.click(within(rubricForm).getByRole('button', { name: 'Create rubric' }));
  within(rubricForm).getByText('Enter a name.');
  fireEvent.change(within(rubricForm).getByLabelText('Name'), { target: { value: 'Terms' } });
  fireEvent.change(within(rubricForm).getByLabelText('Question'), { target: { value: 'Is it true?' } });
  fireEvent.click(within(rubricForm).getByRole('button', { name: 'Create rubric' }));
  await waitFor(() => expect(within(form).getByLabelText<HTMLSelectElement>('Rubric').value).not.toBe(''));
  expect((await client.call(listRubrics)).data.map(({ name }) => name)).toEqual(['Terms']);

  fireEvent.change(within(form).getByLabelText('Items'), { target: { value: 'run' } });
  fireEvent.change(within(form).getByLabelText('Plan'), { target: { value: 'random' } });
  fireEvent.change(within(form).getByLabelText('Size as'), { target: { value: 'count' } });
  fireEvent.change(within(form).getByLabelText('Size'), { target: { value: '2' } });
  await within(form).findByText('2 runs');
  fireEvent.click(create);
  await rubricPanel();
  const { data } = await client.call(listReviewQueues);
  expect(data).toMatchObject([{ name: 'November', itemType: 'run', counts: { items: 2, reviewsNeeded: 4 } }]);
  expect(opened.addresses.at(-1)).toBe(reviewQueueAddress(data[0]!.id));
});

test('an item is reviewed with keys alone, and the next one follows', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  const panel = await rubricPanel();
  expect(panel.textContent).toContain('0 of 4 answered');
  pressSubmit();
  await within(panel).findByText(/3 more required items/);
  press('n');
  press('2');
  press('-');
  press('6');
  expect(panel.textContent).toContain('3 of 4 answered');
  expect(within(panel).getAllByText('−6')).toHaveLength(2);
  press('j');
  press('t');
  const text = within(panel).getByLabelText('What should it have said?');
  expect(document.activeElement).toBe(text);
  fireEvent.change(text, { target: { value: 'The fee stays.' } });
  fireEvent.keyDown(text, { key: 'Escape' });
  press('m');
  fireEvent.change(within(panel).getByLabelText('Note on the whole'), { target: { value: 'Rude' } });
  const { requests } = opened.window;
  pressSubmit();
  await waitFor(() => expect(requests.filter((request) => request.endsWith('/reviews'))).toHaveLength(1));
  await waitFor(async () => expect((await rubricPanel()).textContent).toContain('0 of 4 answered'));
  // Its progress, and the next item without the answers of the last one.
  await within(screen.getByRole('group', { name: 'Reviewers' })).findByText('1');
  expect(screen.getByText('Time per item').nextSibling?.textContent).toMatch(/^[\d.]+ (ms|s|min) \(median\)$/);
  press('y');
  expect((await rubricPanel()).textContent).toContain('1 of 4 answered');
});

test('answers that were sent stay on the screen until the next item is there', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  const panel = await rubricPanel();
  for (const key of ['n', '2', '-', '6']) press(key);
  const shown = new Set<string>();
  const observer = new MutationObserver(() => shown.add(/\d of 4 answered/.exec(panel.textContent)?.[0] ?? ''));
  observer.observe(panel, { subtree: true, childList: true, characterData: true });
  pressSubmit();
  await waitFor(async () => expect(await rubricPanel()).not.toBe(panel));
  observer.disconnect();
  expect(shown).not.toContain('0 of 4 answered');
});

test('a queue of the newest of each day takes new items until a person stops it', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window);
      const body = { name: 'Daily', filter: {}, itemType: 'run', plan: { kind: 'newest', perDay: 1 } } as const;
      queueId = (await own.call(createReviewQueue, { body: { ...body, rubricId: rubric.id } })).id;
    },
  });
  opened.navigate(reviewQueueAddress(queueId));
  const panel = within(await screen.findByRole('navigation', { name: 'Queue' }));
  await panel.findByText('Each day that ends adds its newest');
  fireEvent.click(panel.getByRole('button', { name: 'Stop' }));
  await panel.findByText('Takes no new items');
  const queue = () => client.call(readReviewQueue, { parameters: { id: queueId } });
  expect(await queue()).toMatchObject({ isOpen: false });
  fireEvent.click(panel.getByRole('button', { name: 'Take new items' }));
  await panel.findByText('Each day that ends adds its newest');
  expect(await queue()).toMatchObject({ isOpen: true });
});

test('leaving a queue opens the list at once, and frees the item for others', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  press('Escape');
  expect(opened.addresses.at(-1)).toBe(reviewsAddress);
  const { requests } = opened.window;
  await waitFor(() => expect(requests).toContainEqual(expect.stringMatching(/^DELETE .*\/reservations$/)));
});

test('whoever leaves right after a review reserves no further item', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  press('n');
  press('2');
  press('-');
  press('6');
  const { requests } = opened.window;
  const count = (pattern: RegExp) => requests.filter((request) => pattern.test(request)).length;
  const reservations = count(/^POST .*\/reservations$/);
  pressSubmit();
  press('Escape');
  await waitFor(() => expect(count(/\/reviews$/)).toBe(1));
  await waitFor(async () => {
    const { data } = await client.call(listReviewQueues);
    expect(data[0]!.counts.reviews).toBe(1);
  });
  await waitFor(() => expect(opened.queryClient.isMutating()).toBe(0));
  expect(count(/^POST .*\/reservations$/)).toBe(reservations);
  expect(useReviewDrafts.getState().drafts).toEqual([]);
});

test('a person is added once, also if reviewing under the name fails at first', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  const own = opened.window.host.client;
  const call = own.call.bind(own);
  const failing = vi
    .spyOn(own, 'call')
    .mockImplementation(((endpoint, options) =>
      (endpoint as unknown) === actAsReviewer
        ? Promise.reject(new AppError('rate_limited', 'Too many tries. Wait a minute.'))
        : call(endpoint, options as never)) as typeof own.call);
  fireEvent.keyDown(screen.getByRole('button', { name: /^Reviewer: / }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Add a reviewer' }));
  const dialog = await screen.findByRole('dialog', { name: 'Add a reviewer' });
  fireEvent.change(within(dialog).getByLabelText('Name'), { target: { value: 'wren' } });
  fireEvent.change(within(dialog).getByLabelText('PIN (optional)'), { target: { value: '1234' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Add and review as this person' }));
  expect((await within(dialog).findByRole('alert')).textContent).toContain('Too many tries');
  // The name and the PIN are stored, so another one typed here would say something else.
  expect(within(dialog).getByLabelText<HTMLInputElement>('Name').disabled).toBe(true);
  failing.mockRestore();
  fireEvent.click(within(dialog).getByRole('button', { name: 'Review as this person' }));
  await screen.findByRole('button', { name: 'Reviewer: wren' });
  const { data } = await client.call(listReviewers, { query: {} });
  expect(data.filter(({ name }) => name.startsWith('wren'))).toHaveLength(1);
});

test('a stored review leaves the screen also if the next item cannot be reserved, with the reason', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  for (const key of ['n', '2', '-', '6']) press(key);
  const own = opened.window.host.client;
  const call = own.call.bind(own);
  const rejection = new AppError('conflict', 'The queue is being changed.');
  const calls = vi
    .spyOn(own, 'call')
    .mockImplementation(((endpoint, options) =>
      (endpoint as unknown) === reserveItem
        ? Promise.reject(rejection)
        : call(endpoint, options as never)) as typeof own.call);
  pressSubmit();
  await screen.findByText(/The queue is being changed/);
  expect(screen.queryByRole('region', { name: 'Rubric' })).toBeNull();
  expect(useReviewDrafts.getState().drafts).toEqual([]);
  calls.mockRestore();
  fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
  expect((await rubricPanel()).textContent).toContain('0 of 4 answered');
});

test('answers survive a reload as a draft, and another reviewer does not get them', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  press('y');
  opened.navigate(reviewsAddress);
  await screen.findByRole('heading', { name: 'Review queues' });
  opened.navigate(reviewQueueAddress(queueId));
  expect((await rubricPanel()).textContent).toContain('1 of 4 answered');

  fireEvent.keyDown(screen.getByRole('button', { name: /^Reviewer: / }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Add a reviewer' }));
  const dialog = await screen.findByRole('dialog', { name: 'Add a reviewer' });
  fireEvent.change(within(dialog).getByLabelText('Name'), { target: { value: 'wren' } });
  fireEvent.change(within(dialog).getByLabelText('PIN (optional)'), { target: { value: '12a34' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Add and review as this person' }));
  await screen.findByRole('button', { name: 'Reviewer: wren' });
  await waitFor(async () => expect((await rubricPanel()).textContent).toContain('0 of 4 answered'));

  // The name has a PIN from now on.
  act(() => useActingReviewer.setState({ token: null }));
  fireEvent.keyDown(await screen.findByRole('button', { name: 'Reviewer: This window' }), { key: 'Enter' });
  fireEvent.click(await screen.findByRole('menuitem', { name: /wren/ }));
  const asking = await screen.findByRole('dialog', { name: 'Review as wren' });
  fireEvent.change(within(asking).getByLabelText('PIN'), { target: { value: '9999' } });
  fireEvent.click(within(asking).getByRole('button', { name: 'Review as wren' }));
  await within(asking).findByRole('alert');
  fireEvent.change(within(asking).getByLabelText('PIN'), { target: { value: '1234' } });
  fireEvent.click(within(asking).getByRole('button', { name: 'Review as wren' }));
  await screen.findByRole('button', { name: 'Reviewer: wren' });

  // The reviewer gets another name and another PIN, and goes on at once.
  const edit = async (name: string, button: string) => {
    fireEvent.keyDown(await screen.findByRole('button', { name: `Reviewer: ${name}` }), { key: 'Enter' });
    fireEvent.click(await screen.findByRole('menuitem', { name: `Edit ${name}` }));
    const editing = await screen.findByRole('dialog', { name: `Edit ${name}` });
    fireEvent.change(within(editing).getByLabelText('Name'), { target: { value: 'Jenny' } });
    if (button === 'Save') fireEvent.change(within(editing).getByLabelText('New PIN'), { target: { value: '56789' } });
    fireEvent.click(within(editing).getByRole('button', { name: button }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  };
  const stored = async () =>
    (await client.call(listReviewers, { query: {} })).data.find(({ name }) => name === 'Jenny');
  const earlier = useActingReviewer.getState().token;
  await edit('wren', 'Save');
  await screen.findByRole('button', { name: 'Reviewer: Jenny' });
  expect(await stored()).toMatchObject({ hasPin: true });
  expect(useActingReviewer.getState().token).not.toBe(earlier);
  await edit('Jenny', 'Remove PIN');
  expect(await stored()).toMatchObject({ hasPin: false });
  await screen.findByRole('button', { name: 'Reviewer: Jenny' });
});

test('a selected passage is quoted in the note, or in the text that is asked for', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  const panel = await rubricPanel();
  const note = within(panel).getByLabelText<HTMLTextAreaElement>('Note on the whole');
  // Without a selection in the text to review, nothing is quoted.
  document.getSelection()!.selectAllChildren(panel);
  press('q');
  expect(note.value).toBe('');
  const read = await screen.findByRole('region', { name: 'Text to review' });
  const [passage] = within(read).getAllByText(/./, { selector: 'p' });
  const quote = `> ${passage!.textContent.trim().replaceAll('\n', '\n> ')}\n`;
  // The focus of a text field ends the selection.
  const quotePassage = () => {
    document.getSelection()!.selectAllChildren(passage!);
    press('q');
  };
  quotePassage();
  expect(note.value).toBe(quote);
  expect(document.activeElement).toBe(note);
  fireEvent.change(note, { target: { value: 'Wrong:' } });
  fireEvent.keyDown(note, { key: 'Escape' });
  quotePassage();
  expect(note.value).toBe(`Wrong:\n${quote}`);
  fireEvent.keyDown(note, { key: 'Escape' });
  for (const _ of rubric.items) press('j');
  quotePassage();
  expect(within(panel).getByLabelText<HTMLTextAreaElement>('What should it have said?').value).toBe(quote);
});

test('an item is skipped with a reason, and after the last one nothing is left', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: (own, window) => prepareQueue(own, window, 1),
  });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  press('s');
  const dialog = await screen.findByRole('dialog', { name: 'Skip this item' });
  const reason = within(dialog).getByLabelText('Reason');
  fireEvent.keyDown(reason, { key: 'Enter' });
  fireEvent.change(reason, { target: { value: 'I wrote it' } });
  fireEvent.keyDown(reason, { key: 'Enter' });
  await screen.findByText('Nothing left for you');
  fireEvent.click(await screen.findByRole('button', { name: /Skipped/ }));
  await rubricPanel();
});

test('an item whose run was deleted meanwhile gives way to the next one', async () => {
  let window!: WindowHost;
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: (own, host) => prepareQueue(own, (window = host), 1),
  });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  window.storage.retention.apply('delete', Date.now() + 1000, 10);
  press('s');
  const dialog = await screen.findByRole('dialog', { name: 'Skip this item' });
  const reason = within(dialog).getByLabelText('Reason');
  fireEvent.change(reason, { target: { value: 'Deleted' } });
  fireEvent.keyDown(reason, { key: 'Enter' });
  await screen.findByText('All items have their reviews');
});

test('says who has an item that a reviewer wants, and keeps the own one', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  const others = [await joinAs('heron'), await joinAs('osprey')];
  const reserved = await Promise.all(
    others.map(({ headers }) => client.call(reserveItem, { headers, parameters: { id: queueId }, body: {} })),
  );
  const [first] = reserved;
  expect(reserved.map((one) => one?.item.id)).toEqual([first!.item.id, first!.item.id]);
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  const [taken] = within(await screen.findByRole('group', { name: 'Items of the queue' })).getAllByRole('button');
  expect(taken!.textContent).toContain('heron, osprey');
  fireEvent.click(taken!);
  expect((await screen.findByRole('alert')).textContent).toMatch(/heron has this item reserved until .* UTC/);
  press('y');
  expect((await rubricPanel()).textContent).toContain('1 of 4 answered');
});

test('says that the reservation expired, and reserves again without losing the answers', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  const panel = await rubricPanel();
  press('n');
  press('1');
  press('4');
  const later = Date.now() + 16 * 60_000;
  const clock = vi.spyOn(Date, 'now').mockReturnValue(later);
  try {
    await within(panel).findByText(/The reservation expired/);
    pressSubmit();
    await within(panel).findByText(/Your reservation has expired/);
    fireEvent.click(within(panel).getByRole('button', { name: 'Reserve again' }));
    await waitFor(() => expect(panel.textContent).not.toMatch(/expired/));
    expect(panel.textContent).toContain('3 of 4 answered');
    pressSubmit();
    await waitFor(async () => expect((await rubricPanel()).textContent).toContain('0 of 4 answered'));
  } finally {
    clock.mockRestore();
  }
});

test('a rubric gets a new version, and an older one stays readable', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(rubricAddress(rubric.id));
  const form = await screen.findByRole('form', { name: 'Rubric' });
  const save = within(form).getByRole('button', { name: 'Save as version 2' });
  expect(save.getAttribute('aria-disabled')).toBe('true');
  fireEvent.change(within(form).getAllByLabelText('Hint for reviewers')[0]!, { target: { value: 'Read the terms.' } });
  fireEvent.click(save);
  await screen.findByRole('button', { name: 'Save as version 3' });
  fireEvent.change(screen.getByLabelText('Version'), { target: { value: '1' } });
  await waitFor(() => expect(screen.queryByRole('form', { name: 'Rubric' })).toBeNull());
  expect(screen.queryByText('Read the terms.')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Delete rubric' })).toBeNull();
});

test('agreement is in sentences, a cell opens its items, and a decision becomes the gold value', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window, 3);
      await reviewAll('wren', () => 'Tone');
      await reviewAll('heron', (index) => (index === 0 ? 'Made up' : 'Tone'));
    },
  });
  opened.navigate(reviewQueueAddress(queueId, 'agreement'));
  // All said No: no figure for chance.
  await screen.findAllByText(/Ratings agree in 100% of pairs, over 3 items\. .*same/);
  fireEvent.click(screen.getByRole('button', { name: /What went wrong/ }));
  await screen.findAllByText(/Ratings agree in 67% of pairs, over 3 items\. Alpha −?0\.\d\d/);
  const middle = screen.getByRole('region', { name: 'Disagreements' });
  within(middle).getByText('agree in 2 of 3');
  const cell = within(middle).getByRole('button', {
    name: /(wren|heron) Tone, (wren|heron) Made up: 1$|Made up, .* Tone: 1$/,
  });
  fireEvent.click(cell);
  const row = await within(middle).findByRole('button', { name: /Undecided/ });
  expect(row.textContent).toMatch(/wren: Tone/);
  expect(row.textContent).toMatch(/heron: Made up/);
  await screen.findAllByText('heron read it.');

  press('3');
  pressSubmit();
  await waitFor(() => expect(within(middle).queryByRole('button', { name: /Undecided/ })).toBeNull());
  await within(middle).findByText('Tone', { selector: '.positive' });
  // Texts are not measured.
  fireEvent.click(screen.getByRole('button', { name: /What should it have said/ }));
  await screen.findByText('No items differ here.');
});

test('reviewers are compared with the guard by the answer that a person chooses', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window, 2, { moderation: flagged });
      await reviewAll('wren', () => 'Tone');
      await reviewAll('heron', () => 'Tone');
    },
  });
  opened.navigate(reviewQueueAddress(queueId, 'agreement'));
  const middle = await screen.findByRole('region', { name: 'Disagreements' });
  const pair = () => within(middle).getByRole('combobox', { name: 'Pair' });
  fireEvent.change(pair(), { target: { value: 'moderation flagged' } });
  // All said No, and Yes means flagged until somebody chooses.
  await within(middle).findByRole('button', { name: 'Reviewers Not flagged, Guard: flagged Flagged: 2' });
  const meaning = () => within(middle).getByRole('combobox', { name: 'Flagged means' });
  fireEvent.change(meaning(), { target: { value: 'no' } });
  await within(middle).findByRole('button', { name: 'Reviewers Flagged, Guard: flagged Flagged: 2' });
  expect(within(middle).queryByRole('combobox', { name: 'Pass means' })).toBeNull();

  // Of a category nobody can guess it.
  fireEvent.click(screen.getByRole('button', { name: /What went wrong/ }));
  await waitFor(() => expect(within(pair()).queryByRole('option', { name: /Guard/ })).toBeNull());
  fireEvent.change(meaning(), { target: { value: 'Tone' } });
  await within(pair()).findByRole('option', { name: 'Guard: violence' });
  const cell = { name: 'Reviewers Flagged, Guard: flagged Flagged: 2' };
  fireEvent.click(await within(middle).findByRole('button', cell));
  await within(middle).findByRole('heading', { name: 'Reviewers: Flagged, Guard: flagged: Flagged' });
  await waitFor(() => expect(within(middle).getAllByText(/Guard: violence: Flagged$/)).toHaveLength(2));

  // The first question keeps its choice.
  fireEvent.click(screen.getByRole('button', { name: /Does every promise/ }));
  await within(middle).findByRole('button', cell);
});

test('reviews leave as files, as a dataset and as labels of a judge', async () => {
  const judge = { name: 'Polite', promptText: 'Answer: {{answer}}', aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' };
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window, 3);
      await reviewAll('wren', () => 'Tone');
      await reviewAll('heron', () => 'Tone');
      await own.call(createJudge, { body: { ...judge, aiSystem: 'ServiceAi', verdict: { kind: 'passOrFail' } } });
    },
  });
  const saved = keepSavedFiles();
  opened.navigate(reviewQueueAddress(queueId, 'agreement'));
  const choose = async (name: string) => {
    fireEvent.keyDown(await screen.findByRole('button', { name: 'Export' }), { key: 'Enter' });
    fireEvent.click(await screen.findByRole('menuitem', { name }));
  };
  await choose('CSV, a column per reviewer');
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]!.size).toBeGreaterThan(100);
  await choose('Make a dataset');
  fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Make a dataset' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await choose('Label answers for a judge');
  const dialog = await screen.findByRole('dialog');
  await within(dialog).findByRole('option', { name: 'Polite' });
  const judgeId = (await client.call(listJudges)).data[0]!.id;
  fireEvent.change(within(dialog).getByLabelText('Judge'), { target: { value: judgeId } });
  // Yes passes unless somebody says otherwise; of a category nobody can guess it.
  const passing = () => within(dialog).queryByLabelText<HTMLSelectElement>('Pass means');
  const ratedBy = (index: number) =>
    fireEvent.change(within(dialog).getByLabelText('Rubric item'), { target: { value: rubric.items[index]!.id } });
  expect(passing()!.value).toBe('yes');
  ratedBy(1);
  expect(passing()!.selectedOptions[0]?.textContent).toBe('Choose an answer');
  expect(within(dialog).getByRole('button', { name: 'Label answers' }).getAttribute('aria-disabled')).toBe('true');
  ratedBy(2);
  expect(passing()).toBeNull();
  ratedBy(0);
  fireEvent.change(passing()!, { target: { value: 'no' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Label answers' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(useToasts.getState().toasts.at(-1)?.text).toBe('Labelled 3 answers.');
  const labels = (await client.call(readJudgeLabels, { parameters: { id: judgeId } })).data;
  expect(labels.map(({ label }) => label)).toEqual(['pass', 'pass', 'pass']);
});

test('a queue goes to a colleague as a file, and the reviews come back once', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  const saved = keepSavedFiles();
  const choose = async (name: string) => {
    fireEvent.keyDown(await screen.findByRole('button', { name: 'Actions of Refund promises' }), { key: 'Enter' });
    fireEvent.click(await screen.findByRole('menuitem', { name }));
  };
  const drop = (dialog: HTMLElement, blob: Blob) =>
    fireEvent.change(within(dialog).getByLabelText('Queue file'), {
      target: { files: [new File([blob], 'queue.jsonl')] },
    });
  await choose('Download queue file');
  await waitFor(() => expect(saved).toHaveLength(1));

  // The same installation has it already.
  fireEvent.click(screen.getByRole('button', { name: 'Import queue file' }));
  const importing = await screen.findByRole('dialog', { name: 'Import a queue file' });
  drop(importing, saved[0]!);
  expect((await within(importing).findByRole('alert')).textContent).toMatch(/was made by this in/);
  fireEvent.click(within(importing).getByRole('button', { name: 'Close' }));

  await choose('Merge reviews from a file');
  const merging = await screen.findByRole('dialog', { name: /Merge reviews into/ });
  drop(merging, new Blob(['not a queue']));
  await within(merging).findByRole('alert');
});

test('agreement waits until items have all their reviews', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId, 'agreement'));
  await screen.findByText('No item has all its reviews yet');
  press('Escape');
  await rubricPanel();
});

test('the menu of an open queue renames it and stops new items, also where the plan is hidden', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window);
      const body = { name: 'Daily', filter: {}, itemType: 'run', plan: { kind: 'newest', perDay: 1 } } as const;
      queueId = (await own.call(createReviewQueue, { body: { ...body, rubricId: rubric.id } })).id;
    },
  });
  opened.navigate(reviewQueueAddress(queueId));
  const choose = async (name: string) => {
    fireEvent.keyDown(await screen.findByRole('button', { name: /, actions$/ }), { key: 'Enter' });
    fireEvent.click(await screen.findByRole('menuitem', { name }));
  };
  const queue = () => client.call(readReviewQueue, { parameters: { id: queueId } });
  await choose('Rename');
  const dialog = await screen.findByRole('dialog', { name: 'Rename review queue' });
  fireEvent.change(within(dialog).getByLabelText('Name'), { target: { value: 'Newest' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Rename' }));
  await screen.findByRole('heading', { name: 'Newest' });
  await choose('Stop new items');
  await waitFor(async () => expect(await queue()).toMatchObject({ name: 'Newest', isOpen: false }));
  await choose('Take new items');
  await waitFor(async () => expect(await queue()).toMatchObject({ isOpen: true }));
  await choose('Delete');
  await waitFor(() => expect(opened.addresses.at(-1)).toBe(reviewsAddress));
  expect(useToasts.getState().toasts.at(-1)?.text).toContain('Deleted "Newest"');
});

test('the items of a queue are filtered, and an empty part says so', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  const filter = async (name: string) => {
    fireEvent.keyDown(screen.getByRole('button', { name: /^Filter items/ }), { key: 'Enter' });
    fireEvent.click(await screen.findByRole('menuitem', { name }));
  };
  await filter('Reviewed by me');
  // The reserved one.
  const list = await screen.findByRole('group', { name: 'Items of the queue' });
  await waitFor(() => expect(within(list).getAllByRole('button')).toHaveLength(1));
  await filter('Flagged');
  await screen.findByText('No items here.');
});

test('a quote that has no room is not cut', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  const note = within(await rubricPanel()).getByLabelText<HTMLTextAreaElement>('Note on the whole');
  fireEvent.change(note, { target: { value: 'x'.repeat(9_999) } });
  fireEvent.keyDown(note, { key: 'Escape' });
  const read = await screen.findByRole('region', { name: 'Text to review' });
  document.getSelection()!.selectAllChildren(within(read).getAllByText(/./, { selector: 'p' })[0]!);
  press('q');
  expect(note.value).toHaveLength(9_999);
  expect(useToasts.getState().toasts.at(-1)?.text).toMatch(/^The quote wasn't added: .* 10,000 characters/);
});

test('a text that is too long stays whole, says so and is not sent', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  const panel = await rubricPanel();
  for (const key of ['n', '2', '-', '6']) press(key);
  const note = within(panel).getByLabelText<HTMLTextAreaElement>('Note on the whole');
  fireEvent.change(note, { target: { value: 'x'.repeat(10_432) } });
  expect(note.value).toHaveLength(10_432);
  within(panel).getByText('10,432 characters, but at most 10,000 can be sent. Shorten the text.');
  const { requests } = opened.window;
  pressSubmit();
  fireEvent.change(note, { target: { value: 'x'.repeat(10_000) } });
  expect(within(panel).queryByText(/Shorten the text/)).toBeNull();
  pressSubmit();
  await waitFor(() => expect(requests.filter((request) => request.endsWith('/reviews'))).toHaveLength(1));
});

test('the parts of a run are tabs, which a key goes through', async () => {
  const call = { id: 'call_1', name: 'find_order', arguments: '{"number":"4711"}' };
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window, 1);
      const body = { filter: {}, itemType: 'run', plan: { kind: 'newest', perDay: 1 }, rubricId: rubric.id } as const;
      await recordRun(window, {}, { toolCalls: [call] } as never);
      queueId = (await own.call(createReviewQueue, { body: { ...body, name: 'With calls' } })).id;
    },
  });
  opened.navigate(reviewQueueAddress(queueId));
  const parts = await screen.findByRole('radiogroup', { name: 'Part of the run' });
  const read = () => screen.getByRole('region', { name: 'Text to review' });
  press('p');
  within(read()).getByRole('heading', { name: 'Rendered' });
  fireEvent.click(within(parts).getByRole('radio', { name: 'Tool calls 1' }));
  within(read()).getByRole('group', { name: 'Tool calls' });
  expect(within(read()).queryByRole('heading', { name: 'Input' })).toBeNull();
  press('p');
  within(read()).getByRole('heading', { name: 'Input' });
});

test('a second review is requested with a key and a reason, once', async () => {
  opened = await openWindow(<Part />, { address: reviewsAddress, prepare: prepareQueue });
  opened.navigate(reviewQueueAddress(queueId));
  await rubricPanel();
  press('y');
  press('f');
  const dialog = await screen.findByRole('dialog', { name: 'Request a second review' });
  fireEvent.change(within(dialog).getByLabelText('Reason (optional)'), { target: { value: 'I am not sure' } });
  fireEvent.click(within(dialog).getByRole('button', { name: 'Request second review' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  // The answers stay, and the reservation.
  const flag = await within(await rubricPanel()).findByRole('button', { name: /requested a second review$/ });
  expect(flag.getAttribute('aria-disabled')).toBe('true');
  expect((await rubricPanel()).textContent).toContain('1 of 4 answered');
  await screen.findByText('Second review');
  press('f');
  expect(screen.queryByRole('dialog')).toBeNull();
  const { counts } = await client.call(readReviewQueue, { parameters: { id: queueId } });
  expect(counts.reviewsNeeded).toBe(5);
});

test('a disagreement is discussed beside its reviews', async () => {
  opened = await openWindow(<Part />, {
    address: reviewsAddress,
    prepare: async (own, window) => {
      await prepareQueue(own, window, 1);
      await reviewAll('wren', () => 'Tone');
      await reviewAll('heron', () => 'Made up');
    },
  });
  opened.navigate(reviewQueueAddress(queueId, 'agreement'));
  fireEvent.click(await screen.findByRole('button', { name: /What went wrong/ }));
  await screen.findAllByText('heron read it.');
  press('d');
  const form = await screen.findByRole('form', { name: 'Discuss this item' });
  const add = within(form).getByRole('button', { name: 'Add comment' });
  expect(add.getAttribute('aria-disabled')).toBe('true');
  fireEvent.change(within(form).getByLabelText('Comment'), { target: { value: 'The tone is fine.' } });
  fireEvent.click(add);
  const comment = await screen.findByRole('article', { name: 'Comment by This window' });
  within(comment).getByText('The tone is fine.');
  expect(screen.queryByRole('form', { name: 'Discuss this item' })).toBeNull();
});
