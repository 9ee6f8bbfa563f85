import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { AuditFilter } from '../shared/contract/audit.ts';
import { createMemoryKeyStore } from '../electron/key-store/key-store.ts';
import { databaseFile } from '../electron/storage/database.ts';
import { openStorage } from '../electron/storage/open-storage.ts';
import { parseTeamAddress } from '../shared/team-address.ts';
import { openTeamConnection } from '../electron/team/connection.ts';
import { Copier } from '../electron/team/copier.ts';
import { createTeam } from '../electron/team/create-team.ts';
import { createLocalRuns } from '../electron/team/local-runs.ts';
import { TeamEngine } from '../electron/team/team-engine.ts';
import { obstacleToPostgres, TestPostgres } from '../tests/support/postgres.ts';
import { fillDatabase, generateRuns } from './support/audit-generator.ts';
import { filterPairs, type Known, singleFilters } from './support/audit-queries.ts';
import { percentile, printReport, row, type Row } from './support/report.ts';
import { addHosts, textFilters, withUnspacedTexts } from './support/team-database.ts';
import { plansOf, recordStatements, type TeamPlan } from './support/team-plans.ts';
import { createRandom, type SeededRandom } from './support/text-writer.ts';

/**
 * Copies the runs of one host to a PostgreSQL on a socket, adds those of further hosts until there are `--runs N` (200,000 by default;
 * `--runs 5000000` needs an hour and 50 GB), and measures pages, facets and figures beside the plan of each statement. Exits with 1 if
 * a statement reads a large table from its start. With `--folder NAME` the filled database stays there, and a later run only measures.
 */
const { values } = parseArgs({ options: { runs: { type: 'string', default: '200000' }, folder: { type: 'string' } } });
const count = Number(values.runs);
/** The runs of one host. All have the same ones, under other IDs. */
const hostRuns = Math.min(count, 100_000);
const hosts = Math.max(1, Math.round(count / hostRuns));
const pageRows = 50;
/** Runs a second. */
const copyingAim = { min: 3000 };
/** Each kind of page is asked at least 5 times, and then until it has taken this long or was asked 40 times. */
const kindMs = 2500;
const random = createRandom(11);
const rows: Row[] = [];
const plans: (TeamPlan & { what: string })[] = [];
const startedAt = performance.now();
const log = (step: string) => console.log(`${Math.round((performance.now() - startedAt) / 1000)} s: ${step}`);

const obstacle = obstacleToPostgres();
if (obstacle !== null) throw new Error(obstacle);
const chosenFolder = values.folder;
if (chosenFolder !== undefined) mkdirSync(join(chosenFolder, 'host'), { recursive: true });
const folder =
  chosenFolder === undefined ? mkdtempSync(join(tmpdir(), 'touchstone-team-')) : join(chosenFolder, 'host');
const server = await TestPostgres.start({
  isDurable: true,
  ...(chosenFolder === undefined ? {} : { folder: join(chosenFolder, 'server') }),
  settings: ['shared_buffers=2GB', 'max_wal_size=4GB', 'checkpoint_timeout=20min', 'maintenance_work_mem=1GB'],
});
/** The figures of filling, which a run that only measures prints again. */
const filledFile = join(folder, 'filled.json');
const isFilled = existsSync(filledFile);
const address = isFilled ? server.address('team_1') : await server.createDatabase();

async function megabytes(): Promise<number> {
  const [found] = await server.query<{ bytes: string }>(
    address,
    'SELECT pg_database_size(current_database()) AS bytes',
  );
  return Number(found!.bytes) / 1e6;
}

/** Runs a second that the host of a data folder copies, with all indexes. */
async function measureCopying(
  what: string,
  { directory, runs, span }: { readonly directory: string; readonly runs: number; readonly span?: number },
  aim?: { readonly min: number },
): Promise<number> {
  fillDatabase(directory, withUnspacedTexts(generateRuns(runs, { ...(span && { span }) })));
  await openStorage({ directory }).close();
  log(`${runs} runs recorded`);
  const { database, close } = await openTeamConnection(parseTeamAddress(address), null);
  const local = new Database(databaseFile(directory), { readonly: true });
  const copier = new Copier(database, createLocalRuns(local));
  const start = performance.now();
  for (let progress = await copier.step(); progress.copied > 0 || progress.waiting > 0;) progress = await copier.step();
  const rate = (runs * 1000) / (performance.now() - start);
  rows.push(row(what, rate, '', aim));
  local.close();
  await close();
  log('copied');
  return rate;
}

/** The same by new hosts, with all other runs there. The indexes of old months aren't in memory, and whoever connects a host copies old runs once. */
async function measureLaterCopying(): Promise<void> {
  const runs = Math.min(hostRuns, 50_000);
  const directories = [1, 2].map(() => mkdtempSync(join(folder, 'new-host-')));
  const [newest, old] = directories.map((directory) => ({ directory, runs }));
  await measureCopying(`runs copied a second among ${count}`, { ...newest!, span: 20 * 86_400_000 }, copyingAim);
  await measureCopying(`runs of all months copied a second among ${count}`, old!);
  for (const directory of directories) rmSync(directory, { recursive: true });
}

/** Copies the runs of the first host and adds those of the others. */
async function fill(): Promise<void> {
  const emptyMegabytes = await megabytes();
  const first = { directory: folder, runs: hostRuns };
  const rate = await measureCopying('runs copied a second by one host', first, copyingAim);
  const hostMegabytes = (await megabytes()) - emptyMegabytes;
  rows.push(row(`size of a run among ${hostRuns}, with indexes`, (hostMegabytes * 1e3) / hostRuns, 'kB'));
  await server.query(address, 'ALTER SYSTEM SET fsync = off');
  await server.query(address, 'SELECT pg_reload_conf()');
  if (hosts > 1) await addHosts(server, address, { hosts, runs: hostRuns, log });
  await server.query(address, 'VACUUM (ANALYZE, PROCESS_TOAST false)');
  await server.query(address, 'ALTER SYSTEM RESET fsync');
  await server.query(address, 'SELECT pg_reload_conf()');
  await server.query(address, 'CHECKPOINT');
  const size = (await megabytes()) - emptyMegabytes;
  rows.push(row(`size of ${count} runs`, size / 1e3, 'GB'));
  rows.push(row('100,000,000 runs by the growth of the last ones', (size / count) * 1e5, 'GB'));
  rows.push(row('100,000,000 runs, days of copying by one host', 1e8 / rate / 86_400, 'days'));
  if (chosenFolder !== undefined) writeFileSync(filledFile, JSON.stringify(rows));
  log('filled');
}

/** How long after a burst of recorded runs the last one is in the team database. */
async function measureLag(): Promise<void> {
  const burst = 5000;
  const storage = openStorage({ directory: folder });
  const keyStore = createMemoryKeyStore();
  const team = createTeam({
    dataDirectory: folder,
    storage,
    keyStore,
    team: address,
    environment: {},
    log: () => undefined,
  });
  while (team.state().status !== 'up-to-date') await delay(50);
  const [before] = await server.query<{ copied: string }>(
    address,
    'SELECT max(copied_run) AS copied FROM touchstone.hosts',
  );
  const next = generateRuns(burst, { seed: 5, span: 60_000 });
  const start = performance.now();
  const caller = async () => {
    for (const { run, outcome } of next) {
      storage.runs.begin(run);
      await storage.runs.finish(run.runId, outcome);
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  const recorded = performance.now();
  const isCopied = async () =>
    (
      await server.query(
        address,
        `SELECT 1 FROM touchstone.hosts WHERE copied_run >= ${Number(before!.copied) + burst}`,
      )
    ).length > 0;
  while (!(await isCopied())) await delay(10);
  rows.push(row(`a burst of ${burst} runs, recorded in`, recorded - start, 'ms'));
  rows.push(row('lag of the last one after it', performance.now() - recorded, 'ms'));
  await team.close();
  await storage.close();
  log('burst copied');
}

/** The values that filters ask for. */
function readKnown(): Known {
  const local = new Database(databaseFile(folder), { readonly: true });
  const runs = local
    .prepare<[], Known['runs'][number]>(
      `SELECT runs.id, conversations.id AS conversationId, prompt_id AS promptId FROM runs
       JOIN conversations ON conversations.sequence = conversation WHERE runs.sequence % 97 = 0`,
    )
    .all();
  const bounds = local.prepare('SELECT min(created_at) AS firstRunAt, max(created_at) AS lastRunAt FROM runs').get();
  const workspaceIds = local
    .prepare<[], string>('SELECT DISTINCT workspace_id FROM conversations WHERE workspace_id IS NOT NULL LIMIT 10')
    .pluck()
    .all();
  local.close();
  const promptIds = [...new Set(runs.flatMap(({ promptId }) => promptId ?? []))];
  return { ...(bounds as Pick<Known, 'firstRunAt' | 'lastRunAt'>), promptIds, workspaceIds, runs };
}

type MakeFilter = (random: SeededRandom, known: Known) => AuditFilter;

async function timesOf(work: () => Promise<unknown>, { min = 5, max = 40 } = {}): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + kindMs;
  while (times.length < min || (performance.now() < end && times.length < max)) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

function addTimes(what: string, times: readonly number[]): void {
  rows.push(row(`${what}, p50`, percentile(times, 0.5), 'ms'), row(`${what}, p99`, percentile(times, 0.99), 'ms'));
}

/** Asks once for the plans, and then for the times. */
async function measureKind(client: pg.Client, what: string, work: () => Promise<unknown>): Promise<void> {
  for (const plan of await plansOf(client, await recordStatements(work))) plans.push({ what, ...plan });
  addTimes(what, await timesOf(work));
}

async function measurePages(client: pg.Client, engine: TeamEngine, known: Known): Promise<void> {
  let last = 0;
  const page = (make: MakeFilter) =>
    engine.search({ filter: make(random, known), sort: 'newest', last: null, limit: pageRows });
  for (const sort of ['newest', 'slowest', 'dearest', 'lowest-score'] as const) {
    await measureKind(client, `page of all, ${sort}`, async () => {
      // A list is kept, so each one ends with another run.
      last += 1;
      return engine.search({ filter: {}, sort, last: count - last, limit: pageRows });
    });
  }
  for (const [name, make] of Object.entries(singleFilters))
    await measureKind(client, `page by ${name}`, () => page(make));
  for (const [name, make] of Object.entries(textFilters))
    await measureKind(client, `page with ${name}`, () => page(make));
  log('single filters and texts measured');
  const all: number[] = [];
  const slowest: [string, number][] = [];
  for (const [name, make] of filterPairs) {
    const statements = await recordStatements(async () => {
      const times = await timesOf(() => page(make), { min: 2, max: 2 });
      all.push(...times);
      slowest.push([name, Math.max(...times)]);
    });
    for (const plan of await plansOf(client, statements)) plans.push({ what: name, ...plan });
  }
  addTimes(`page by any of ${filterPairs.length} pairs of filters`, all);
  slowest.sort(([, one], [, other]) => other - one);
  for (const [name, time] of slowest.slice(0, 5)) rows.push(row(`slowest page by ${name}`, time, 'ms'));
  log('pairs measured');
}

async function measureFigures(client: pg.Client, engine: TeamEngine, known: Known): Promise<void> {
  const month = (): AuditFilter => singleFilters['month']!(random, known);
  const filters: Readonly<Record<string, () => AuditFilter>> = {
    'all runs': () => ({}),
    'a month': month,
    'a caller': () => singleFilters['callerId']!(random, known),
    'a model': () => ({ models: ['gpt-4o'] }),
    'a model in a month': () => ({ ...month(), models: ['gpt-4o'] }),
    'a medium word': () => textFilters['a medium word']!(random, known),
  };
  await measureKind(client, 'values for the filter menu', () => engine.facets(''));
  for (const [name, filter] of Object.entries(filters)) {
    const summarize = () => engine.summarize({ filter: filter() });
    const facets = () => engine.countFacets({ filter: filter() });
    for (const [what, work] of [
      ['figures', summarize],
      ['facets', facets],
    ] as const) {
      for (const plan of await plansOf(client, await recordStatements(work)))
        plans.push({ what: `${what} of ${name}`, ...plan });
      addTimes(`${what} of ${name}`, await timesOf(work, { min: 1, max: 5 }));
    }
  }
  log('figures measured');
}

function printPlans(): number {
  const seen = new Set<string>();
  for (const { what, text, steps, isScan } of plans) {
    const line = `${isScan ? 'SCAN  ' : 'ok    '}${text.replaceAll(/\s+/g, ' ').slice(0, 150)}\n        ${steps.join(' | ')}`;
    if (!seen.has(line)) console.log(`${what}:\n  ${line}`);
    seen.add(line);
  }
  return plans.filter(({ isScan }) => isScan).length;
}

let client: pg.Client | null = null;
try {
  if (isFilled) rows.push(...(JSON.parse(readFileSync(filledFile, 'utf8')) as Row[]));
  else await fill();
  const known = readKnown();
  const { database, close } = await openTeamConnection(parseTeamAddress(address), null);
  const [, name] = /\/([^/?]+)\?/.exec(address)!;
  client = new pg.Client({ host: server.folder, user: 'owner', database: name! });
  await client.connect();
  const engine = new TeamEngine(database);
  await measurePages(client, engine, known);
  await measureFigures(client, engine, known);
  await close();
  await measureLag();
  await measureLaterCopying();
  rows.push(row('statements that read a large table from its start', printPlans(), '', { max: 0 }));
  printReport('team', rows);
  if (plans.some(({ isScan }) => isScan)) process.exitCode = 1;
} finally {
  await client?.end();
  await server.remove();
  if (chosenFolder === undefined) rmSync(folder, { recursive: true, force: true });
}
