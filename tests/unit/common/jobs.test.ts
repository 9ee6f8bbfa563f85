import { afterEach, describe, expect, test, vi } from 'vitest';
import { createJobRegistry, type Job, JobRun } from '../../../electron/common/jobs.ts';
import { patience } from '../../support/patience.ts';

/** A job that runs until it is stopped, and takes until `finish` to end. */
class TestJob implements Job<string> {
  readonly id: string;
  readonly run = new JobRun();
  readonly finish = Promise.withResolvers<void>();
  readonly stops: boolean[] = [];

  constructor(id: string) {
    this.id = id;
  }

  state(): string {
    return `${this.id} ${this.run.isActive ? 'running' : 'stopped'}`;
  }

  start(onEnd?: () => void): void {
    void this.run.start(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await this.finish.promise;
    }, onEnd);
  }

  async stop({ isClosing }: { readonly isClosing: boolean }): Promise<void> {
    this.stops.push(isClosing);
    await this.run.stop();
  }
}

describe('a run of a job', () => {
  test('is active until it has ended, which a stop waits for', async () => {
    const job = new TestJob('a');
    job.start();
    const stopped = job.run.stop();
    expect([job.run.isActive, job.run.isStopping]).toEqual([true, true]);
    job.finish.resolve();
    await stopped;
    expect([job.run.isActive, job.run.isStopping]).toEqual([false, false]);
    await job.run.ended;
  });

  test('can be started again as soon as it reports its end', async () => {
    const job = new TestJob('a');
    job.finish.resolve();
    const again = Promise.withResolvers<boolean>();
    job.start(() => {
      job.start();
      again.resolve(job.run.isActive);
    });
    void job.run.stop();
    expect(await again.promise).toBe(true);
    await job.run.stop();
  });

  test('rejects with the error of its work and is not active then', async () => {
    const run = new JobRun();
    await expect(run.start(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(run.isActive).toBe(false);
  });

  test('is the only one at a time', async () => {
    const job = new TestJob('a');
    job.start();
    await expect(job.run.start(async () => {})).rejects.toThrow('already running');
    job.finish.resolve();
    await job.run.stop();
  });
});

describe('a registry of jobs', () => {
  const registries: { close(): Promise<void> }[] = [];
  afterEach(() => Promise.all(registries.splice(0).map((registry) => registry.close())));

  function registryOf(ids: readonly string[], maxJobs?: number) {
    const registry = createJobRegistry<TestJob>({ notFound: 'No job.', ...(maxJobs && { maxJobs }) });
    registries.push(registry);
    const jobs = ids.map((id) => new TestJob(id));
    for (const job of jobs) {
      job.finish.resolve();
      registry.add(job);
      job.start(registry.changed);
    }
    return { registry, jobs };
  }

  test('lists the newest first and finds a job by its id in either case', () => {
    const { registry, jobs } = registryOf(['a', 'b']);
    expect(registry.list()).toEqual(['b running', 'a running']);
    expect(registry.find('A')).toBe(jobs[0]);
    expect(() => registry.find('c')).toThrow(expect.objectContaining({ code: 'not_found', message: 'No job.' }));
  });

  test('reports changes to its subscribers until they unsubscribe', async () => {
    const { registry, jobs } = registryOf(['a']);
    const reports: string[][] = [];
    const leave = registry.subscribe((states) => reports.push(states));
    await jobs[0]!.stop({ isClosing: false });
    await vi.waitFor(() => expect(reports.at(-1)).toEqual(['a stopped']), patience);
    leave();
    const { length } = reports;
    registry.changed();
    expect(reports).toHaveLength(length);
  });

  test('stops a job before it erases and removes it', async () => {
    const { registry } = registryOf(['a', 'b']);
    const erased: string[] = [];
    await registry.remove('a', (job) => void erased.push(job.state()));
    expect([erased, registry.list()]).toEqual([['a stopped'], ['b running']]);
  });

  test('stops and drops the oldest beyond its limit', async () => {
    const { registry, jobs } = registryOf(['a', 'b', 'c'], 2);
    expect(registry.list()).toEqual(['c running', 'b running']);
    expect(jobs[0]!.stops).toEqual([false]);
  });

  test('stops all jobs when it is closed, with a flag that they may continue', async () => {
    const { registry, jobs } = registryOf(['a', 'b']);
    await registry.close();
    expect(jobs.map(({ stops, run }) => [stops, run.isActive])).toEqual([
      [[true], false],
      [[true], false],
    ]);
  });
});
