/**
 * Fifty simulated reviewers on one queue: `npm run benchmark -- reviews`; `--items N` (10,000 unless given), `--reviewers N` (50),
 * `--per-item N` (5), `--hosts N` (1): with more, the queue is shared in a PostgreSQL of its own. Every call goes through the API, all reviewers at once. Fails if an item has not exactly as many reviews as it
 * needs. Then measures the agreement, and how long the main thread is busy at a time.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createHost, type Host } from '../electron/create-host.ts';
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
    hosts: { type: 'string', default: '1' },
  },
});
const [items, reviewers, perItem] = [values.items, values.reviewers, values['per-item']].map(Number) as [
  number,
  number,
  number,
];
const hostCount = Number(values.hosts);
const server = hostCount > 1 ? await (await import('../tests/support/postgres.ts')).TestPostgres.start() : null;
const team = server === null ? null : await server.createDatabase();
const directories = Array.from({ length: hostCount }, () => mkdtempSync(join(tmpdir(), 'touchstone-reviews-')));
const random = createSeededRandom(17);

const hosts: Host[] = [];
for (const directory of directories)
  hosts.push(
    await createHost({
      dataDirectory: directory,
      providerBases: {},
      endpoints: [],
      capabilities: [],
      environment: {},
      team,
      log: (message, error) => console.error(message, error ?? ''),
      keyStore: createMemoryKeyStore(),
    }),
  );
const [host] = hosts as [Host];

async function call<Body>(
  method: string,
  path: string,
  body?: unknown,
  key?: string,
  used = host,
): Promise<{ status: number; body: Body }> {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const request = new Request(`http://test${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await used.api.fetch(request, { access: key ? 'network' : 'window' });
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
  ...(hostCount > 1 && { isShared: true }),
});
const createMs = performance.now() - createStart;
const path = `/review-queues/${queue.id}`;

/** Until every host has the queue with so many reviews. */
async function untilAllHave(reviews: number): Promise<number> {
  const since = performance.now();
  for (const used of hosts) {
    for (;;) {
      const { status, body } = await call<ReviewQueue>('GET', path, undefined, undefined, used);
      if (status === 200 && body.counts.reviews === reviews) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return performance.now() - since;
}

const copyMs = await untilAllHave(0);
const [right, wrong, useful] = queue.rubric.items.map(({ id }) => id);

const delays: number[] = [];

/** Reserves and reviews until nothing is left. */
async function review({ key, used }: { key: string; used: Host }): Promise<number> {
  for (let count = 0; ; count += 1) {
    const start = performance.now();
    const reserved = await call<{ item: { id: string } }>('POST', `${path}/reservations`, {}, key, used);
    delays.push(performance.now() - start);
    if (reserved.status === 204) return count;
    const answers = [
      { rubricItemId: right, value: random.boolean(0.7) },
      { rubricItemId: wrong, value: random.pick(['Policy', 'Made up', 'Tone']) },
      { rubricItemId: useful, value: random.between(-10, 10) },
    ];
    const sent = await call('POST', `${path}/items/${reserved.body.item.id}/reviews`, { answers }, key, used);
    if (sent.status !== 201) throw new Error(`A review was rejected: ${JSON.stringify(sent.body)}`);
  }
}

const keys = Array.from({ length: reviewers }, (_, index) => {
  const used = hosts[index % hostCount]!;
  return { key: used.storage.apiKeys.issue({ name: `reviewer ${index}`, scopes: ['audit'] } as never).key, used };
});
const start = performance.now();
const done = await Promise.all(keys.map(review));
const reviewMs = performance.now() - start;
const lagMs = await untilAllHave(items * perItem);

const wrongItems = hosts.flatMap(({ storage: { reviewQueues } }) =>
  reviewQueues
    .items(reviewQueues.read(queue.id).sequence, { offset: 0, limit: items })
    .filter((item) => item.done !== perItem || item.needed !== perItem),
);
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
  ...(server === null
    ? []
    : [row('copied to all hosts', copyMs, 'ms'), row('lag of the other hosts after the last review', lagMs, 'ms')]),
  row('reviews', reviewed, 'reviews'),
  row('items with another number of reviews than they need', wrongItems.length, 'items', { max: 0 }),
  row('reviews a second, each with its reservation', reviewed / (reviewMs / 1000), '/s'),
  row('a reservation among all reviewers, p99', delays[Math.floor(delays.length * 0.99)]!, 'ms'),
  row('agreement of the queue', agreementMs, 'ms'),
  row('processor time of the longest turn meanwhile', turn, 'ms', { max: 50 }),
]);
for (const used of hosts) await used.close();
await server?.remove();
for (const directory of directories) rmSync(directory, { recursive: true, force: true });
