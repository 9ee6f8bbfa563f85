import type { Page } from '@playwright/test';
import { emptyStops, filledStops, openStop } from '../../support/window-tour.ts';
import { expect, test } from './tour-window.ts';

const softly = expect.configure({ soft: true });

/** A window of 1280 by 800 pixels at 200 % zoom. */
test.use({ viewport: { width: 640, height: 400 }, contextOptions: { reducedMotion: 'reduce' } });

/**
 * The controls of which a part stays out of reach: each is focused or scrolled to, and must then lie inside the window and inside
 * everything around it that clips.
 */
function clippedControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const layer = [...document.querySelectorAll('[role=dialog], [role=alertdialog]')].at(-1) ?? document.body;
    const controls = layer.querySelectorAll<HTMLElement>('button, a[href], input:not([type=file]), textarea, select');
    const found: string[] = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push('The page scrolls sideways');
    for (const element of document.querySelectorAll<HTMLElement>('main *')) {
      if (element.closest('pre, .cm-editor, .virtual-list, .visually-hidden')) continue;
      const { overflowX, overflowY } = getComputedStyle(element);
      const name = `${element.tagName} (${element.className})`;
      const isScroller = overflowX === 'auto' || overflowX === 'scroll';
      if (isScroller && element.scrollWidth > element.clientWidth + 1) found.push(`${name} scrolls sideways`);
      // What runs out of a panel is drawn over the next one.
      const isPanel = element.classList.contains('panel') && overflowY === 'visible';
      const end = element.getBoundingClientRect().top + element.scrollHeight;
      const next = element.nextElementSibling?.getBoundingClientRect();
      const isBelow = next !== undefined && next.top >= element.getBoundingClientRect().bottom - 1;
      if (isPanel && isBelow && end > next.top + 1) found.push(`${name} overflows`);
    }
    for (const control of controls) {
      if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (control.closest('.visually-hidden, [aria-hidden=true], .cm-editor, .cm-tooltip, [inert]')) continue;
      control.focus();
      control.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      const rect = control.getBoundingClientRect();
      if (rect.width === 0 || rect.height === 0) continue;
      const box = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
      for (let parent = control.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(parent);
        const around = parent.getBoundingClientRect();
        if (overflowX !== 'visible') {
          box.left = Math.max(box.left, around.left);
          box.right = Math.min(box.right, around.right);
        }
        if (overflowY !== 'visible') {
          box.top = Math.max(box.top, around.top);
          box.bottom = Math.min(box.bottom, around.bottom);
        }
        if (getComputedStyle(parent).position === 'fixed') break;
      }
      const [width, height] = [box.right - box.left, box.bottom - box.top];
      const isCut =
        rect.left < box.left - 1 ||
        rect.right > box.right + 1 ||
        // What is higher than the window can be scrolled through.
        (rect.height < height && (rect.top < box.top - 1 || rect.bottom > box.bottom + 1)) ||
        width <= 0 ||
        height < 16;
      const name = control.getAttribute('aria-label') ?? control.textContent?.trim().slice(0, 40);
      if (isCut) {
        const sides = (area: { left: number; top: number; right: number; bottom: number }) =>
          [area.left, area.top, area.right, area.bottom].map(Math.round).join(' ');
        found.push(`${control.tagName} ${name} (${control.className}): ${sides(rect)} in ${sides(box)}`);
      }
    }
    return found;
  });
}

test('at 200 % zoom nothing is cut off on any empty screen', async ({ page }) => {
  for (const stop of emptyStops) {
    await openStop(page, stop);
    await softly.poll(() => clippedControls(page), stop.name).toEqual([]);
  }
});

test('at 200 % zoom nothing is cut off on any screen with data', async ({ page, objects }) => {
  for (const stop of filledStops(objects)) {
    await openStop(page, stop);
    await softly.poll(() => clippedControls(page), stop.name).toEqual([]);
  }
});

test('at 200 % zoom the main button is in the first line of its toolbar', async ({ page }) => {
  for (const [address, name] of [
    ['/playground', /run$/i],
    ['/moderation', 'Check'],
  ] as const) {
    await openStop(page, { name: address, address });
    const toolbar = page.locator('main .toolbar').first();
    const isInFirstLine = async () => {
      const line = (await toolbar.boundingBox())!;
      const button = (await toolbar.getByRole('button', { name }).boundingBox())!;
      return button.y < line.y + 16;
    };
    await softly.poll(isInFirstLine, address).toBe(true);
  }
});
