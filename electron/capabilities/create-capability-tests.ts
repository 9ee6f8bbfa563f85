import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import { capabilities, type CapabilityResult, type CapabilityTest } from '../../shared/contract/capability-tests.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { CapabilityTestStore } from '../storage/storage.ts';
import { createJobRegistry, type Job, JobRun } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ResolvedModel } from '../providers/model-resolver.ts';
import { type CapabilityCheck, capabilityChecks } from './checks.ts';
import { planCheck, type PlannedCheck, runCheck, sortResults } from './run-check.ts';

interface CapabilityTarget {
  readonly aiSystem: AiSystem;
  readonly model: string;
}

export interface CapabilityTests {
  /** What a test would send. Throws as `resolve` for an unknown model or a missing key. */
  estimate(target: CapabilityTarget): { requests: number; maxCost: number | null };
  /** Throws `conflict` while a test of the same provider is running. */
  start(target: CapabilityTarget): CapabilityTest;
  /** The last test of each provider, newest first. */
  list(): CapabilityTest[];
  /** Throws `not_found`. */
  find(id: string): CapabilityTest;
  /** Resolves when it has stopped. Throws `not_found`. */
  stop(id: string): Promise<CapabilityTest>;
  close(): Promise<void>;
}

export interface CapabilityTestsOptions {
  readonly store: CapabilityTestStore;
  readonly providers: Pick<Providers, 'resolve' | 'applicableConfiguration' | 'cost'>;
  readonly log: Log;
}

const notFound = 'Capability test not found.';
/** Ended tests are in the store. */
const maxJobs = 100;

/** A test belongs to a provider, or to one compatible endpoint. */
function ownerOf({ aiSystem, model }: CapabilityTarget): string {
  return aiSystem === 'OpenAiCompatible' ? `${aiSystem}/${model.split('/')[0]!.toLowerCase()}` : aiSystem;
}

/** More than the prompt of a check has. Providers count a page of a PDF as text and as an image. */
function promptTokens({ file }: CapabilityCheck): number {
  if (!file) return 300;
  return file.mediaType === 'application/pdf' ? 3000 : 1000;
}

class CapabilityTestJob implements Job<CapabilityTest> {
  readonly #run = new JobRun();
  #state: CapabilityTest;
  readonly #onChange: (state: CapabilityTest) => void;

  constructor(state: CapabilityTest, onChange: (state: CapabilityTest) => void) {
    this.#state = state;
    this.#onChange = onChange;
  }

  get id(): string {
    return this.#state.id;
  }

  state(): CapabilityTest {
    return this.#state;
  }

  #change(part: Partial<CapabilityTest>): void {
    this.#state = { ...this.#state, ...part };
    this.#onChange(this.#state);
  }

  start(planned: readonly PlannedCheck[], target: ResolvedModel, options: CapabilityTestsOptions): void {
    const end = (part: Partial<CapabilityTest>) => this.#change({ endedAt: new Date().toISOString(), ...part });
    void this.#run.start(async (signal) => {
      try {
        const failure = await this.#work(planned, target, options.providers, signal);
        end(failure === null ? { state: 'Completed' } : { state: 'Failed', message: failure });
      } catch (error) {
        if (signal.aborted) return end({ state: 'Stopped' });
        options.log('A capability test failed', error);
        end({ state: 'Failed', message: 'The test failed. Run it again.' });
      }
    });
  }

  /** Why the rest wasn't sent; null if all was. */
  async #work(
    planned: readonly PlannedCheck[],
    target: ResolvedModel,
    providers: CapabilityTestsOptions['providers'],
    signal: AbortSignal,
  ): Promise<string | null> {
    for (const each of planned) {
      signal.throwIfAborted();
      const { results, cost, lasting } = await runCheck(each, target, providers, signal);
      const { done, cost: before, results: known } = this.#state;
      if (lasting !== null) return lasting;
      this.#change({
        done: 'request' in each ? done + 1 : done,
        cost: before === null || cost === null ? null : before + cost,
        results: sortResults([...known, ...results] as CapabilityResult[], capabilities),
      });
    }
    return null;
  }

  stop(): Promise<void> {
    return this.#run.stop();
  }
}

/** The max cost of requests; null without a price. */
function maxCostOf(
  planned: readonly PlannedCheck[],
  target: ResolvedModel,
  providers: CapabilityTestsOptions['providers'],
): number | null {
  const costs = planned.map(({ check }) => {
    const [prompt, completion] = [promptTokens(check), check.configuration.max_tokens ?? 0];
    const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    return providers.cost(target, usage, null)?.amount ?? null;
  });
  return costs.includes(null) ? null : costs.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
}

interface NewTest extends CapabilityTarget, Pick<ResolvedModel, 'servedBy'> {
  readonly requests: number;
  readonly isPriced: boolean;
}

function newTest({ aiSystem, model, servedBy, requests, isPriced }: NewTest): CapabilityTest {
  return {
    id: randomUUID(),
    aiSystem,
    model,
    servedBy,
    state: 'Running',
    message: null,
    startedAt: new Date().toISOString(),
    endedAt: null,
    requests,
    done: 0,
    results: [],
    cost: isPriced ? 0 : null,
  };
}

/** Tests of providers' capabilities. The store has the last one of each provider with its date. */
export function createCapabilityTests(options: CapabilityTestsOptions): CapabilityTests {
  const { store, providers } = options;
  const jobs = createJobRegistry<CapabilityTestJob>({ notFound, maxJobs });
  // The host was closed while these ran.
  const stored = new Map(
    store
      .read()
      .map((test) => [
        ownerOf(test),
        test.state === 'Running' ? { ...test, state: 'Stopped' as const, endedAt: test.startedAt } : test,
      ]),
  );
  const plan = (target: ResolvedModel) => capabilityChecks.map((check) => planCheck(check, target, providers));
  const requestsOf = (planned: readonly PlannedCheck[]) => planned.filter((each) => 'request' in each);

  function save(test: CapabilityTest): void {
    stored.set(ownerOf(test), test);
    store.write([...stored.values()]);
    jobs.changed();
  }

  function find(id: string): CapabilityTest {
    const test = [...stored.values()].find((each) => each.id === id.toLowerCase());
    if (!test) throw new AppError('not_found', notFound);
    return test;
  }

  return {
    estimate({ aiSystem, model }) {
      const target = providers.resolve(aiSystem, model);
      const planned = requestsOf(plan(target));
      return { requests: planned.length, maxCost: maxCostOf(planned, target, providers) };
    },
    start({ aiSystem, model }) {
      const target = providers.resolve(aiSystem, model);
      const owner = ownerOf({ aiSystem, model });
      if (stored.get(owner)?.state === 'Running')
        throw new AppError('conflict', 'A capability test of this provider is running. Stop it first.');
      const planned = plan(target);
      const isPriced =
        providers.cost(target, { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }, null) !== null;
      const { servedBy } = target;
      const requests = requestsOf(planned).length;
      const job = new CapabilityTestJob(newTest({ aiSystem, model, servedBy, requests, isPriced }), save);
      jobs.add(job);
      save(job.state());
      job.start(planned, target, options);
      return job.state();
    },
    list: () => [...stored.values()].toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1)),
    find,
    async stop(id) {
      if (find(id).state === 'Running') await jobs.find(id).stop();
      return find(id);
    },
    close: jobs.close,
  };
}
