import type { Page } from '@playwright/test';

/** What drawing was like while something was done. */
export interface Frames {
  /** Milliseconds between two frames, in the order in which they were drawn. */
  readonly intervals: readonly number[];
  /** Milliseconds of every task that held the page for more than 50. */
  readonly longTasks: readonly number[];
}

interface Recorder {
  intervals: number[];
  longTasks: number[];
  isOver: boolean;
}

/** Records every frame from before `work` begins until after it is over. */
export async function recordFrames(page: Page, work: () => Promise<unknown>): Promise<Frames> {
  await page.evaluate(() => {
    const recorder: Recorder = { intervals: [], longTasks: [], isOver: false };
    Object.assign(window, { recorder });
    const observer = new PerformanceObserver((entries) => {
      recorder.longTasks.push(...entries.getEntries().map(({ duration }) => duration));
    });
    observer.observe({ type: 'longtask' });
    let before: number | null = null;
    const onFrame = (now: number): void => {
      if (before !== null) recorder.intervals.push(now - before);
      before = now;
      if (!recorder.isOver) requestAnimationFrame(onFrame);
      else observer.disconnect();
    };
    requestAnimationFrame(onFrame);
  });
  await work();
  return page.evaluate(async () => {
    const { recorder } = window as unknown as { recorder: Recorder };
    recorder.isOver = true;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return { intervals: recorder.intervals, longTasks: recorder.longTasks };
  });
}

/** What is true of the page when a key has had its effect. */
export interface Effect {
  /** Place of the row that is open, from 1. */
  readonly openRow?: number;
  /** The list is that of the filter, not of the one before, and its address says so. */
  readonly address?: string;
}

/**
 * Milliseconds from a key to the frame in which its effect is drawn: all rows in view are read, and what is told beside. The
 * clock begins with the key's own time stamp.
 */
export async function fromKey(page: Page, press: () => Promise<unknown>, effect: Effect): Promise<number> {
  await page.evaluate((expected: Effect) => {
    const isThere = (): boolean => {
      const list = document.querySelector('[role=listbox][aria-label=Conversations]');
      if (list === null || list.getAttribute('aria-busy') !== 'false') return false;
      const { top, bottom } = list.getBoundingClientRect();
      const isInView = (row: Element): boolean => {
        const box = row.getBoundingClientRect();
        return box.bottom > top && box.top < bottom;
      };
      const unread = [...list.querySelectorAll('[aria-label="Loading"]')].some(isInView);
      const open = list.querySelector('[role=option][aria-current]');
      const isOpen = expected.openRow === undefined || Number(open?.getAttribute('aria-posinset')) === expected.openRow;
      const isAddressed = expected.address === undefined || location.hash.includes(expected.address);
      return !unread && isOpen && isAddressed;
    };
    const measured = new Promise<number>((resolve) => {
      // The last key counts, where several are typed.
      let pressed = 0;
      const onKey = (event: KeyboardEvent): void => void (pressed = event.timeStamp);
      addEventListener('keydown', onKey, { capture: true });
      const check = (): void => {
        if (pressed === 0 || !isThere()) return void requestAnimationFrame(check);
        removeEventListener('keydown', onKey, { capture: true });
        resolve(performance.now() - pressed);
      };
      requestAnimationFrame(check);
    });
    Object.assign(window, { measured });
  }, effect);
  await press();
  return page.evaluate(() => (window as unknown as { measured: Promise<number> }).measured);
}
