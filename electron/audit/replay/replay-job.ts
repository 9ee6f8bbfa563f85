import { AppError } from '../../../shared/app-error.ts';
import type { Replay } from '../../../shared/contract/audit-replay.ts';
import { type Job, JobRun } from '../../common/jobs.ts';
import type { Completions } from '../../completions/completions.ts';
import type { Log } from '../../log.ts';
import type { StoredReplay, ReplayedRun, ReplayState, ReplayStore } from '../../storage/replay-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import type { Providers } from '../../providers/create-providers.ts';
import { readAnywhere, readTeamRunToContinue, type TeamRecords } from '../../team/team-records.ts';
import { replayRequest } from './replay-request.ts';

export interface ReplayJobOptions {
  readonly replay: StoredReplay;
  readonly store: ReplayStore;
  readonly runs: Pick<RunStore, 'read' | 'readToContinue'>;
  readonly team?: TeamRecords;
  readonly completions: Pick<Completions, 'start'>;
  readonly providers: Pick<Providers, 'resolve'>;
  readonly windowCallerId: string;
  readonly onChange: () => void;
  readonly log: Log;
}

/** One replay: its stored runs, and the active ones. */
export class ReplayJob implements Job<Replay> {
  readonly #options: ReplayJobOptions;
  readonly #runs: ReplayedRun[];
  #state: ReplayState;
  #completedAt: number | null;
  readonly #run = new JobRun();

  constructor(options: ReplayJobOptions) {
    this.#options = options;
    this.#runs = options.store.runs(options.replay.sequence);
    this.#state = options.replay.state;
    this.#completedAt = options.replay.completedAt;
  }

  get id(): string {
    return this.#options.replay.id;
  }

  get replay(): StoredReplay {
    return this.#options.replay;
  }

  get runs(): readonly ReplayedRun[] {
    return this.#runs;
  }

  /** Recovers the state that the previous host left. Runs cost money, so only a person resumes them. */
  recover(): void {
    for (const run of this.#runs) {
      if (run.state !== 'running') continue;
      // The outcome may be recorded, although the host ended before it was noted here.
      const isCompleted = run.replayed !== null && this.#options.runs.read(run.replayed)?.status === 'Completed';
      this.#note(run, { state: isCompleted ? 'completed' : 'waiting' });
    }
    if (this.#state === 'running') this.#setState(this.#isDone() ? 'completed' : 'stopped');
  }

  /** Starts, or resumes with the waiting runs. */
  start(): void {
    if (this.#run.isActive || this.#isDone()) return;
    this.#setState('running');
    void this.#run.start(
      (signal) => this.#replayAll(signal),
      () => this.#setState(this.#isDone() ? 'completed' : 'stopped'),
    );
  }

  /** Stops the active runs and queues them again. */
  stop(): Promise<void> {
    return this.#run.stop();
  }

  /** Queues the failed runs again and resumes. */
  async retry(): Promise<void> {
    for (const run of this.#runs) if (run.state === 'failed') this.#note(run, { state: 'waiting', failure: null });
    // A worker without more runs may be about to end.
    if (!this.#run.isStopping) await this.#run.ended;
    this.start();
  }

  state(): Replay {
    const { id, name, createdAt, target, parallel } = this.#options.replay;
    const count = (state: ReplayedRun['state']) => this.#runs.filter((run) => run.state === state).length;
    return {
      id,
      name,
      state: this.#state,
      createdAt: new Date(createdAt).toISOString(),
      completedAt: this.#completedAt === null ? null : new Date(this.#completedAt).toISOString(),
      target,
      parallel,
      total: this.#runs.length,
      waiting: count('waiting'),
      running: count('running'),
      completed: count('completed'),
      failed: count('failed'),
    };
  }

  #isDone(): boolean {
    return this.#runs.every(({ state }) => state === 'completed' || state === 'failed');
  }

  async #replayAll(signal: AbortSignal): Promise<void> {
    // Yields, so that the response to the start is sent first.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await Promise.all(Array.from({ length: this.#options.replay.parallel }, () => this.#takeRuns(signal)));
    } catch (error) {
      this.#options.log(`replay ${this.id} ended early`, error);
    }
  }

  async #takeRuns(signal: AbortSignal): Promise<void> {
    for (;;) {
      const next = this.#runs.find(({ state }) => state === 'waiting');
      if (next === undefined || signal.aborted) return;
      await this.#replay(next, signal);
    }
  }

  async #replay(run: ReplayedRun, signal: AbortSignal): Promise<void> {
    const { position } = run;
    this.#note(run, { state: 'running', failure: null });
    try {
      const { run: replayed } = await this.#begin(run, signal);
      this.#note(this.#runs[position]!, { replayed: replayed.plan.runId });
      // Streamed, so that the time to the first token can be compared with the original's.
      for await (const _ of replayed.stream());
      this.#note(this.#runs[position]!, { state: 'completed' });
    } catch (error) {
      if (signal.aborted) this.#note(this.#runs[position]!, { state: 'waiting' });
      else this.#note(this.#runs[position]!, { state: 'failed', failure: this.#describe(error) });
    }
  }

  async #begin(run: ReplayedRun, signal: AbortSignal) {
    const { runs, team, completions, providers, windowCallerId, replay } = this.#options;
    const original = await readAnywhere(run.original, runs, team);
    if (original === null) throw new AppError('not_found', 'The original run was deleted.');
    const origin = { callerId: windowCallerId, key: null, appHeaders: original.appHeaders };
    const { request, ...continued } = await replayRequest(original, replay.target, {
      readToContinue: async (id) => runs.readToContinue(id) ?? (team?.isOn() ? readTeamRunToContinue(id, team) : null),
      providers,
    });
    return completions.start(request, origin, { signal, ...continued });
  }

  #describe(error: unknown): string {
    if (error instanceof AppError) return error.message;
    this.#options.log('a replayed run failed', error);
    return "Couldn't rerun it. See the log for details.";
  }

  #note(run: ReplayedRun, change: Partial<ReplayedRun>): void {
    const next = { ...run, ...change };
    this.#runs[run.position] = next;
    this.#options.store.setRun(this.#options.replay.sequence, next);
    this.#options.onChange();
  }

  #setState(state: ReplayState): void {
    this.#state = state;
    this.#completedAt = state === 'completed' ? Date.now() : null;
    this.#options.store.setState(this.#options.replay.sequence, state, this.#completedAt);
    this.#options.onChange();
  }
}
