import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { callJson, jsonRequest } from '../support/json-call.ts';
import { createReviewWorld } from '../support/review-world.ts';
import { formOf, uploadRequest } from '../support/source-upload.ts';
import { startTestHost, type TestHost, type Way, ways } from '../support/test-host.ts';

let host: TestHost;
let colleague: TestHost;
beforeAll(async () => {
  [host, colleague] = await Promise.all([startTestHost(), startTestHost()]);
});
afterAll(() => Promise.all([host.close(), colleague.close()]));

type Json = ReturnType<typeof JSON.parse>;
const { reviewerCalled, lead, recordRuns, createQueue } = createReviewWorld(() => host);
const [memory] = ways;

async function download(from: TestHost, path: string, way: Way = memory): Promise<string> {
  const { status, text } = await from.send(way, jsonRequest(from, 'GET', `${path}/file`));
  expect(status).toBe(200);
  return text;
}

async function upload(to: TestHost, path: string, text: string, way: Way = memory, key = to.key) {
  const form = formOf([{ name: 'file', fileName: 'queue.jsonl', content: text }]);
  const { status, text: body } = await to.send(way, { ...uploadRequest({ key }, form), path });
  return { status, body: JSON.parse(body) as Json };
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);

/** A queue whose file a colleague imported, with two of its three items reviewed there. */
async function sent(way: Way = memory) {
  const { workspaceId, runs } = await recordRuns(3);
  const made = await createQueue({ workspaceId });
  const file = await download(host, made.path, way);
  const imported = await upload(colleague, '/review-queues/import', file, way);
  expect([imported.status, imported.body]).toEqual([201, expect.any(Object)]);
  for (let count = 0; count < 2; count += 1) {
    const { item } = (await callJson(colleague, memory, 'POST', `${made.path}/reservations`)).body;
    const review = { ...made.answers(count === 0, { useful: 5 }), note: 'From afar' };
    await callJson(colleague, memory, 'POST', `${made.path}/items/${item.id}/reviews`, { body: review });
  }
  return { ...made, file, imported: imported.body, runs, result: await download(colleague, made.path, way) };
}

describe.each(ways)('%s: a queue', (way) => {
  test('is reviewed elsewhere, and its reviews are merged once', async () => {
    const { path, queue, imported, file, result, runs } = await sent(way);
    expect(imported).toMatchObject({
      id: queue.id,
      isImported: true,
      counts: { items: 3, done: 0 },
      installationId: queue.installationId,
      population: 3,
      seed: 7,
    });
    const { data } = (await callJson(colleague, way, 'GET', `${path}/items`)).body;
    expect(data.map(({ title }: Json) => title)).toEqual(['Question 2', 'Question 1', 'Question 0']);
    expect((await callJson(colleague, way, 'GET', `${path}/items/${data[0].id}`)).body.runs).toMatchObject([
      { runId: runs[2]!.runId, input: 'Question 2', model: 'gpt-4o', answer: expect.stringContaining('Bonjour') },
    ]);
    // The answers of the colleague are in the result, and no text of a run.
    expect(linesOf(result).map(({ type }) => type)).toEqual(['queue', 'reviewer', 'review', 'review']);
    expect(result).not.toContain('Bonjour');
    expect((await upload(host, `${path}/merge`, result, way)).body).toEqual({
      added: 2,
      known: 0,
      comments: 0,
      commentsLeftOut: 0,
    });
    expect((await upload(host, `${path}/merge`, result, way)).body).toEqual({
      added: 0,
      known: 2,
      comments: 0,
      commentsLeftOut: 0,
    });
    const merged = (await lead('GET', path)).body;
    expect(merged).toMatchObject({ counts: { done: 2, reviews: 2 }, progress: [{ reviewed: 2 }] });
    const feedback = `/conversations/${runs[2]!.conversationId}/runs/${runs[2]!.runId}/feedback`;
    expect((await lead('GET', feedback)).body[0]).toMatchObject({ value: { score: 5 } });
    // What is left goes out next time.
    expect(linesOf(await download(host, path, way)).map(({ type }) => type)).toEqual(['queue', 'item']);
    expect((await upload(colleague, '/review-queues/import', file, way)).body.error.message).toMatch(
      / is here already\. /,
    );
    expect((await upload(host, '/review-queues/import', file, way)).body.error.message).toMatch(
      /was made by this installation\. /,
    );
  });
});

const decade = 10 * 366 * 86_400_000;
const fileOf = (...lines: Json[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

describe.each([
  ['behind', -decade],
  ['ahead', decade],
])('a clock ten years %s', (_direction, offset) => {
  afterEach(() => void vi.useRealTimers());

  /** A file of a colleague, and a later one, in which the first review is changed with another clock. */
  async function changed() {
    const { path, answers, result } = await sent();
    const [, , first] = linesOf(result) as [Json, Json, Json];
    const at = (name: string, body: unknown) => callJson(colleague, memory, 'POST', `${path}/${name}`, { body });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offset });
    for (const note of ['Changed', 'Changed again']) {
      expect((await at('reservations', { itemId: first.itemId })).status).toBe(200);
      expect((await at(`items/${first.itemId}/reviews`, { ...answers(true), note })).status).toBe(201);
    }
    vi.useRealTimers();
    const merge = async (text: string) => (await upload(host, `${path}/merge`, text)).body;
    const notes = async () => {
      const { reviews } = (await lead('GET', `${path}/items/${first.itemId}`)).body;
      return reviews.map(({ note }: Json) => note);
    };
    return { path, first, result, later: await download(colleague, path), merge, notes };
  }

  test('overwrites no later review, whichever file is merged first', async () => {
    const { path, first, result, later, merge, notes } = await changed();
    const nothing = { added: 0, known: 2, comments: 0, commentsLeftOut: 0 };
    expect(await merge(result)).toMatchObject({ added: 2, known: 0 });
    expect([await merge(later), await notes()]).toEqual([{ ...nothing, added: 1, known: 1 }, ['Changed again']]);
    expect((await lead('GET', `${path}/items/${first.itemId}`)).body.reviews).toMatchObject([{ replaces: first.id }]);
    expect([await merge(result), await merge(later), await notes()]).toEqual([nothing, nothing, ['Changed again']]);
    expect((await lead('GET', path)).body.counts).toMatchObject({ done: 2, reviews: 2 });

    const other = await changed();
    expect([await other.merge(other.later), await other.notes()]).toEqual([
      { ...nothing, added: 2, known: 0 },
      ['Changed again'],
    ]);
    expect([await other.merge(other.result), await other.notes()]).toEqual([nothing, ['Changed again']]);
  });

  test('decides nothing between files that do not know each other: the one that is merged later counts', async () => {
    const { result, first, merge, notes } = await changed();
    const [queue, reviewer] = linesOf(result);
    await merge(result);
    const unknown = { ...first, id: randomUUID(), note: 'Without history', createdAt: Date.now() + offset };
    const text = fileOf(queue, reviewer, unknown);
    expect([await merge(text), await notes()]).toEqual([
      { added: 1, known: 0, comments: 0, commentsLeftOut: 0 },
      ['Without history'],
    ]);
    expect([await merge(result), await notes()]).toEqual([
      { added: 0, known: 2, comments: 0, commentsLeftOut: 0 },
      ['Without history'],
    ]);
  });
});

test('a review of somebody else or of another item is not replaced by a file that says so', async () => {
  const { path, result } = await sent();
  const [queue, reviewer, first, second] = linesOf(result) as [Json, Json, Json, Json];
  const text = fileOf(queue, reviewer, first, { ...second, replaces: first.id });
  expect((await upload(host, `${path}/merge`, text)).body).toMatchObject({ added: 2, known: 0 });
});

test('reviews in the name of a reviewer of this installation are rejected, and those before them', async () => {
  const { path, result } = await sent();
  const own = (await lead('POST', '/reviewers', { name: `Own ${randomUUID()}` })).body;
  const [queue, reviewer, review, other] = linesOf(result) as [Json, Json, Json, Json];
  const forged = { ...other, id: randomUUID(), reviewerId: own.id };
  const lines = [queue, reviewer, { ...reviewer, id: own.id }, review, forged];
  const file = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { status, body } = await upload(host, `${path}/merge`, file);
  expect([status, body.error.code]).toEqual([409, 'conflict']);
  expect(body.error.message).toMatch(/who is a reviewer of this installation\.$/);
  expect((await lead('GET', path)).body.counts).toMatchObject({ done: 0, reviews: 0 });
});

describe('a file', () => {
  test.each([
    [
      'of another queue',
      (lines: Json[]) => [{ ...lines[0], id: randomUUID() }, ...lines.slice(1)],
      409,
      /of another installation/,
    ],
    [
      'of another installation',
      (lines: Json[]) => [{ ...lines[0], installationId: randomUUID() }, ...lines.slice(1)],
      409,
      /of another installation/,
    ],
    [
      'with other items',
      (lines: Json[]) => [...lines.slice(0, 3), { ...lines[3], itemId: randomUUID() }],
      409,
      /which this queue does not have/,
    ],
    ['without its reviewer', (lines: Json[]) => [lines[0], ...lines.slice(2)], 400, /the reviewer .* is missing/],
    [
      'with an answer that does not fit',
      (lines: Json[]) => [...lines.slice(0, 3), { ...lines[3], answers: [{ ...lines[3].answers[0], value: 3 }] }],
      400,
      /must be true or false/,
    ],
    ['with an unknown field', (lines: Json[]) => [...lines.slice(0, 3), { ...lines[3], extra: 1 }], 400, /line 4/],
    ['without the queue', (lines: Json[]) => lines.slice(1), 400, /does not start with a queue/],
    ['that is empty', () => [], 400, /does not start with a queue/],
  ])('%s is rejected, and nothing of it is stored', async (_name, change, status, reason) => {
    const { path, result } = await sent();
    const text = change(linesOf(result))
      .map((line: Json) => `${JSON.stringify(line)}\n`)
      .join('');
    const answer = await upload(host, `${path}/merge`, text);
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringMatching(reason)]);
    expect((await lead('GET', path)).body.counts.reviews).toBe(0);
  });

  test.each([
    'not JSON',
    '{"type":"queue"}',
    '[]',
    '"queue"',
    '{"type":"item"}',
    '['.repeat(100_000),
    `{"type":"item","runs":[${'{},'.repeat(500_000)}{}]}`,
  ])('of %.20s is rejected', async (text) => {
    expect((await upload(colleague, '/review-queues/import', text)).status).toBe(400);
  });

  test('whose line is too long is rejected, and leaves no queue', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path, queue } = await createQueue({ workspaceId });
    const [first, item] = linesOf(await download(host, path)) as [Json, Json];
    const long = { ...item, runs: [{ ...item.runs[0], input: 'x'.repeat(5_000_000) }] };
    const answer = await upload(
      colleague,
      '/review-queues/import',
      `${JSON.stringify(first)}\n${JSON.stringify(long)}\n`,
    );
    expect(answer.body.error.message).toMatch(/line 2 is longer than 2 MB/);
    expect((await callJson(colleague, memory, 'GET', `/review-queues/${queue.id}`)).status).toBe(404);
  });

  test.each<[string, RegExp, (lines: Json[]) => void]>([
    ['a question twice', /given more than once/, ([{ rubric }]) => (rubric.items[1].id = rubric.items[0].id)],
    ['a category without labels', /required for `category`/, ([{ rubric }]) => (rubric.items[1].categories = [])],
    [
      'a label that would be two tags',
      /commas/,
      ([{ rubric }]) => (rubric.items[1].categories[0].label = 'Policy,Tone'),
    ],
    [
      'a question of a million characters',
      /at most 500/,
      ([{ rubric }]) => (rubric.items[0].question = 'x'.repeat(1e6)),
    ],
    ['a stratum of a million characters', /strata\.0\.name/, ([queue]) => (queue.strata[0].name = 'x'.repeat(1e6))],
    ['fewer than no runs', /population/, ([queue]) => (queue.population = -1)],
    ['an item of no stratum', /of an unknown stratum/, ([, item]) => (item.stratum = 1)],
  ])('with %s is rejected, and leaves no queue', async (_name, reason, change) => {
    const { workspaceId } = await recordRuns(1);
    const { path } = await createQueue({ workspaceId });
    const lines = linesOf(await download(host, path));
    change(lines);
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const answer = await upload(colleague, '/review-queues/import', text);
    expect([answer.status, answer.body.error?.message]).toEqual([400, expect.stringMatching(reason)]);
    expect((await callJson(colleague, memory, 'GET', path)).status).toBe(404);
  });

  test('with an item twice is rejected, and leaves no queue; one of two imports at once wins', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path } = await createQueue({ workspaceId });
    const file = await download(host, path);
    const [, item] = file.split('\n');
    const twice = await upload(colleague, '/review-queues/import', `${file}${item}\n`);
    expect([twice.status, twice.body.error.message]).toEqual([
      409,
      'An item is given twice, or belongs to another queue.',
    ]);
    const both = await Promise.all([1, 2].map(() => upload(colleague, '/review-queues/import', file)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await callJson(colleague, memory, 'GET', path)).body.counts.items).toBe(1);
  });

  test('needs the scope manage', async () => {
    const { path, file } = await sent();
    expect((await reviewerCalled('only audits')('GET', `${path}/file`)).status).toBe(403);
    const key = colleague.issueKey({ scopes: ['audit'] });
    expect((await upload(colleague, '/review-queues/import', file, memory, key)).status).toBe(403);
  });

  test('has the conversations of its items, and very long texts cut', async () => {
    const conversationId = randomUUID();
    const { workspaceId } = await recordRuns(3, (index) => ({
      conversationId,
      renderedPrompt: `${index}${'é"'.repeat(200_000)}`,
    }));
    const { path } = await createQueue({ workspaceId }, { itemType: 'conversation' });
    const file = await download(host, path);
    expect((await upload(colleague, '/review-queues/import', file)).status).toBe(201);
    const { data } = (await callJson(colleague, memory, 'GET', `${path}/items`)).body;
    const { runs } = (await callJson(colleague, memory, 'GET', `${path}/items/${data[0].id}`)).body;
    expect(runs).toHaveLength(3);
    expect(runs[2].input).toHaveLength(75_000);
    // Nobody takes a part for the whole.
    expect(runs[2].leftOut).toEqual({
      inputCharacters: 325_001,
      answerCharacters: 0,
      passages: 0,
      passageCharacters: 0,
      earlierRuns: 0,
    });
  });

  test('says how many runs of a long conversation it has no room for', async () => {
    const conversationId = randomUUID();
    const { workspaceId } = await recordRuns(53, () => ({ conversationId }));
    const { path } = await createQueue({ workspaceId }, { itemType: 'conversation' });
    expect((await upload(colleague, '/review-queues/import', await download(host, path))).status).toBe(201);
    const { data } = (await callJson(colleague, memory, 'GET', `${path}/items`)).body;
    const { runs } = (await callJson(colleague, memory, 'GET', `${path}/items/${data[0].id}`)).body;
    expect(runs).toHaveLength(50);
    expect(runs.map(({ leftOut }: Json) => leftOut?.earlierRuns ?? 0)).toEqual([3, ...Array<number>(49).fill(0)]);
  });
});
