import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { serveCalls } from '../common/worker-server.ts';
import { countSample, drawSample, type Population } from '../reviews/choose-items.ts';
import { databaseFile } from '../storage/database.ts';
import type { TeamAddress } from '../../shared/team-address.ts';
import { describeTeamFailure, openTeamConnection, requireKnownTables, type TeamConnection } from './connection.ts';
import { KeyExchange } from './key-exchange.ts';
import { Copier, type CopyProgress } from './copier.ts';
import { createLocalRuns } from './local-runs.ts';
import { TeamEngine } from './team-engine.ts';
import { createTeamPopulation } from './team-population.ts';
import { type TeamReviewMethods, TeamReviews } from './team-reviews.ts';
import type { CopiedMark, CopyEvent, TeamEvent, TeamMethods } from './team-client.ts';
import { readMembers, removeHost } from './team-members.ts';
import { TeamRuns } from './team-runs.ts';
import { testTeamConnection } from './test-connection.ts';

/**
 * Entry point of the thread that copies runs to the team database and searches it; started by `team-client.ts`. It reads the recorded runs
 * through a separate connection, so neither copying nor the database's delays reach the host's event loop.
 */
const { directory } = workerData as { directory: string };

/** How often the recorded runs are checked while nothing is left to copy. This reads two numbers from the local database. */
const pollMs = 500;
const maxRetryMs = 30_000;
/** How often an idle connection is tried, so that people see that the database is away before they need it. */
const idleCheckMs = 10_000;
/** How often what waits is counted while the database is away. */
const countMs = 2000;
/** A network that drops everything mustn't keep a host from closing. */
const maxCloseMs = 5000;

interface Target {
  readonly address: TeamAddress;
  readonly password: string | null;
}

let target: Target | null = null;
let connection: TeamConnection | null = null;
let engine: TeamEngine | null = null;
let teamReviews: TeamReviews | null = null;
/** Grows with each change of the target: work for an earlier one ends. */
let generation = 0;
let exchange: KeyExchange | null = null;
let wake: () => void = () => {};
/** Those who wait until nothing is left to copy. */
const waiters: (() => void)[] = [];
let total = 0;
let mark: CopiedMark = { run: 0, revision: 0 };

const local = new Database(databaseFile(directory), { readonly: true });
const localRuns = createLocalRuns(local);

function endStep(): void {
  for (const resolve of waiters.splice(0)) resolve();
}

/** Resolves with whether it was woken. */
function sleep(milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
}

function report(event: Pick<CopyEvent, 'status'> & Partial<CopyEvent>): void {
  sendEvent({
    // A restored backup is behind the mark.
    waitingRuns: Math.max(0, localRuns.lastRun() - mark.run),
    waitingChanges: Math.max(0, localRuns.lastRevision() - mark.revision),
    copied: total,
    rejected: 0,
    message: null,
    retryMs: null,
    mark,
    ...event,
  });
}

function reportProgress(progress: CopyProgress): void {
  total += progress.copied;
  mark = progress.mark;
  const { waiting, waitingRuns, copied, rejected } = progress;
  const status = waiting > 0 || copied > 0 ? 'copying' : 'up-to-date';
  report({ status, waitingRuns, waitingChanges: waiting - waitingRuns, rejected });
}

/** Waits until the next try, and says meanwhile what waits. */
async function awaitRetry(event: Pick<CopyEvent, 'status' | 'message'>, retryMs: number): Promise<void> {
  const end = performance.now() + retryMs;
  for (let left = retryMs; left > 0; left = end - performance.now()) {
    report({ ...event, retryMs: left });
    if (await sleep(Math.min(countMs, left))) return;
  }
}

/** Connects once for all callers. */
let connecting: Promise<TeamConnection> | null = null;

async function closeConnection(): Promise<void> {
  const open = connection;
  connection = connecting = engine = teamReviews = null;
  await open?.close().catch(() => undefined);
}

function connect({ address, password }: Target): Promise<TeamConnection> {
  if (connection !== null) return Promise.resolve(connection);
  if (connecting !== null) return connecting;
  const opening = openTeamConnection(address, password).then(async (opened) => {
    if (connecting !== opening) {
      // Closed meanwhile. Without this, the connection would keep the thread alive.
      await opened.close();
      throw new AppError('conflict', 'The team database was disconnected.');
    }
    connection = opened;
    engine = new TeamEngine(opened.database);
    teamReviews = new TeamReviews(opened.database);
    return opened;
  });
  connecting = opening;
  const forget = () => connecting === opening && (connecting = null);
  opening.then(forget, forget);
  return opening;
}

/** Whether something may have to be copied, as far as the local database shows. */
function localState(): string {
  return `${localRuns.lastRun()} ${localRuns.lastRevision()}`;
}

/** Whether a right was granted meanwhile, or the standby became the primary. Searches go on with the open connection. */
async function canWriteNow({ address, password }: Target, reason: string): Promise<boolean> {
  const opened = await openTeamConnection(address, password);
  await opened.close();
  return opened.readOnlyReason !== reason;
}

/** Ends all work for the present target. */
async function disconnect(): Promise<void> {
  generation += 1;
  target = null;
  wake();
  endStep();
  const exchanged = exchange;
  exchange = null;
  await Promise.all([closeConnection(), exchanged?.close()]);
}

async function copyOn(copied: Target, own: number): Promise<void> {
  let retryMs = 500;
  let copier: Copier | null = null;
  let isChecked = false;
  let idleState = '';
  let checkedAt = 0;
  while (own === generation) {
    try {
      const { copying, readOnlyReason } = await connect(copied);
      if (own !== generation) return;
      if (readOnlyReason !== null) {
        endStep();
        await awaitRetry({ status: 'read-only', message: readOnlyReason }, maxRetryMs);
        endStep();
        if (own !== generation) return;
        const isChanged = await canWriteNow(copied, readOnlyReason);
        if (own === generation && isChanged) await closeConnection();
        continue;
      }
      copier ??= new Copier(copying, localRuns, isChecked);
      const state = localState();
      if (state === idleState && performance.now() - checkedAt < idleCheckMs) {
        endStep();
        await sleep(pollMs);
        continue;
      }
      const progress = await copier.step();
      checkedAt = performance.now();
      if (own !== generation) return;
      reportProgress(progress);
      retryMs = 500;
      if (progress.copied > 0 || progress.waiting > 0) continue;
      // Active runs end without a change of these numbers.
      idleState = progress.active > 0 ? '' : state;
      endStep();
      await sleep(pollMs);
    } catch (failure) {
      if (own === generation) await closeConnection();
      if (own !== generation) return;
      isChecked ||= copier?.isChecked ?? false;
      copier = null;
      idleState = '';
      endStep();
      await awaitRetry({ status: 'offline', message: describeTeamFailure(failure, copied.address).message }, retryMs);
      retryMs = Math.min(maxRetryMs, retryMs * 2);
    }
  }
}

/** Runs a query with the connection, and describes its failure. */
async function query<Result>(run: (used: TeamEngine, runs: TeamRuns) => Promise<Result>): Promise<Result> {
  const used = target;
  if (used === null) throw new AppError('conflict', 'No team database is connected. Connect one in Settings.');
  try {
    const { database } = await connect(used);
    return await run(engine!, new TeamRuns(database));
  } catch (failure) {
    throw describeTeamFailure(failure, used.address);
  }
}

/** As `query`, for what writes. */
const write = <Result>(run: (used: TeamEngine) => Promise<Result>): Promise<Result> =>
  query(async (used) => {
    await requireKnownTables(connection!.database);
    return run(used);
  });

const readingReviews: ReadonlySet<keyof TeamReviewMethods> = new Set([
  'hasRight',
  'itemCount',
  'queues',
  'read',
  'items',
  'changes',
  'team',
  'reviewers',
]);

const queryPopulation = <Result>(run: (population: Population) => Promise<Result>): Promise<Result> =>
  query(() => run(createTeamPopulation(connection!.database)));

const methods: TeamMethods = {
  async start({ keys, mark: copiedMark, ...input }) {
    const disconnected = disconnect();
    const own = generation;
    [target, total, mark] = [input, 0, copiedMark];
    await disconnected;
    // A later start or a stop came meanwhile.
    if (own !== generation) return;
    void copyOn(input, own);
    exchange =
      keys &&
      new KeyExchange(
        { ...input, ...keys },
        { local, hostId: localRuns.hostId(), connect: () => connect(input), onEvent: (event) => sendEvent(event) },
      );
  },
  stop: disconnect,
  async reviews({ name, input }) {
    let rejection: unknown = null;
    const step = async (): Promise<unknown> => teamReviews![name](input as never);
    const send = readingReviews.has(name) ? query : write;
    try {
      return await send(() => step().catch((failure: unknown) => Promise.reject((rejection = failure))));
    } catch (failure) {
      // What the queue itself says is no failure of its database, which has another description by now.
      if (failure === rejection || !(failure instanceof AppError)) throw failure;
      throw new AppError('team_unavailable', `This review queue is shared in the team database. ${failure.message}`);
    }
  },
  acquireCredits(request) {
    if (exchange === null) throw new AppError('team_unavailable', 'No team database is connected.');
    return exchange.acquire(request);
  },
  lowerCredits: ({ keyId, ceiling }) => exchange?.lower(keyId, ceiling),
  test: ({ address, password }) => testTeamConnection(address, password),
  members: () => query(() => readMembers(connection!.database, localRuns.hostId())),
  removeHost: (id) => write(() => removeHost(connection!.database, id, localRuns.hostId())),
  async flush() {
    if (target === null) return;
    await new Promise<void>((resolve) => {
      waiters.push(resolve);
      wake();
    });
  },
  tokenSecret: () => query((used) => used.tokenSecret()),
  report: (input) => query((used) => used.report(input)),
  longRuns: (input) => query((used) => used.longRuns(input)),
  list: (input) => query((used) => used.list(input)),
  search: (input) => query((used) => used.search(input)),
  summarize: (input) => query((used) => used.summarize(input)),
  countFacets: (input) => query((used) => used.countFacets(input)),
  facets: (windowCallerId) => query((used) => used.facets(windowCallerId)),
  readConversation: (input) => query((used) => used.readConversation(input)),
  findConversation: (id) => query((used) => used.findConversation(id)),
  selectRuns: (input) => query((_, runs) => runs.select(input)),
  readRuns: (ids) => query((_, runs) => runs.read(ids)),
  findMissing: (ids) => query((_, runs) => runs.findMissing(ids)),
  countSample: (fields, { signal }) => queryPopulation((population) => countSample(fields, population, signal)),
  drawSample: ({ fields, seed }, { signal }) =>
    queryPopulation((population) => drawSample(fields, seed, population, signal)),
  writeSnapshot: (input, { signal }) => query((_, runs) => runs.writeSnapshot(input, signal)),
  listFeedback: (input) => query((used) => used.listFeedback(input)),
  giveFeedback: ({ run, input, reviewer }) => write((used) => used.giveFeedback(run, input, reviewer)),
};

const sendEvent = serveCalls<TeamEvent>(methods, {
  onDispose() {
    void disconnect().finally(() => local.close());
    setTimeout(() => process.exit(), maxCloseMs).unref();
  },
});
