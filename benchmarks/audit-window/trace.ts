import { readFileSync, rmSync } from 'node:fs';
import type { Browser, ElectronApplication, Page } from '@playwright/test';

/** The fields of a trace that are read: `RunTask` is one turn of a thread's loop, `tdur` its CPU time in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Records the tasks of every thread of the window. */
export interface Tracer {
  start(): Promise<void>;
  stop(): Promise<readonly TraceEvent[]>;
}

const categories = ['toplevel', 'disabled-by-default-devtools.timeline'];

function eventsOf(text: string): readonly TraceEvent[] {
  return (JSON.parse(text) as { traceEvents: TraceEvent[] }).traceEvents;
}

export function browserTracer(browser: Browser, page: Page): Tracer {
  return {
    start: () => browser.startTracing(page, { categories }),
    stop: async () => eventsOf((await browser.stopTracing()).toString()),
  };
}

export function desktopTracer(app: ElectronApplication): Tracer {
  return {
    start: () =>
      app.evaluate(
        ({ contentTracing }, included) => contentTracing.startRecording({ included_categories: included }),
        [...categories],
      ),
    async stop() {
      const file = await app.evaluate(({ contentTracing }) => contentTracing.stopRecording());
      const events = eventsOf(readFileSync(file, 'utf8'));
      rmSync(file);
      return events;
    },
  };
}

/** CPU milliseconds of the longest task of a page's main thread: the time of a frame on an idle machine. */
export function longestTask(events: readonly TraceEvent[]): number {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args?.name === 'CrRendererMain';
  const pages = new Set(events.filter(isMain).map(threadOf));
  const tasks = events.filter((event) => event.name === 'RunTask' && pages.has(threadOf(event)));
  const times = tasks.flatMap(({ tdur }) => tdur ?? []);
  if (times.length === 0) throw new Error('The trace has no task of a page.');
  return Math.max(...times.map((time) => time / 1000));
}
