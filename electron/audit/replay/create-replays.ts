import { randomUUID } from 'node:crypto';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import {
  maximumReplayedRuns,
  type Replay,
  type ReplayInput,
  type ReplayResults,
} from '../../../shared/contract/audit-replay.ts';
import type { Completions } from '../../completions/completions.ts';
import type { Log } from '../../log.ts';
import { createJobRegistry } from '../../common/jobs.ts';
import type { Providers } from '../../providers/create-providers.ts';
import type { AuditStore } from '../query/audit-store.ts';
import { conversationsOf } from '../query/selection.ts';
import type { KeptReplay, ReplayStore } from '../../storage/replay-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import { ReplayJob } from './replay-job.ts';
import { replayResults } from './replay-results.ts';

export interface ReplaysOptions {
  readonly store: ReplayStore;
  readonly runs: RunStore;
  readonly audit: Pick<AuditStore, 'select'>;
  /** Ids of runs by their sequences. */
  readonly runIds: (sequences: readonly number[]) => string[];
  readonly completions: Pick<Completions, 'start'>;
  readonly providers: Pick<Providers, 'resolve'>;
  readonly windowCallerId: string;
  readonly log: Log;
}

/** Runs that are run again on something else, beside what they answered before. */
export interface Replays {
  /** Throws `invalid_request` for an unknown model or run and for more runs than are allowed. */
  create(input: ReplayInput, options: { signal: AbortSignal }): Promise<Replay>;
  /** Newest first. */
  list(): Replay[];
  subscribe(listener: (replays: Replay[]) => void): () => void;
  /** The following throw `not_found` for an unknown id. */
  read(id: string): Replay;
  results(id: string, page: { offset: number; limit: number }): ReplayResults;
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

  function add(replay: KeptReplay): ReplayJob {
    const job = new ReplayJob({ ...options, replay, onChange: jobs.changed });
    jobs.add(job);
    return job;
  }

  for (const replay of store.list()) add(replay).recover();

  return {
    async create({ name, selection, target, parallel = defaultParallel }, { signal }) {
      requireTarget(target, options);
      const originals =
        'runIds' in selection ? chosenRuns(selection.runIds, options) : await found(selection.filter, options, signal);
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
    results: (id, page) => replayResults(jobs.find(id).runs, options.runs.read, page),
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

/** Refuses a model that no run could go to before any is begun. */
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

function chosenRuns(ids: readonly string[], { runs }: ReplaysOptions): string[] {
  const chosen = [...new Set(ids.map((id) => id.toLowerCase()))];
  for (const [index, id] of chosen.entries()) {
    if (runs.read(id) === null) throw invalidField(`selection.runIds[${index}]`, 'is not a run');
  }
  return chosen;
}

async function found(
  filter: Extract<ReplayInput['selection'], { filter: unknown }>['filter'],
  { audit, runIds }: ReplaysOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const { numbers } = await audit.select(filter, { signal });
  const sequences: number[] = [];
  for (const { runs } of conversationsOf(numbers)) {
    sequences.push(...runs);
    if (sequences.length > maximumReplayedRuns) {
      throw invalidField('selection.filter', `matches more than ${maximumReplayedRuns} runs; narrow it`);
    }
  }
  if (sequences.length === 0) throw invalidField('selection.filter', 'matches no run');
  return runIds(sequences.toSorted((one, other) => other - one));
}
