import { describe, expect, it, vi } from 'vitest';
import type { CpuInfo } from 'node:os';

/** A machine whose clocks the test sets. All times are milliseconds. */
const machine = vi.hoisted(() => ({ idle: 0, own: 0, now: 0 }));

vi.mock('node:os', () => ({
  cpus: (): Pick<CpuInfo, 'times'>[] => [{ times: { idle: machine.idle } as CpuInfo['times'] }],
}));
vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: machine.own * 1000, system: 0 }));
vi.spyOn(performance, 'now').mockImplementation(() => machine.now);

const { createThreadMeter } = await import('../../../electron/on-device/spare-cores.ts');

/** Lets time pass in which the machine was idle and this process worked for so many cores. */
function pass(milliseconds: number, idleCores: number, ownCores: number): void {
  machine.now += milliseconds;
  machine.idle += milliseconds * idleCores;
  machine.own += milliseconds * ownCores;
}

describe('the number of threads', () => {
  it('is one until there is a measurement', () => {
    const count = createThreadMeter(8);
    pass(100, 8, 0);
    expect(count()).toBe(1);
  });

  it.each([
    ['all, on a machine that does nothing else', 8, 0, 8],
    ['all that this process has already', 0, 4, 4],
    ['what is idle and what it has', 2, 1, 3],
    ['at least one on a machine that is busy', 0, 0.1, 1],
    ['one less when others take most of a core', 0, 1.2, 1],
    ['the same when others take little', 0.1, 1.7, 2],
    ['at most what was told', 32, 0, 8],
  ])('is %s', (_, idleCores, ownCores, threads) => {
    const count = createThreadMeter(8);
    pass(300, idleCores, ownCores);
    expect(count()).toBe(threads);
  });

  it('follows the load of other processes', () => {
    const count = createThreadMeter(4);
    pass(300, 4, 0);
    expect(count()).toBe(4);
    pass(300, 0, 0.5);
    expect(count()).toBe(1);
    pass(300, 1, 1);
    expect(count()).toBe(2);
  });
});
