/**
 * Fifty simulated reviewers on one queue: `npm run benchmark -- reviews`; `--items N` (10,000 unless given), `--reviewers N` (50),
 * `--per-item N` (5). Every call goes through the API, all reviewers at once. Fails if an item has not exactly as many reviews as it
 * needs. Then measures the agreement, and how long the main thread is busy at a time.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createHost } from '../electron/create-host.ts';
import { createMemoryKeyStore } from '../electron/key-store/key-store.ts';
import type { ReviewQueue } from '../shared/contract/review-queues.ts';
import { createSeededRandom } from '../shared/seeded-random.ts';
import { sampleOutcome, sampleRun } from '../tests/unit/storage/sample-run.ts';
import { printReport, row } from './support/report.ts';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '10000' },
    reviewers: { type: 'string', default: '50' },
    'per-item': { type: 'string', default: '5' },
  },
});
const [items, reviewers, perItem] = [values.items, values.reviewers, values['per-item']].map(Number) as [
  number,
  number,
  number,
];
const directory = mkdtempSync(join(tmpdir(), 'touchstone-reviews-'));
const random = createSeededRandom(17);

const host = await createHost({
  dataDirectory: directory,
  providerBases: {},
  endpoints: [],
  capabilities: [],
  environment: {},
  log: (message, error) => console.error(message, error ?? ''),
  keyStore: createMemoryKeyStore(),
});

async function call<Body>(
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<{ status: number; body: Body }> {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const request = new Request(`http://test${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await host.api.fetch(request, { access: key ? 'network' : 'window' });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Body };
}

const workspaceId = randomUUID();
for (let index = 0; index < items; index += 1) {
  const run = sampleRun({ workspaceId, renderedPrompt: `Question ${index}` });
  host.storage.runs.begin(run);
  const finished = host.storage.runs.finish(run.runId, sampleOutcome());
  if (index % 500 === 499) await finished;
}
const rubric = await call<{ id: string }>('POST', '/rubrics', {
  name: 'Refunds',
  items: [
    { kind: 'yesNo', question: 'Is it right?' },
    {
      kind: 'category',
      question: 'What went wrong?',
      categories: [{ label: 'Policy' }, { label: 'Made up' }, { label: 'Tone' }],
    },
    { kind: 'score', question: 'How useful is it?' },
  ],
});
const createStart = performance.now();
const { body: queue } = await call<ReviewQueue>('POST', '/review-queues', {
  name: 'All',
  filter: { workspaceId },
  itemType: 'run',
  plan: { kind: 'all' },
  rubricId: rubric.body.id,
  reviewersPerItem: perItem,
});
const createMs = performance.now() - createStart;
const path = `/review-queues/${queue.id}`;
const [right, wrong, useful] = queue.rubric.items.map(({ id }) => id);

const delays: number[] = [];

/** Reserves and reviews until nothing is left. */
async function review(key: string): Promise<number> {
  for (let count = 0; ; count += 1) {
    const start = performance.now();
    const reserved = await call<{ item: { id: string } }>('POST', `${path}/reservations`, {}, key);
    delays.push(performance.now() - start);
    if (reserved.status === 204) return count;
    const answers = [
      { rubricItemId: right, value: random.boolean(0.7) },
      { rubricItemId: wrong, value: random.pick(['Policy', 'Made up', 'Tone']) },
      { rubricItemId: useful, value: random.between(-10, 10) },
    ];
    const sent = await call('POST', `${path}/items/${reserved.body.item.id}/reviews`, { answers }, key);
    if (sent.status !== 201) throw new Error(`A review was rejected: ${JSON.stringify(sent.body)}`);
  }
}

const keys = Array.from(
  { length: reviewers },
  (_, index) => host.storage.apiKeys.issue({ name: `reviewer ${index}`, scopes: ['audit'] } as never).key,
);
const start = performance.now();
const done = await Promise.all(keys.map(review));
const reviewMs = performance.now() - start;

const wrongItems = host.storage.reviewQueues
  .items(host.storage.reviewQueues.read(queue.id).sequence, { offset: 0, limit: items })
  .filter((item) => item.done !== perItem || item.needed !== perItem);
if (wrongItems.length > 0) throw new Error(`${wrongItems.length} items have not exactly ${perItem} reviews.`);

/** Milliseconds of processor time of this thread so far: other programs on the machine don't count. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The longest turn of the event loop during some work, in processor time. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  void work.finally(() => (isDone = true));
  let longest = 0;
  while (!isDone) {
    const turnStart = processorMs();
    await nextTurn();
    longest = Math.max(longest, processorMs() - turnStart);
  }
  return longest;
}

// The first call starts the thread.
await call('GET', `${path}/agreement`);
const agreementStart = performance.now();
const turn = await longestTurn(call('GET', `${path}/agreement`));
const agreementMs = performance.now() - agreementStart;

delays.sort((one, other) => one - other);
const reviewed = done.reduce((sum, count) => sum + count, 0);
printReport('reviews', [
  row(`a queue of ${items} items`, createMs, 'ms'),
  row('reviews', reviewed, 'reviews'),
  row('items with another number of reviews than they need', wrongItems.length, 'items', { max: 0 }),
  row('reviews a second, each with its reservation', reviewed / (reviewMs / 1000), '/s'),
  row('a reservation among all reviewers, p99', delays[Math.floor(delays.length * 0.99)]!, 'ms'),
  row('agreement of the queue', agreementMs, 'ms'),
  row('processor time of the longest turn meanwhile', turn, 'ms', { max: 50 }),
]);
await host.close();
rmSync(directory, { recursive: true, force: true });
