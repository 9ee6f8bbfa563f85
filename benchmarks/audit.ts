import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import type { AuditFilter, AuditSort } from '../shared/contract/audit.ts';
import { AuditEngine } from '../electron/audit/index/audit-engine.ts';
import { readAhead } from '../electron/audit/index/read-ahead.ts';
import { databaseFile } from '../electron/storage/database.ts';
import { openStorage } from '../electron/storage/open-storage.ts';
import type { Storage } from '../electron/storage/storage.ts';
import { generateRuns } from './support/audit-generator.ts';
import { prepareAuditFolder } from './support/audit-folder.ts';
import { filterPairs, singleFilters, type Known } from './support/audit-queries.ts';
import { plansOf, type Plan } from './support/query-plans.ts';
import { percentile, printReport, rounded, row, type Row } from './support/report.ts';
import { createRandom, wordOfRank } from './support/text-writer.ts';

/**
 * Fills a data folder with runs (a million unless `--runs N`; `--directory DIR` keeps it for the next time), runs every kind of
 * audit query, and records runs meanwhile. Exits with 1 if a statement scans a table. The times are those of cached files, as a few
 * seconds after the first query of the audit, which reads ahead. This benchmark does so too before it measures. Warm-up queries of
 * each kind aren't counted.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, directory: { type: 'string' } },
});
const count = Number(values.runs);
const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'touchstone-audit-'));
const signal = new AbortController().signal;
const random = createRandom(7);
const rows: Row[] = [];
const raw: Record<string, number[]> = {};
const warmUps = 400;
/** Samples of each kind: enough that the 99th percentile excludes the slowest two. */
const samples = 300;

/** Opens the index and completes it; returns the plans of every prepared statement. */
function indexRuns(): Plan[] {
  // Before the statements of the plans, because this closes its own database.
  const known = readKnown();
  const database = new Database(databaseFile(directory), { readonly: true });
  const plans = plansOf(() => {
    const startedAt = performance.now();
    const engine = new AuditEngine(database, directory);
    while (engine.follow());
    rows.push(row(`open and complete the index of ${count} runs`, performance.now() - startedAt, 'ms'));
    // Statements are prepared at their first use.
    for (const [, make] of filterPairs) engine.report(pageOf(make(random, known)));
    return engine;
  });
  database.close();
  return plans;
}

/** The work of the audit thread after its first query. */
function warmFiles(): void {
  const startedAt = performance.now();
  let slowest = 0;
  let step = startedAt;
  for (const _ of readAhead(directory)) {
    slowest = Math.max(slowest, performance.now() - step);
    step = performance.now();
  }
  rows.push(row('reading the index and the runs ahead', performance.now() - startedAt, 'ms'));
  rows.push(row('reading ahead, slowest step', slowest, 'ms'));
}

function readKnown(): Known {
  const database = new Database(databaseFile(directory), { readonly: true });
  const sequences = Array.from({ length: 500 }, () => 1 + Math.floor(random.next() * count));
  const find = database.prepare<[number], Known['runs'][number]>(
    `SELECT runs.id, conversations.id AS conversationId, prompt_id AS promptId FROM runs
     JOIN conversations ON conversations.sequence = conversation WHERE runs.sequence = ?`,
  );
  const runs = sequences.map((sequence) => find.get(sequence)!);
  const bounds = database.prepare('SELECT min(created_at) AS first, max(created_at) AS last FROM runs').get() as {
    first: number;
    last: number;
  };
  const workspaceIds = database
    .prepare<[], string>('SELECT DISTINCT workspace_id FROM conversations WHERE workspace_id IS NOT NULL LIMIT 10')
    .pluck()
    .all();
  database.close();
  const promptIds = [...new Set(runs.flatMap(({ promptId }) => promptId ?? []))];
  return { firstRunAt: bounds.first, lastRunAt: bounds.last, promptIds, workspaceIds, runs };
}

async function timesOf(times: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startedAt = performance.now();
    await work(index);
    taken.push(performance.now() - startedAt);
  }
  return taken;
}

function addTimes(what: string, times: readonly number[]): void {
  rows.push(row(`${what}, p50`, percentile(times, 0.5), 'ms'));
  rows.push(row(`${what}, p99`, percentile(times, 0.99), 'ms'));
}

const pageOf = (filter: AuditFilter) => ({ filter, pageSize: 20, position: null, hasFeedback: true });

/** Twenty conversations before a random one with their runs and texts, straight from SQLite: what every page costs at least. */
function openKeysetPages(): { readPage(): void; close(): void } {
  const database = new Database(databaseFile(directory), { readonly: true });
  database.pragma('mmap_size = 2147418112');
  const conversations = database.prepare<[number], { sequence: number }>(
    'SELECT * FROM conversations WHERE sequence < ? ORDER BY sequence DESC LIMIT 20',
  );
  const last = database.prepare<[], number>('SELECT max(sequence) FROM conversations').pluck().get()!;
  const runs = database.prepare<[number]>(
    'SELECT * FROM runs JOIN run_texts ON run = sequence WHERE conversation = ? ORDER BY sequence',
  );
  return {
    readPage() {
      for (const { sequence } of conversations.all(20 + Math.floor(random.next() * last))) runs.all(sequence);
    },
    close: () => database.close(),
  };
}

/** Adds the times of pages that are read in turn with pages by primary key, 20 each: how long a page takes depends on the machine. */
async function addBesideKeyset(what: string, rounds: number, makeAsk: (round: number) => () => Promise<unknown>) {
  const keysetPages = openKeysetPages();
  const readPage = async () => keysetPages.readPage();
  await timesOf(warmUps, readPage);
  const [requested, keyset]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    requested.push(...(await timesOf(20, makeAsk(round))));
    keyset.push(...(await timesOf(20, readPage)));
  }
  keysetPages.close();
  addTimes(what, requested);
  const ratio = percentile(requested, 0.99) / percentile(keyset, 0.99);
  rows.push(row(`${what}, p99, to that of conversations by primary key`, ratio, 'x', { max: 20 }));
  Object.assign(raw, {
    [`${what}, ms`]: rounded(requested),
    [`${what}: by primary key, ms`]: rounded(keyset),
  });
  return requested;
}

async function measureQueries({ audit }: Storage): Promise<void> {
  const known = readKnown();
  const page = (filter: AuditFilter) =>
    audit.report({ filter, pageSize: 20, continuationToken: null, hasFeedback: true }, { signal });
  // The first queries include compilation.
  await timesOf(warmUps, () => page(random.pick(filterPairs)[1](random, known)));
  for (const [name, make] of Object.entries(singleFilters)) {
    addTimes(`page of 20 by ${name}`, await timesOf(samples, () => page(make(random, known))));
  }
  const pairs = await addBesideKeyset(
    `page of 20 by any of ${filterPairs.length} pairs of filters`,
    filterPairs.length,
    (round) => () => page(filterPairs[round]![1](random, known)),
  );
  const slowest = filterPairs
    .map(([name], index) => [name, Math.max(...pairs.slice(20 * index, 20 * (index + 1)))] as const)
    .toSorted(([, one], [, other]) => other - one);
  for (const [name, time] of slowest.slice(0, 5)) rows.push(row(`slowest of 20 by ${name}`, time, 'ms'));
  const wordRanks = { rare: [30_000, 20_000], medium: [400, 600], 'in every third run': [40, 12] } as const;
  for (const [name, [first, many]] of Object.entries(wordRanks)) {
    const ask = () => page({ text: wordOfRank(first + Math.floor(random.next() * many)) });
    await timesOf(20, ask);
    await addBesideKeyset(`page of 20 with a word, ${name}`, samples / 20, () => ask);
  }
}

/** The same pages in this thread, as CPU time, which other work on the machine doesn't affect. */
function measureWork(): void {
  const database = new Database(databaseFile(directory), { readonly: true });
  database.pragma('mmap_size = 2147418112');
  const engine = new AuditEngine(database, directory);
  const known = readKnown();
  const ask = (make: (typeof filterPairs)[number][1]) => engine.report(pageOf(make(random, known)));
  for (let index = 0; index < warmUps; index += 1) ask(random.pick(filterPairs)[1]);
  // The CPU clock of a thread has steps of several milliseconds, so only a mean is meaningful.
  const before = process.threadCpuUsage();
  for (let round = 0; round < 12; round += 1) for (const [, make] of filterPairs) ask(make);
  const { user, system } = process.threadCpuUsage(before);
  engine.close();
  database.close();
  rows.push(row('CPU of a page by any of the pairs, mean', (user + system) / 1000 / (12 * filterPairs.length), 'ms'));
}

async function measureWindow({ audit }: Storage): Promise<void> {
  const search = (query: { sort?: AuditSort; filter?: AuditFilter; offset?: number; snapshot?: string }) =>
    audit.search({ filter: {}, sort: 'newest', limit: 50, ...query }, { signal });
  const first = await search({});
  const { snapshot, total } = first;
  const steps = Math.min(2000, Math.ceil(total / 50));
  const scrolled = await timesOf(steps, (index) => search({ snapshot, offset: Math.floor((total * index) / steps) }));
  rows.push(row('scrolling the whole list, p50 of 50 rows', percentile(scrolled, 0.5), 'ms'));
  rows.push(row('scrolling the whole list, slowest of 50 rows', Math.max(...scrolled), 'ms', { max: 20 }));
  for (const sort of ['slowest', 'dearest', 'lowest-score'] as const) {
    const times = await timesOf(20, () => search({ sort, offset: Math.floor(random.next() * total) }));
    rows.push(row(`50 rows sorted by ${sort}, p50`, percentile(times, 0.5), 'ms'));
    rows.push(row(`50 rows sorted by ${sort}, the first time`, times[0]!, 'ms'));
  }
  const summaries = await timesOf(3, () => audit.summarize({ filter: {} }, { signal }));
  rows.push(row('figures over all runs', percentile(summaries, 0.5), 'ms'));
  rows.push(row('facets', (await timesOf(1, () => audit.facets({ signal })))[0]!, 'ms'));
}

/** All pages by tokens: every conversation once. */
async function measureWalk({ audit }: Storage): Promise<void> {
  const seen = new Set<string>();
  let token: string | null = null;
  const ask = async () => {
    const answer = await audit.report(
      { filter: {}, pageSize: 20, continuationToken: token, hasFeedback: false },
      { signal },
    );
    for (const { id } of answer.conversations) seen.add(id);
    token = answer.continuationToken;
  };
  await addBesideKeyset('page of 20 of a walk through all', samples / 20, () => ask);
  rows.push(row('conversations seen once in 300 pages', seen.size, '', { min: Math.min(6000, count / 10) }));
}

/** Sixteen callers at a time, each waiting until its run is on the disk. */
async function measureRecording(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-recording-'));
  const storage = openStorage({ directory: folder, durability: 'power-loss' });
  const runs = [...generateRuns(12_000, { seed: 3 })];
  const next = runs.values();
  const startedAt = performance.now();
  const caller = async () => {
    for (const { run, outcome } of next) {
      storage.runs.begin(run);
      await storage.runs.finish(run.runId, outcome);
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  const recorded = performance.now() - startedAt;
  const found = await storage.audit.search({ filter: { text: wordOfRank(0) }, sort: 'newest', limit: 1 }, { signal });
  const indexed = performance.now() - startedAt;
  await storage.close();
  rmSync(folder, { recursive: true });
  rows.push(
    row('runs recorded per second, safe from loss of power', (runs.length * 1000) / recorded, '', { min: 3000 }),
  );
  rows.push(row('the same until their words are found', (runs.length * 1000) / indexed, '', { min: 3000 }));
  rows.push(row('conversations found with the most frequent word', found.total, ''));
}

prepareAuditFolder(directory, count);
const plans = indexRuns();
warmFiles();
measureWork();
const storage = openStorage({ directory });
await measureQueries(storage);
await measureWindow(storage);
await measureWalk(storage);
await storage.close();
await measureRecording();
for (const { sql, steps, isScan } of plans) {
  console.log(
    `${isScan ? 'SCAN  ' : 'ok    '}${sql.replaceAll(/\s+/g, ' ').slice(0, 160)}\n        ${steps.join(' | ')}`,
  );
}
rows.push(row('statements that scan', plans.filter(({ isScan }) => isScan).length, '', { max: 0 }));
if (values.directory === undefined) rmSync(directory, { recursive: true });
console.log(
  `Files read ahead; ${warmUps} questions for warming up before the filters and 20 before each kind of word, not counted; ` +
    `${samples} of each single filter and kind of word, 20 of each pair.`,
);
printReport('audit', rows, raw);
if (plans.some(({ isScan }) => isScan)) process.exitCode = 1;
