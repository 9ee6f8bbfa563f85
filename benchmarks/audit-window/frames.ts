import type { Page } from '@playwright/test';

/** Rendering times during an action. */
export interface Frames {
  /** Milliseconds between consecutive frames. */
  readonly intervals: readonly number[];
  /** Milliseconds of every task that blocked the page for more than 50. */
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

/** The state of the page when a key has taken effect. */
export interface Effect {
  /** Position of the open row, from 1. */
  readonly openRow?: number;
  /** Whether the list and the address belong to the current filter. */
  readonly address?: string;
}

/**
 * Milliseconds from a key to the frame with its effect: all rows in view and the details are loaded. The clock starts with the
 * key's own time stamp.
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
      // If several keys are typed, the last one counts.
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
