import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Resolves when nothing fades in any more; what runs for ever, such as a cursor, is not waited for. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
    return Promise.all(ending.map((animation) => animation.finished.catch(() => {})));
  });
}

/** What axe finds against WCAG 2.2 A and AA and its best practices, each finding as one line. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  await settle(page);
  // Without the legacy mode axe ends in a page of its own, which takes the focus from ours: a key pressed next is lost.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().withTags(rules).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
