import { randomUUID } from 'node:crypto';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import {
  isSameAnswer,
  maximumReplayedRuns,
  type Replay,
  type ReplayInput,
  type ReplayPair,
  type ReplayResults,
  type ReplaySide,
} from '../../../shared/contract/audit-replay.ts';
import type { Completions } from '../../completions/completions.ts';
import type { Log } from '../../log.ts';
import { createJobRegistry } from '../../common/jobs.ts';
import type { Providers } from '../../providers/create-providers.ts';
import type { AuditStore } from '../query/audit-store.ts';
import { conversationsOf } from '../query/selection.ts';
import type { StoredReplay, ReplayedRun, ReplayStore } from '../../storage/replay-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import { readAnywhere, readTeamRuns, requireTeam, type TeamRecords } from '../../team/team-records.ts';
import { ReplayJob } from './replay-job.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';

function sideOf(run: RunDetail): ReplaySide {
  return {
    runId: run.runId,
    conversationId: run.conversationId,
    status: run.status,
    aiSystem: run.aiSystem,
    model: run.model,
    servedBy: run.servedBy ?? '',
    createdAt: run.createdAt,
    renderedPrompt: run.input.renderedPrompt ?? '',
    content: run.output.content,
    toolCalls: run.output.toolCalls ?? [],
    reasoning: run.output.reasoning,
    finishReason: run.output.finishReason,
    error: run.output.error,
    warnings: run.warnings,
    usage: run.usage,
    cost: run.cost,
    firstTokenMs: run.firstTokenMs,
    totalMs: run.totalMs,
  };
}

function average(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : known.reduce((sum, number) => sum + number, 0) / known.length;
}

function totalsOf(sides: readonly ReplaySide[]): ReplayResults['before'] {
  return {
    runs: sides.length,
    totalTokens: sides.reduce((sum, { usage }) => sum + (usage?.total_tokens ?? 0), 0),
    runsWithoutTokens: sides.filter(({ usage }) => usage === null).length,
    cost: sides.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    runsWithoutCost: sides.filter(({ cost }) => cost === null).length,
    averageTotalMs: average(sides.map(({ totalMs }) => totalMs)),
    averageFirstTokenMs: average(sides.map(({ firstTokenMs }) => firstTokenMs)),
  };
}

/** The pairs of original and replayed runs from `offset` on, and the totals of all pairs in which both runs completed. */
export function replayResults(
  runs: readonly ReplayedRun[],
  read: (runId: string) => RunDetail | null,
  { offset, limit }: { offset: number; limit: number },
): ReplayResults {
  const side = (runId: string | null): ReplaySide | null => {
    const run = runId === null ? null : read(runId);
    return run && sideOf(run);
  };
  const pairs = runs.map(({ position, state, failure, original, replayed }): ReplayPair => ({
    position,
    state,
    failure,
    original: side(original),
    replayed: side(replayed),
  }));
  const whole = pairs.flatMap(({ original, replayed }) =>
    original?.status === 'Completed' && replayed?.status === 'Completed' ? [{ original, replayed }] : [],
  );
  return {
    data: pairs.slice(offset, offset + limit),
    offset,
    total: pairs.length,
    before: totalsOf(whole.map(({ original }) => original)),
    after: totalsOf(whole.map(({ replayed }) => replayed)),
    sameAnswers: whole.filter(({ original, replayed }) => isSameAnswer(original, replayed)).length,
  };
}

export interface ReplaysOptions {
  readonly store: ReplayStore;
  readonly runs: RunStore;
  readonly audit: Pick<AuditStore, 'select'>;
  /** Absent where there is no team database. */
  readonly team?: TeamRecords;
  /** Ids of runs by their sequences. */
  readonly runIds: (sequences: readonly number[]) => string[];
  readonly completions: Pick<Completions, 'start'>;
  readonly providers: Pick<Providers, 'resolve'>;
  readonly windowCallerId: string;
  readonly log: Log;
}

/** Runs recorded prompts again with another target, and compares the results. */
export interface Replays {
  /** Throws `invalid_request` for an unknown model or run, and for too many runs. */
  create(input: ReplayInput, options: { signal: AbortSignal }): Promise<Replay>;
  /** Newest first. */
  list(): Replay[];
  subscribe(listener: (replays: Replay[]) => void): () => void;
  /** The following throw `not_found` for an unknown id. */
  read(id: string): Replay;
  results(id: string, page: { offset: number; limit: number }): Promise<ReplayResults>;
  stop(id: string): Promise<Replay>;
  resume(id: string): Replay;
  retry(id: string): Promise<Replay>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

const defaultParallel = 4;

export function createReplays(options: ReplaysOptions): Replays {
  const { store } = options;
  const jobs = createJobRegistry<ReplayJob>({ notFound: 'No replay has this ID.' });
  const otherOriginals = createOtherOriginals(options);

  function add(replay: StoredReplay): ReplayJob {
    const job = new ReplayJob({ ...options, replay, onChange: jobs.changed });
    jobs.add(job);
    return job;
  }

  for (const replay of store.list()) add(replay).recover();

  return {
    async create({ name, selection, target, parallel = defaultParallel }, { signal }) {
      requireTarget(target, options);
      const originals =
        'runIds' in selection ? await chosenRuns(selection.runIds, options) : await found(selection, options, signal);
      const createdAt = Date.now();
      const replay = {
        id: randomUUID(),
        name: name ?? `Replay of ${originals.length} ${originals.length === 1 ? 'run' : 'runs'}`,
        state: 'running' as const,
        target,
        parallel,
        createdAt,
      };
      const job = add(store.create(replay, originals));
      job.start();
      return job.state();
    },
    list: jobs.list,
    subscribe: jobs.subscribe,
    read: (id) => jobs.find(id).state(),
    async results(id, page) {
      const { runs } = jobs.find(id);
      const others = await otherOriginals.read(runs.map(({ original }) => original));
      return replayResults(runs, (runId) => options.runs.read(runId) ?? others.get(runId) ?? null, page);
    },
    async stop(id) {
      const job = jobs.find(id);
      await job.stop();
      return job.state();
    },
    resume(id) {
      const job = jobs.find(id);
      job.start();
      return job.state();
    },
    async retry(id) {
      const job = jobs.find(id);
      await job.retry();
      return job.state();
    },
    remove: (id) => jobs.remove(id, ({ replay }) => store.remove(replay.sequence)),
    close: jobs.close,
  };
}

/** Throws for a model that can't run, before the replay starts. */
function requireTarget({ aiSystem, model }: ReplayInput['target'], { providers }: ReplaysOptions): void {
  if (aiSystem === undefined || model === undefined) return;
  try {
    providers.resolve(aiSystem, model);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.details.map(({ field, ...detail }) => ({ field: `target.${field}`, ...detail }));
    throw new AppError(error.code, error.message, { details, cause: error });
  }
}

async function chosenRuns(ids: readonly string[], { runs, team }: ReplaysOptions): Promise<string[]> {
  const chosen = [...new Set(ids.map((id) => id.toLowerCase()))];
  for (const [index, id] of chosen.entries()) {
    if ((await readAnywhere(id, runs, team)) === null) throw invalidField(`selection.runIds[${index}]`, 'is not a run');
  }
  return chosen;
}

function requireFew(count: number): void {
  if (count > maximumReplayedRuns)
    throw invalidField('selection.filter', `matches more than ${maximumReplayedRuns} runs; narrow it`);
  if (count === 0) throw invalidField('selection.filter', 'matches no run');
}

async function found(
  { filter, source }: Extract<ReplayInput['selection'], { filter: unknown }>,
  options: ReplaysOptions,
  signal: AbortSignal,
): Promise<string[]> {
  if (source === 'team') {
    const { count, ids } = await requireTeam(options).selectRuns(filter, maximumReplayedRuns, { signal });
    requireFew(count);
    return ids.toReversed();
  }
  const { numbers } = await options.audit.select(filter, { signal });
  const sequences: number[] = [];
  for (const { runs } of conversationsOf(numbers)) {
    sequences.push(...runs);
    if (sequences.length > maximumReplayedRuns) break;
  }
  requireFew(sequences.length);
  return options.runIds(sequences.toSorted((one, other) => other - one));
}

/** Runs that are read at once, and kept: a replay's results are read again and again while it runs. */
const originalsAtOnce = 50;

/** The originals that aren't on this device. */
function createOtherOriginals({ runs, team }: Pick<ReplaysOptions, 'runs' | 'team'>) {
  const known = new Map<string, RunDetail>();
  return {
    async read(ids: readonly string[]): Promise<ReadonlyMap<string, RunDetail>> {
      if (!team?.isOn()) return known;
      const missing = ids.filter((id) => !known.has(id) && runs.read(id) === null);
      if (known.size + missing.length > maximumReplayedRuns) known.clear();
      for (let offset = 0; offset < missing.length; offset += originalsAtOnce) {
        for (const run of await readTeamRuns(missing.slice(offset, offset + originalsAtOnce), team))
          known.set(run.runId, run);
      }
      return known;
    },
  };
}
