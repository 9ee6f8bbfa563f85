import type { Page } from '@playwright/test';
import { accessibilityFindings } from '../../support/accessibility.ts';
import { dialogStops, narrowStops } from '../../support/tour-dialogs.ts';
import { emptyStops, filledStops, openStop, type TourStop } from '../../support/window-tour.ts';
import { outdatedWords } from '../../support/words-on-screens.ts';
import { expect, test } from './tour-window.ts';

test.use({ contextOptions: { reducedMotion: 'reduce' }, trace: 'off' });
// Each test has a host, and workers share them.
test.describe.configure({ mode: 'parallel', timeout: 360_000 });

const softly = expect.configure({ soft: true });

/** All texts of the page that a person sees or hears: lines, single texts, names, titles and placeholders. */
function textsOnScreen(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const texts = document.body.innerText.split('\n');
    for (const element of document.body.querySelectorAll('*')) {
      if (!element.checkVisibility()) continue;
      for (const name of ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'alt']) {
        texts.push(element.getAttribute(name) ?? '');
      }
      // A sentence with a value in it is several nodes.
      let text = '';
      for (const node of element.childNodes) {
        if (node.nodeType === Node.TEXT_NODE) text += node.textContent ?? '';
        else {
          texts.push(text);
          text = '';
        }
      }
      texts.push(text);
    }
    return [...new Set(texts.map((text) => text.trim()))].filter((text) => text !== '');
  });
}

/** Opens every stop and finds nothing wrong with it in either theme. */
async function readAll(page: Page, stops: readonly TourStop[]): Promise<void> {
  for (const stop of stops) {
    await openStop(page, stop);
    let texts: string[] = [];
    const countTexts = async () => (texts = await textsOnScreen(page)).length;
    await softly.poll(countTexts, stop.name).toBeGreaterThan(10);
    const outdated = texts.flatMap((text) => outdatedWords(text));
    // What is found must stay: a part of a screen that is still being drawn has no fault.
    const findings = async () => [...outdated, ...(await accessibilityFindings(page, stop.part))];
    await softly.poll(findings, stop.name).toEqual([]);
  }
}

test('empty screens have no outdated texts, and axe finds nothing in both themes', async ({ page, pageProblems }) => {
  await readAll(page, emptyStops);
  expect(pageProblems).toEqual([]);
});

test('filled screens have no outdated texts, and axe finds nothing in both themes', async ({
  page,
  objects,
  pageProblems,
}) => {
  await readAll(page, filledStops(objects));
  expect(pageProblems).toEqual([]);
});

test('dialogs, forms and errors have no outdated texts, and axe finds nothing in both themes', async ({
  page,
  objects,
  pageProblems,
}) => {
  await readAll(page, dialogStops(objects));
  await page.setViewportSize({ width: 980, height: 700 });
  await readAll(page, narrowStops(objects));
  expect(pageProblems).toEqual([]);
});
